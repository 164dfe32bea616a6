package poppler

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"vault-mcp/internal/compact"
)

// booklet collects the text of pages, each under its number, until an answer is
// full.
type booklet struct {
	strings.Builder
	at   Place // of what comes next
	last int   // the last page that something was said about
	left int   // bytes of the answer, as JSON
	// blank is the first of the pages just before at that have no text, which
	// are named together; 0 for none.
	blank int
}

// empty reports whether nothing was said about any page.
func (b *booklet) empty() bool { return b.last == 0 }

// blankLine is at least what it takes to name pages without text, in bytes.
const blankLine = 128

// scanned is how many letters a page has at least that is taken for text.
const scanned = 16

// take adds the pages from where it is to last, and reports false once it is
// full. raw is their text, which ends early if it is not whole.
func (b *booklet) take(raw []byte, whole bool, last int) bool {
	for b.at.Page <= last {
		page := bytes.TrimSuffix(raw, formFeed)
		if i := bytes.Index(raw, formFeed); i >= 0 && b.at.Page < last {
			page, raw = raw[:i], raw[i+1:]
		}
		if !b.page(page, whole) {
			return false
		}
	}
	return true
}

// page adds the text of the next page, or of what is left of it.
func (b *booklet) page(raw []byte, whole bool) bool {
	text, letters := clean(raw)
	if whole && b.at.Offset == 0 && strings.TrimSpace(text) == "" {
		if b.blank == 0 {
			if b.left < blankLine {
				return false
			}
			b.left -= blankLine
			b.blank = b.at.Page
		}
		b.last = b.at.Page
		b.at.Page++
		return true
	}
	remark := ""
	switch {
	case b.at.Offset > 0:
		remark = ", goes on"
	case whole && letters < scanned:
		remark = ": hardly any text, perhaps a scanned picture"
	}
	label := fmt.Sprintf("[%s%s]\n", Pages(b.at.Page, b.at.Page, b.at.Pages), remark)
	text = strings.TrimRight(text, "\n") + "\n\n"
	if cost := compact.StringLen(label) + compact.StringLen(text); whole && cost <= b.left {
		b.flush()
		b.left -= cost
		b.WriteString(label)
		b.WriteString(text)
		b.last = b.at.Page
		b.at.Page, b.at.Offset = b.at.Page+1, 0
		return true
	}
	if !b.empty() {
		return false // goes whole into the next answer
	}
	const note = "\n[the page is too long for one answer and goes on with the cursor]\n"
	n := cut(raw, b.left-compact.StringLen(label)-compact.StringLen(note))
	text, _ = clean(raw[:n])
	b.WriteString(label)
	b.WriteString(text)
	b.WriteString(note)
	b.last = b.at.Page
	b.at.Offset += int64(n)
	return false
}

// flush names the pages without text before the next one.
func (b *booklet) flush() {
	if b.blank > 0 {
		fmt.Fprintf(b, "[%s: no text, perhaps scanned pictures]\n\n", Pages(b.blank, b.at.Page-1, b.at.Pages))
		b.blank = 0
	}
}

// clean makes text of what a program wrote, and counts its letters. Of control
// characters only tabs and line ends stay.
func clean(raw []byte) (text string, letters int) {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return ' '
		}
		return r
	}, string(raw))
	return text, letters
}

// cut is how much of a text takes at most room bytes as JSON: up to the end of
// a line if there is one in its second half, else whole characters.
func cut(raw []byte, room int) int {
	n, used := 0, 2
	for n < len(raw) {
		if !utf8.FullRune(raw[n:]) {
			break // reading ended within a character
		}
		r, size := utf8.DecodeRune(raw[n:])
		cost := size
		switch {
		case r == utf8.RuneError:
			cost = len("\uFFFD")
		case r == '"', r == '\\', r == '\n', r == '\t':
			cost = 2
		}
		if used += cost; used > room {
			break
		}
		n += size
	}
	if i := bytes.LastIndexByte(raw[:n], '\n'); i >= n/2 {
		return i + 1
	}
	return n
}
