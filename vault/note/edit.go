package note

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Edited is a note's text after an edit. What lies outside of Removed in the old text is the same in the new one, byte for
// byte, and stands around Added.
type Edited struct {
	Text []byte
	// Removed is what was taken out of the old text, Added what stands there in the new one. Either may be empty.
	Removed, Added Span
}

// ErrNotText says that a text is not UTF-8: an edit could not tell its lines, or would mix two encodings.
var ErrNotText = errors.New("the note is no UTF-8 text")

// ErrNothing says that there is no text to put in.
var ErrNothing = errors.New("there is nothing but blank lines to put in")

// SpoilError says that an edit was not made because it would spoil what is outside of it.
type SpoilError struct {
	// Harm says what would have become of the note.
	Harm string
}

func (e *SpoilError) Error() string { return e.Harm }

// RangeError says that a number names nothing.
type RangeError struct {
	// What is meant by the number: table, row, column.
	What string
	// Given is the number, and Count how many there are. Valid ones go from First to First+Count-1.
	Given, First, Count int
}

func (e *RangeError) Error() string {
	if e.Count <= 0 {
		return fmt.Sprintf("there is no %s", e.What)
	}
	return fmt.Sprintf("there is no %s %d, only %d to %d", e.What, e.Given, e.First, e.First+e.Count-1)
}

// splice puts text in the place of the bytes in cut.
func splice(src []byte, cut Span, text []byte) Edited {
	out := make([]byte, 0, len(src)-cut.Len()+len(text))
	out = append(append(append(out, src[:cut.Start]...), text...), src[cut.End:]...)
	return Edited{Text: out, Removed: cut, Added: Span{cut.Start, cut.Start + len(text)}}
}

// lineEndAt is the line end for text that is put in at an offset: that of the line before it, or else of the next one. A CR
// alone in a note that has others too is not taken for one.
func lineEndAt(src []byte, at int) string {
	i := bytes.LastIndexAny(src[:at], "\r\n")
	if i < 0 {
		if i = bytes.IndexAny(src[at:], "\r\n"); i < 0 {
			return "\n"
		}
		if i += at; src[i] == '\r' && i+1 < len(src) && src[i+1] == '\n' {
			return "\r\n"
		}
	}
	switch {
	case src[i] == '\n' && i > 0 && src[i-1] == '\r':
		return "\r\n"
	case src[i] == '\n':
		return "\n"
	}
	if lf := bytes.IndexByte(src, '\n'); lf > 0 && src[lf-1] == '\r' {
		return "\r\n"
	} else if lf >= 0 {
		return "\n"
	}
	return "\r"
}

// withLineEnd is a text in which every line end is the given one.
func withLineEnd(text, eol string) string {
	b := make([]byte, 0, len(text))
	br := breaks{lf: -1, cr: -1}
	src := []byte(text)
	for pos := 0; pos < len(src); {
		end, after := br.next(src, pos)
		b = append(b, src[pos:end]...)
		if after > end {
			b = append(b, eol...)
		}
		pos = after
	}
	return string(b)
}

// piece is a text without its outer blank lines.
type piece struct {
	lines []string // without line ends; the first and the last one are not blank
	lead  int      // blank lines before them
	tail  int      // line ends behind them
}

// newPiece takes a text apart.
func newPiece(text string) piece {
	var p piece
	src, br := []byte(text), breaks{lf: -1, cr: -1}
	for pos := 0; pos < len(src); {
		end, after := br.next(src, pos)
		line := text[pos:end]
		switch blank := blankLine(src[pos:end]); {
		case blank && p.lines == nil:
			if after > end {
				p.lead++
			}
		case blank:
			p.lines = append(p.lines, line)
			if after > end {
				p.tail++
			}
		default:
			p.lines, p.tail = append(p.lines, line), 0
			if after > end {
				p.tail = 1
			}
		}
		pos = after
	}
	for len(p.lines) > 0 && blankLine([]byte(p.lines[len(p.lines)-1])) {
		p.lines = p.lines[:len(p.lines)-1]
	}
	return p
}

