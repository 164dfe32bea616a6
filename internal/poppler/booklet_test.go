package poppler

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"vault-mcp/internal/compact"
)

// However the text of a page is cut, an answer takes each piece, and the pieces
// make the page.
func FuzzCut(f *testing.F) {
	f.Add([]byte("plain words\nin \"lines\"\n"), uint8(9))
	f.Add([]byte("müßig \\ 😀 \x00\x1b \xff\xfe\xe2\x82"), uint8(8))
	f.Add(bytes.Repeat([]byte("\n"), 40), uint8(10))
	f.Fuzz(func(t *testing.T, raw []byte, more uint8) {
		room := 8 + int(more) // two quotes and the longest character
		whole, _ := clean(raw)
		var pieces strings.Builder
		for rest := raw; len(rest) > 0; {
			n := cut(rest, room)
			if n == 0 && !utf8.FullRune(rest) {
				break // nothing but the beginning of a character
			}
			if n <= 0 || n > len(rest) {
				t.Fatalf("%d of %d bytes", n, len(rest))
			}
			text, _ := clean(rest[:n])
			if got := compact.StringLen(text); got > room {
				t.Fatalf("%q takes %d bytes, over %d", text, got, room)
			}
			pieces.WriteString(text)
			rest = rest[n:]
		}
		if got := pieces.String(); !strings.HasPrefix(whole, got) || strings.Trim(whole[len(got):], "\uFFFD") != "" {
			t.Fatalf("got %q, want %q", got, whole)
		}
	})
}

// A booklet never takes more of an answer than it may, says something about
// every page that it counts, and always gets on.
func FuzzBooklet(f *testing.F) {
	f.Add([]byte("one page with enough letters\f\f \ftwo\f"), uint16(200), uint8(0))
	f.Add([]byte(strings.Repeat("a \"page\" that is long\n", 100)), uint16(10), uint8(3))
	f.Fuzz(func(t *testing.T, raw []byte, more uint16, skip uint8) {
		left := MinRoom + int(more)
		at := Place{Page: 7, Offset: int64(skip), Pages: 7 + bytes.Count(raw, formFeed)}
		last, whole := at.Pages, true
		if skip > 0 || len(raw) > left {
			raw, last, whole = raw[:min(len(raw), left)], at.Page, len(raw) <= left
		}
		b := &booklet{at: at, left: left}
		full := !b.take(append(raw, formFeed...), whole, last)
		b.flush()
		if got := compact.StringLen(b.String()); got > left {
			t.Fatalf("%d bytes, over %d", got, left)
		}
		if b.empty() || b.at.Page == at.Page && b.at.Offset <= at.Offset {
			t.Fatalf("it does not get on: %+v", b.at)
		}
		if !full && (b.at.Page != last+1 || b.last != last) {
			t.Fatalf("it is not full, and at page %d of %d", b.at.Page, last)
		}
		if !utf8.ValidString(b.String()) || bytes.ContainsAny([]byte(b.String()), "\f\x00\x1b") {
			t.Fatalf("got %q", b.String())
		}
	})
}

func FuzzInfo(f *testing.F) {
	f.Add("Title:  a\nPages: 99\n", 3, "no")
	f.Add("Title:  a\nEncrypted: yes (copy:no)\n", 0, "yes (print:yes copy:yes change:no)")
	f.Fuzz(func(t *testing.T, title string, pages int, encrypted string) {
		if strings.ContainsAny(encrypted, "\r\n") {
			return
		}
		pages &= 1<<31 - 1
		info := title + "\nPages:           " + strconv.Itoa(pages) + "\nEncrypted:       " + encrypted + "\nPage size:       200 x 100 pts\n"
		n, noCopy := parseInfo(info)
		if n != pages || noCopy != strings.Contains(encrypted, "copy:no") {
			t.Fatalf("%q: %d pages, %v", info, n, noCopy)
		}
		parseInfo(title) // whatever it says, it ends
	})
}
