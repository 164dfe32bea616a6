package note

import (
	"bytes"
	"math"
	"sort"
	"unicode/utf8"
)

// line is one line of the text. Its end is found from the start of the next one.
type line struct {
	start int32 // first byte
	text  int32 // first byte behind the markers and the indentation of its containers
	leaf  int32 // the node that the line is text of, or none
}

// LinesOf is a Note of which only the lines are known, as Scan finds them: for a text whose structure is known already.
func LinesOf(text []byte) *Note {
	if len(text) > math.MaxInt32 {
		text = text[:math.MaxInt32]
	}
	n := &Note{src: text, lines: make([]line, 0, bytes.Count(text, []byte{'\n'})+1)}
	br := breaks{lf: -1, cr: -1}
	for pos := 0; pos < len(text) || pos == 0; {
		_, after := br.next(text, pos)
		n.lines = append(n.lines, line{start: int32(pos)})
		if after == pos {
			break
		}
		pos = after
	}
	return n
}

// Pos is a place in a text for people: the line from 1, and the column from 1 in UTF-16 units, as Obsidian and LSP count.
type Pos struct{ Line, Column int }

// Pos converts a byte offset; an offset outside the text is moved to its nearest end. A byte order mark takes no column,
// and a byte that is not UTF-8 takes one. It reads the line up to there: for many offsets use Positions.
func (n *Note) Pos(offset int) Pos { return n.Positions().Pos(offset) }

// Positions converts offsets as Note.Pos does, in linear time together if they come in the order of the text. Each has to
// be the start of a character.
type Positions struct {
	note *Note
	at   int // the last offset
	pos  Pos // its place, or zero
}

// Positions starts at the beginning of the note.
func (n *Note) Positions() *Positions { return &Positions{note: n} }

// Pos converts an offset.
func (p *Positions) Pos(offset int) Pos {
	n := p.note
	offset = max(0, min(offset, len(n.src)))
	i := n.lineAt(offset)
	start, column := int(n.lines[i].start), 1
	if i == 0 {
		start = min(bomLen(n.src), offset)
	}
	if p.pos.Line == i+1 && p.at <= offset {
		start, column = max(start, p.at), p.pos.Column
	}
	for b := n.src[start:offset]; len(b) > 0; {
		r, size := utf8.DecodeRune(b)
		column++
		if r > 0xFFFF {
			column++
		}
		b = b[size:]
	}
	p.at, p.pos = offset, Pos{Line: i + 1, Column: column}
	return p.pos
}

// Lines is the number of lines: at least 1, and a final line end opens no line of its own.
func (n *Note) Lines() int { return len(n.lines) }

// LineSpan is the bytes of a line (from 1) with its line end. It is empty for a line that the text does not have.
func (n *Note) LineSpan(line int) Span {
	if line < 1 || line > len(n.lines) {
		return Span{}
	}
	return Span{int(n.lines[line-1].start), lineEnd(n.lines, line-1, len(n.src))}
}

// lineAt is the index of the line that holds an offset of the text.
func (n *Note) lineAt(offset int) int {
	i := sort.Search(len(n.lines), func(i int) bool { return int(n.lines[i].start) > offset })
	return max(0, i-1)
}

// lineEnd is the offset behind the line end of the line with the given index.
func lineEnd(lines []line, i, size int) int {
	if i+1 < len(lines) {
		return int(lines[i+1].start)
	}
	return size
}

// breaks finds line ends from left to right. It remembers the next LF and the next CR, so that a text with only one of
// the two kinds is still read in linear time.
type breaks struct{ lf, cr int }

// next returns where the line that starts at pos ends, without and with its line end.
func (b *breaks) next(text []byte, pos int) (end, after int) {
	if b.lf < pos {
		b.lf = indexFrom(text, pos, '\n')
	}
	if b.cr < pos {
		b.cr = indexFrom(text, pos, '\r')
	}
	switch {
	case b.cr < b.lf && b.cr+1 == b.lf:
		return b.cr, b.lf + 1
	case b.cr < b.lf:
		return b.cr, b.cr + 1
	case b.lf < len(text):
		return b.lf, b.lf + 1
	}
	return len(text), len(text)
}

func indexFrom(text []byte, pos int, c byte) int {
	if i := bytes.IndexByte(text[pos:], c); i >= 0 {
		return pos + i
	}
	return len(text)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// blankLine reports whether b holds only spaces and tabs.
func blankLine(b []byte) bool {
	for _, c := range b {
		if !isBlank(c) {
			return false
		}
	}
	return true
}

// trimRight moves end left over the spaces and tabs before it, at most to start.
func trimRight(text []byte, start, end int) int {
	for end > start && isBlank(text[end-1]) {
		end--
	}
	return end
}
