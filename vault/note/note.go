// Package note owns what the bytes of one note mean: its properties, its block structure, its headings, sections and
// block ids, and the links, tags, tasks and other marks in its text, each as a range of bytes. It reads Markdown as Obsidian does, which is CommonMark with
// properties, %% comments, $$ math, callouts, tables, footnotes and block ids. It knows no file, no vault and no other
// note, never changes a text but returns an edited one, reads in time linear in its length, and accepts any bytes at all.
//
// Lines end with LF, CRLF or a CR alone (CommonMark 0.31, 2.1); U+2028, NEL and form feed are ordinary characters.
// Offsets count bytes from the start of the text, lines count from 1, columns count UTF-16 units from 1.
package note

import "math"

// Span is a half-open range of byte offsets: Start is in it, End is not.
type Span struct{ Start, End int }

// Len is the number of bytes in the span.
func (s Span) Len() int { return s.End - s.Start }

// Of returns the bytes of text that the span covers.
func (s Span) Of(text []byte) []byte { return text[s.Start:s.End] }

// shift moves the span by n bytes.
func (s Span) shift(n int) Span { return Span{s.Start + n, s.End + n} }

// Note is the structure of one text, as Scan found it. It keeps the text, which must not change while the Note is used.
type Note struct {
	// Headings are the headings at top level, in text order.
	Headings []Heading
	// Blocks are the blocks that have an id, in the order of the ids in the text.
	Blocks []Block
	// Body is where the text after the properties starts: 0 without properties, or 3 behind a byte order mark.
	Body int

	src   []byte
	lines []line
	nodes []node
}

// Scan reads the structure of a note in one pass. Text beyond 2 GiB is not looked at.
func Scan(text []byte) *Note {
	if len(text) > math.MaxInt32 {
		text = text[:math.MaxInt32]
	}
	s := newScanner(text)
	body := BodyStart(text)
	s.run(body)
	n := &Note{Body: body, src: text, lines: s.lines, nodes: s.nodes}
	n.Headings = s.headingList(len(text))
	n.Blocks = s.blockList()
	return n
}

// bomLen is the length of the UTF-8 byte order mark that the text starts with, or 0.
func bomLen(text []byte) int {
	if len(text) >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF {
		return 3
	}
	return 0
}
