package match

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Hit is one matching line: its number, from 1, and where in the text it begins
// and the match begins and ends, in bytes.
type Hit struct{ Line, Start, At, End int }

// Column is where in its line the match begins, in UTF-16 units from 1.
func (h Hit) Column(text []byte) int { return units(text[h.Start:h.At]) + 1 }

// liner turns offsets, which never decrease, into lines. Lines end with LF,
// CRLF or CR; an offset in a line's end is in that line. All offsets together
// take time linear in the text, as long as few of them are in one line.
type liner struct {
	b      []byte
	lf, cr scout
	hasCR  bool
	at     int // start of the current line
	line   int
}

func (l *liner) begin(b []byte) {
	*l = liner{b: b, lf: scout{need: lf, at: -1}, cr: scout{need: cr, at: -1}, line: 1}
	l.hasCR = l.cr.next(b, 0) >= 0
}

var lf, cr, crlf = []byte("\n"), []byte("\r"), []byte("\r\n")

// seek makes the line of an offset the current one.
func (l *liner) seek(offset int) {
	if l.hasCR && l.at < offset && offset < len(l.b) && l.b[offset] == '\n' && l.b[offset-1] == '\r' {
		offset-- // not between the two bytes of a line's end
	}
	part := l.b[l.at:offset]
	n := bytes.Count(part, lf)
	if l.hasCR {
		n += bytes.Count(part, cr) - bytes.Count(part, crlf)
	}
	if n == 0 {
		return
	}
	last := bytes.LastIndexByte(part, '\n')
	if l.hasCR {
		last = max(last, bytes.LastIndexByte(part, '\r'))
	}
	l.line += n
	l.at += last + 1
}

// next is the start of the line after the current one, or the text's length.
func (l *liner) next() int {
	i := l.lf.next(l.b, l.at)
	if l.hasCR {
		if j := l.cr.next(l.b, l.at); j >= 0 && (i < 0 || j < i) {
			i = j
		}
	}
	switch {
	case i < 0:
		return len(l.b)
	case bytes.HasPrefix(l.b[i:], crlf):
		return i + 2
	}
	return i + 1
}

// units counts UTF-16 units, as the app and the language server protocol do. A
// byte that is no UTF-8 counts as one.
func units(b []byte) int {
	n := 0
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			n++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		i += size
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

const (
	// before and after bound a snippet around its match, in bytes; spare is
	// how many more are kept rather than cut off.
	before = 80
	after  = 160
	spare  = 40
)

// Snippet is the hit's line, cut around the match at whole characters.
func (h Hit) Snippet(text []byte) string {
	most := h.At + min(h.End-h.At, after) + after
	start, end := h.Start, min(len(text), most+spare+1)
	for i, c := range text[h.At:end] {
		if c == '\n' || c == '\r' {
			end = h.At + i
			break
		}
	}
	lead, tail := "", ""
	if h.At-start > before+spare {
		lead, start = "…", wholeFrom(text, h.At-before, h.At)
	}
	if end > most+spare {
		tail, end = "…", wholeTo(text, most, h.At)
	}
	return lead + valid(bytes.TrimSpace(text[start:end])) + tail
}

// Match is what matched as it is, cut if it is long.
func (h Hit) Match(text []byte) string {
	if h.End-h.At <= before+after {
		return valid(text[h.At:h.End])
	}
	return valid(text[h.At:wholeTo(text, h.At+before+after, h.At)]) + "…"
}

func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// wholeFrom is the first offset from i on, at most limit, where a character
// begins; wholeTo the last one up to i, at least limit. Bytes that are no UTF-8
// are cut anywhere.
func wholeFrom(b []byte, i, limit int) int {
	for j := i; j <= limit && j < i+utf8.UTFMax; j++ {
		if utf8.RuneStart(b[j]) {
			return j
		}
	}
	return i
}

func wholeTo(b []byte, i, limit int) int {
	for j := i; j >= limit && j > i-utf8.UTFMax; j-- {
		if utf8.RuneStart(b[j]) {
			return j
		}
	}
	return i
}