func (p piece) empty() bool { return len(p.lines) == 0 }

// text is the lines, each but the first behind a prefix.
func (p piece) text(prefix, eol string) string {
	var b []byte
	for i, l := range p.lines {
		if i > 0 {
			b = append(b, eol...)
			if l == "" {
				b = append(b, trimEnd(prefix)...)
				continue
			}
			b = append(b, prefix...)
		}
		b = append(b, l...)
	}
	return string(b)
}

// without takes a prefix off the lines, if every one that is not blank has it.
func (p piece) without(prefix string) piece {
	bare := trimEnd(prefix)
	if prefix == "" {
		return p
	}
	lines := slices.Clone(p.lines)
	for i, l := range lines {
		switch {
		case len(l) >= len(prefix) && l[:len(prefix)] == prefix:
			lines[i] = l[len(prefix):]
		case trimEnd(l) == bare || blankLine([]byte(l)):
			lines[i] = ""
		default:
			return p
		}
	}
	if lines[0] == "" {
		return p
	}
	p.lines = lines
	return p
}

func trimEnd(s string) string {
	return s[:trimRight([]byte(s), 0, len(s))]
}

// endsLine reports whether text ends with a line end, or is a note without any line yet.
func endsLine(text []byte) bool {
	return len(text) == bomLen(text) || isLineEnd(text[len(text)-1])
}

// Append puts text at the end of a note, on a line of its own, in the note's line ends. A note whose last line was ended
// still ends so. blank asks for a blank line between the two.
func Append(text []byte, content string, blank bool) (Edited, error) {
	if !utf8.Valid(text) || !utf8.ValidString(content) {
		return Edited{}, ErrNotText
	}
	eol := lineEndAt(text, len(text))
	add := withLineEnd(content, eol)
	before := ""
	if !endsLine(text) {
		before = eol
	}
	if blank && len(text) > bomLen(text) && !blankBefore(text) {
		before += eol
	}
	if add != "" && len(text) > bomLen(text) && endsLine(text) && !isLineEnd(add[len(add)-1]) {
		add += eol
	}
	if add == "" {
		before = ""
	}
	return splice(text, Span{len(text), len(text)}, []byte(before+add)), nil
}

// blankBefore reports whether text ends with a blank line.
func blankBefore(text []byte) bool {
	if !endsLine(text) {
		return false
	}
	end := contentEnd(text, len(text))
	start := bytes.LastIndexAny(text[:end], "\r\n") + 1
	return blankLine(text[start:end])
}

// Prepend puts text at the top of a note, below its properties, in the note's line ends. blank asks for a blank line
// between the two.
func Prepend(text []byte, content string, blank bool) (Edited, error) {
	if !utf8.Valid(text) || !utf8.ValidString(content) {
		return Edited{}, ErrNotText
	}
	at := BodyStart(text)
	eol := lineEndAt(text, at)
	add := withLineEnd(content, eol)
	if add == "" {
		return splice(text, Span{at, at}, nil), nil
	}
	below := text[at:]
	if len(below) > 0 && !isLineEnd(add[len(add)-1]) {
		add += eol
	}
	if blank && len(below) > 0 && !blankBefore([]byte(add)) && !isLineEnd(below[0]) {
		add += eol
	}
	if at > bomLen(text) && !isLineEnd(text[at-1]) {
		add = eol + add
	}
	e := splice(text, Span{at, at}, []byte(add))
	if at == bomLen(text) && BodyStart(e.Text) > e.Added.End {
		// A rule at the top and one in the note would hold properties between them.
		e = splice(text, Span{at, at}, []byte(eol+add))
	}
	return e, nil
}

// BodyStart is where the text below the properties starts: Note.Body and
// Properties.Body, for who wants to know no more.
func BodyStart(text []byte) int {
	if b, ok := findBlock(text); ok {
		return b.body
	}
	return bomLen(text)
}
