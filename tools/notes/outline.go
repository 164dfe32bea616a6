package notes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"vault-mcp/tools"
	"vault-mcp/vault/note"
)

// outlineRow is a heading with what is below it, or a block that has an id:
// what read_section reads, and what that costs.
type outlineRow struct {
	Line  int    `json:"line" jsonschema:"read_section takes it, also where a title is there twice"`
	Level int    `json:"level,omitempty" jsonschema:"of a heading, from 1"`
	Title string `json:"title,omitempty"`
	Block string `json:"block,omitempty" jsonschema:"id, for read_section"`
	Lines int    `json:"lines"`
	Chars int    `json:"chars"`
}

// maxOutline bounds the headings that a refusal lists, maxTitle each of their
// titles, in bytes.
const (
	maxOutline = 60
	maxTitle   = 100
)

// headings are the first rows of some headings of a text, for a refusal.
func headings(text []byte, hs []note.Heading) []outlineRow {
	rows, sizes := []outlineRow{}, newSizes(text)
	for _, h := range hs[:min(len(hs), maxOutline)] {
		rows = append(rows, sizes.heading(h))
	}
	return rows
}

// outline lists the headings and blocks of a note in the lines that are asked
// for, as far as the budget of lists goes.
func (in readIn) outline(c *tools.Call, out *readOut, text []byte) error {
	n := note.Scan(text)
	first, last := max(in.FromLine, 1), note.CountLines(text)
	out.FromLine, out.Lines, out.TotalLines = 1, last, last
	if first > max(last, 1) {
		return tools.NoLine(first, last)
	}
	if in.Lines > 0 {
		last = min(last, first+in.Lines-1)
	}
	rows, sizes := []outlineRow{}, newSizes(text)
	for _, h := range n.Headings {
		if first <= h.Line && h.Line <= last {
			rows = append(rows, sizes.heading(h))
		}
	}
	for _, b := range n.Blocks {
		if first <= b.Line && b.Line <= last {
			rows = append(rows, outlineRow{Line: b.Line, Block: tools.Cut(b.ID, maxTitle), Lines: b.EndLine - b.Line + 1, Chars: sizes.of(b.Span)})
		}
	}
	slices.SortStableFunc(rows, func(a, b outlineRow) int { return cmp.Compare(a.Line, b.Line) })
	fit, err := tools.Fits(c, rows, nil)
	if err != nil {
		return err
	}
	if fit = byLine(rows, fit); fit < len(rows) {
		next := rows[fit].Line
		out.Rest = &tools.Rest{FromLine: next, Lines: last - next + 1}
	}
	out.Outline = rows[:fit]
	return nil
}

// byLine is near to n and not between rows of one line, and not 0 if n is not.
func byLine(rows []outlineRow, n int) int {
	inLine := func(i int) bool { return 0 < i && i < len(rows) && rows[i].Line == rows[i-1].Line }
	for i := n; i > 0; i-- {
		if !inLine(i) {
			return i
		}
	}
	for inLine(n) {
		n++
	}
	return n
}

// outlineHeader says what is listed, and how a client goes on.
func (o *readFacts) outlineHeader() string {
	s := fmt.Sprintf("%d lines · outline of %d headings and blocks; read_section takes line, or block", o.TotalLines, len(o.Outline))
	if r := o.Rest; r != nil {
		s += fmt.Sprintf(" · more: read_note view=outline from_line=%d lines=%d", r.FromLine, r.Lines)
	}
	return s
}

// outlineText is an outline as lines to read, each heading as deep as its level.
func outlineText(rows []outlineRow) string {
	var b strings.Builder
	for _, r := range rows {
		name := strings.Repeat("#", r.Level) + " " + r.Title
		if r.Block != "" {
			name = "^" + r.Block
		}
		fmt.Fprintf(&b, "line %d: %s (%d lines, %d characters)\n", r.Line, name, r.Lines, r.Chars)
	}
	return b.String()
}

// sizes counts the characters of spans of one text, however many and however
// much they overlap, in about the time of one pass.
type sizes struct {
	text   []byte
	before []int // each step of bytes
}

const sizeStep = 4 << 10

func newSizes(text []byte) *sizes {
	s := &sizes{text: text}
	for at, n := 0, 0; at <= len(text); at += sizeStep {
		s.before = append(s.before, n)
		n += runes(text[at:min(len(text), at+sizeStep)])
	}
	return s
}

func (s *sizes) of(span note.Span) int { return s.upTo(span.End) - s.upTo(span.Start) }

func (s *sizes) upTo(at int) int {
	return s.before[at/sizeStep] + runes(s.text[at/sizeStep*sizeStep:at])
}

// runes counts characters by their first bytes, so that text may begin and end
// within one.
func runes(text []byte) (n int) {
	for _, c := range text {
		if c&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

func (s *sizes) heading(h note.Heading) outlineRow {
	return outlineRow{Line: h.Line, Level: h.Level, Title: tools.Cut(h.Text, maxTitle), Lines: h.SectionLines, Chars: s.of(h.Section)}
}

// startsOf are the offsets of a note's headings.
func startsOf(n *note.Note) []int {
	starts := make([]int, len(n.Headings))
	for i, h := range n.Headings {
		starts[i] = h.Span.Start
	}
	return starts
}
