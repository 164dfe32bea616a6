package match

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// naiveLine is the line and column of an offset, counted character by
// character.
func naiveLine(b []byte, offset int) (line, col int) {
	line, col = 1, 1
	for i := 0; i < offset; {
		r, size := utf8.DecodeRune(b[i:])
		pair := r == '\r' && i+1 < len(b) && b[i+1] == '\n'
		switch {
		case pair && offset == i+1:
			return line, col + 1 // between CR and LF
		case pair:
			size = 2
			line, col = line+1, 1
		case r == '\n' || r == '\r':
			line, col = line+1, 1
		default:
			col += utf16.RuneLen(r)
		}
		i += size
	}
	return line, col
}

func FuzzLiner(f *testing.F) {
	f.Add("a\nb\r\nc\rd\n\r\r\n😀x", uint64(0b10110111011))
	f.Add("\r\n\r\n", uint64(0xff))
	f.Add("a\xf0\x9f\nb", uint64(0xff))
	f.Add("\n\r", uint64(7))
	f.Fuzz(func(t *testing.T, text string, picked uint64) {
		b := []byte(text)
		var l liner
		l.begin(b)
		for i := 0; i <= len(b); i++ {
			if picked>>(i%64)&1 == 0 || i < len(b) && !utf8.RuneStart(b[i]) {
				continue
			}
			l.seek(i)
			line, col := naiveLine(b, i)
			if got := (Hit{l.line, l.at, i, i}).Column(b); l.line != line || got != col {
				t.Fatalf("offset %d in %q: got %d:%d, want %d:%d", i, text, l.line, got, line, col)
			}
			next := l.next()
			if n, c := naiveLine(b, next); next < len(b) && (n != line+1 || c != 1) || next < i {
				t.Fatalf("offset %d in %q: the next line begins at %d, which is %d:%d", i, text, next, n, c)
			}
		}
	})
}

func TestSnippetIsCutAtWholeCharacters(t *testing.T) {
	long := strings.Repeat("ü😀", 200)
	for _, text := range []string{long + "MATCH" + long, long + "x\r" + long + "MATCH\r\n" + long, "MATCH" + long, long + "MATCH", strings.Repeat("MATCH", 200), "\t MATCH "} {
		b := []byte(text)
		n := NewText("match", true, false).Find(new(Workspace), b, 1)
		s := n.Lines[0].Snippet(b)
		if !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError) {
			t.Errorf("%.20q…: a character is cut: %q", text, s)
		}
		if !strings.Contains(s, "MATCH") || strings.ContainsAny(s, "\r\n") || len(s) > before+2*after+2*spare+20 {
			t.Errorf("%.20q…: got %q", text, s)
		}
		if strings.HasPrefix(s, "…") != (n.Lines[0].At-n.Lines[0].Start > before+spare) {
			t.Errorf("%.20q…: the cut is not marked, or marked where there is none: %q", text, s)
		}
	}
}

func TestSnippetOfBytesThatAreNoUTF8(t *testing.T) {
	b := []byte(strings.Repeat("\x80", 300) + "match" + strings.Repeat("\x80", 300))
	n := NewText("match", true, false).Find(new(Workspace), b, 1)
	if s := n.Lines[0].Snippet(b); !utf8.ValidString(s) || !strings.Contains(s, "match") {
		t.Errorf("got %q", s)
	}
	if col := n.Lines[0].Column(b); col != 301 {
		t.Errorf("column %d, want 301", col)
	}
}
