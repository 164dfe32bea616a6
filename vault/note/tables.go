package note

import "strings"

// Align is how a column of a table is aligned.
type Align uint8

// The alignments of columns, by the colons of the delimiter row.
const (
	AlignNone   Align = 0
	AlignLeft   Align = 1
	AlignRight  Align = 2
	AlignCenter Align = 3
)

// String is the alignment in lower case, and empty for none.
func (a Align) String() string { return [...]string{"", "left", "right", "center"}[a] }

// Table is a table of GitHub's Markdown. Every row has as many cells as the header: missing ones are empty, surplus ones
// belong to nothing.
type Table struct {
	// Line and EndLine are its first and last line, from 1: the header, the delimiter row, and the rows.
	Line, EndLine int
	// Span is the whole table without outer blanks.
	Span Span
	// Align has one entry for each column.
	Align []Align

	cells []Span
}

// Header is the cells of the header, without outer blanks.
func (t *Table) Header() []Span { return t.cells[:len(t.Align):len(t.Align)] }

// Rows is the number of rows below the header.
func (t *Table) Rows() int { return len(t.cells)/len(t.Align) - 1 }

// Row is the cells of a row, counted from 0 below the header, without outer blanks. Its line is RowLine.
func (t *Table) Row(i int) []Span {
	w := len(t.Align)
	return t.cells[(i+1)*w : (i+2)*w : (i+2)*w]
}

// RowLine is the line of a row, from 1.
func (t *Table) RowLine(i int) int { return t.Line + 2 + i }

// CellText is the text of a cell: \| is a bar, in links and code too (help page Advanced formatting syntax).
func CellText(text []byte, cell Span) string {
	return strings.ReplaceAll(string(cell.Of(text)), `\|`, "|")
}

// maxCells bounds the cells that a table may have beyond those that are written, since rows are filled up with empty ones.
const maxCells = 1 << 16

func (s *inliner) table(b *node) {
	n := s.note
	t := Table{Line: int(b.first) + 1, EndLine: int(b.last) + 1, Span: Span{int(b.start), int(b.end)}}
	if s.out.Tables == nil {
		s.out.Tables = make([]Table, 0, min(64, s.counts[KindTable]))
		s.cells, s.aligns = make([]Span, 0, 32), make([]Align, 0, 16)
	}
	whole, spare := len(s.cells), maxCells
	for l := b.first; l <= b.last; l++ {
		start := int(n.lines[l].text)
		end := max(start, min(int(b.end), contentEnd(s.src, lineEnd(n.lines, int(l), len(s.src)))))
		from := len(s.cells)
		s.cells = appendCells(s.cells, s.src, start, end)
		if l == b.first {
			continue
		}
		if l == b.first+1 {
			t.Align = s.alignments(s.cells[from:])
			s.cells = fit(s.cells[:from], whole+len(t.Align), end)
			continue
		}
		if spare -= max(0, len(t.Align)-(len(s.cells)-from)); spare < 0 {
			s.cells = s.cells[:from]
			break
		}
		s.cells = fit(s.cells, from+len(t.Align), end)
	}
	t.cells = s.cells[whole:len(s.cells):len(s.cells)]
	s.out.Tables = append(s.out.Tables, t)
	s.cell = true
	for i, c := range t.cells {
		if c.Len() > 0 {
			line := b.first
			if i >= len(t.Align) {
				line += int32(i/len(t.Align)) + 1
			}
			s.open(line, line, c.Start, c.End)
			s.run(0)
		}
	}
	s.cell = false
}

// fit makes the cells exactly n, by empty ones at the end of their row or by dropping the last ones.
func fit(cells []Span, n, end int) []Span {
	for len(cells) < n {
		cells = append(cells, Span{end, end})
	}
	return cells[:n]
}

// appendCells appends the cells of the row between start and end.
func appendCells(cells []Span, b []byte, start, end int) []Span {
	row := Span{min(skipBlanks(b, start), end), end}
	row.End = trimRight(b, row.Start, end)
	if row.Len() > 0 && b[row.Start] == '|' {
		row.Start++
	}
	if row.Len() > 0 && b[row.End-1] == '|' && (row.Len() == 1 || b[row.End-2] != '\\') {
		row.End--
	}
	from := row.Start
	for i := row.Start; i < row.End; i++ {
		switch b[i] {
		case '\\':
			i++
		case '|':
			cells = append(cells, trimBoth(b, from, i))
			from = i + 1
		}
	}
	return append(cells, trimBoth(b, min(from, row.End), row.End))
}

// alignments reads the cells of a delimiter row.
func (s *inliner) alignments(cells []Span) []Align {
	from := len(s.aligns)
	for _, c := range cells {
		a := AlignNone
		if c.Len() > 0 && s.src[c.Start] == ':' {
			a = AlignLeft
		}
		if c.Len() > 0 && s.src[c.End-1] == ':' {
			a |= AlignRight
		}
		s.aligns = append(s.aligns, a)
	}
	return s.aligns[from:len(s.aligns):len(s.aligns)]
}
