package note

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// TableRef names a table of a note.
type TableRef struct {
	// Line, if it is not 0, is any line of the table, from 1.
	Line int
	// Index counts the tables of the note from 0, those in quotes and lists too. Code has none.
	Index int
}

// TableHeader is where a table stands and what its columns are called.
type TableHeader struct {
	Line    int
	Columns []string
}

// NoTableError says that there is no such table, and which there are.
type NoTableError struct {
	Ref    TableRef
	Tables []TableHeader
}

func (e *NoTableError) Error() string {
	if e.Ref.Line != 0 {
		return fmt.Sprintf("line %d is in no table", e.Ref.Line)
	}
	if len(e.Tables) == 0 {
		return "there is no table"
	}
	return fmt.Sprintf("there is no table %d: the note has %d, counted from 0", e.Ref.Index, len(e.Tables))
}

// ColumnRef names a column of a table.
type ColumnRef struct {
	// Name, if it is not empty, is the text of its header; case does not count.
	Name string
	// Index counts from 0.
	Index int
}

// NoColumnError says that a table has no such column, and which it has.
type NoColumnError struct {
	Ref     ColumnRef
	Columns []string
}

func (e *NoColumnError) Error() string {
	if e.Ref.Name != "" {
		return fmt.Sprintf("there is no column %.200q", e.Ref.Name)
	}
	return fmt.Sprintf("there is no column %d: the table has %d, counted from 0", e.Ref.Index, len(e.Columns))
}

// TableEdit is what an edit of a table left.
type TableEdit struct {
	Edited
	// Line is the table's first line, from 1; Rows is without the header.
	Line, Rows, Columns int
}

// InsertRow puts a row above the one at an index, counted from 0 below the header; the number of rows, or a negative
// index, is the end. Values may have bars and line ends: they are written as \| and <br>; a \| stays one. Missing values are
// empty cells, and more values than columns are a RangeError. Other rows do not change.
func InsertRow(text []byte, ref TableRef, at int, values []string) (TableEdit, error) {
	g, err := openGrid(text, ref)
	if err != nil {
		return TableEdit{}, err
	}
	if at, err = position("row", at, g.rows()); err != nil {
		return TableEdit{}, err
	}
	if len(values) > g.columns() {
		return TableEdit{}, &RangeError{What: "column", Given: len(values) - 1, Count: g.columns()}
	}
	cells := make([]string, g.columns())
	for i, v := range values {
		if !utf8.ValidString(v) {
			return TableEdit{}, ErrNotText
		}
		cells[i] = escapeCell(v)
	}
	row := plainRow(cells)
	if g.aligned() {
		row = paddedRow(cells, g.widths(), g.table.Align)
	}
	above := g.lines[1+at]
	e := splice(text, Span{above.end, above.end}, []byte(lineEndAt(text, above.end)+g.lines[1].prefix+row))
	return g.done(e, g.rows()+1, g.columns(), 2+at, cells)
}

// InsertColumn puts a column before the one at an index, counted from 0; the number of columns, or a negative index, is the
// end. Values are written as by InsertRow; more of them than rows are a RangeError. A table whose columns were aligned is
// aligned again.
func InsertColumn(text []byte, ref TableRef, at int, header string, align Align, values []string) (TableEdit, error) {
	g, err := openGrid(text, ref)
	if err != nil {
		return TableEdit{}, err
	}
	if at, err = position("column", at, g.columns()); err != nil {
		return TableEdit{}, err
	}
	if len(values) > g.rows() {
		return TableEdit{}, &RangeError{What: "row", Given: len(values) - 1, Count: g.rows()}
	}
	if !g.affordable() {
		return TableEdit{}, &SpoilError{Harm: "the table has too many empty cells to fill up"}
	}
	aligned := g.aligned()
	g.table.Align = insertAt(g.table.Align, at, align&AlignCenter)
	for i := range g.lines {
		l, v := &g.lines[i], ""
		switch {
		case i == 0:
			v = header
		case i == 1:
			continue
		case i-2 < len(values):
			v = values[i-2]
		}
		if !utf8.ValidString(v) {
			return TableEdit{}, ErrNotText
		}
		for len(l.cells) < at {
			l.cells = append(l.cells, "")
		}
		l.cells = insertAt(l.cells, at, escapeCell(v))
	}
	e := g.write(aligned)
	return g.done(e, g.rows(), g.columns(), 0, g.lines[0].cells)
}

// FormatTable writes a table with a bar at each end of its rows and columns of even width, by the width that characters
// have on screen. Cells keep their text: cells beyond the columns stay, and a bar in code or in a link that made a row too
// long is written as \|. Columns that would blow the table up beyond eight times its size are not evened out.
func FormatTable(text []byte, ref TableRef) (TableEdit, error) {
	g, err := openGrid(text, ref)
	if err != nil {
		return TableEdit{}, err
	}
	return g.done(g.write(true), g.rows(), g.columns(), 0, g.lines[0].cells)
}

func position(what string, at, count int) (int, error) {
	if at > count {
		return 0, &RangeError{What: "place for a " + what, Given: at, Count: count + 1}
	}
	if at < 0 {
		at = count
	}
	return at, nil
}

func insertAt[T any](list []T, at int, v T) []T {
	return append(append(append(make([]T, 0, len(list)+1), list[:at]...), v), list[at:]...)
}

// grid is a table taken apart for an edit: the header, the delimiter row, and the rows.
type grid struct {
	src   []byte
	table Table
	index int
	lines []gridLine
}

type gridLine struct {
	prefix     string // what the containers of the table put before it
	start, end int    // of the row behind the prefix, without the line end
	cells      []string
}

func openGrid(text []byte, ref TableRef) (*grid, error) {
	if !utf8.Valid(text) {
		return nil, ErrNotText
	}
	n := Scan(text)
	tables := n.Inline().Tables
	for i, t := range tables {
		if ref.Line == 0 && i == ref.Index || ref.Line != 0 && t.Line <= ref.Line && ref.Line <= t.EndLine {
			g := &grid{src: text, table: t, index: i}
			g.read(n)
			return g, nil
		}
	}
	missing := &NoTableError{Ref: ref}
	for i := range tables {
		missing.Tables = append(missing.Tables, TableHeader{tables[i].Line, tables[i].names(text)})
	}
	return nil, missing
}

// names are the texts of the header.
func (t *Table) names(text []byte) []string {
	var names []string
	for _, c := range t.Header() {
		names = append(names, CellText(text, c))
	}
	return names
}

func (g *grid) read(n *Note) {
	var spans []Span
	for l := g.table.Line - 1; l < g.table.EndLine; l++ {
		start := int(n.lines[l].text)
		end := max(start, contentEnd(g.src, lineEnd(n.lines, l, len(g.src))))
		line := gridLine{prefix: string(g.src[int(n.lines[l].start):start]), start: start, end: end}
		if l != g.table.Line {
			spans = appendCells(spans[:0], g.src, start, end)
			line.cells = cellTexts(g.src, spans)
			if len(spans) > g.columns() {
				if loose := looseCells(g.src[start:end]); len(loose) <= g.columns() {
					line.cells = loose
				}
			}
		}
		g.lines = append(g.lines, line)
	}
}

func cellTexts(src []byte, spans []Span) []string {
	cells := make([]string, len(spans))
	for i, s := range spans {
		cells[i] = string(s.Of(src))
	}
	return cells
}

func (g *grid) rows() int    { return len(g.lines) - 2 }
func (g *grid) columns() int { return len(g.table.Align) }

// looseCells are the cells of a row in which bars in code and wikilinks part nothing, as their writer meant it though no
// program reads it so; the bars get their backslashes.
func looseCells(row []byte) []string {
	fixed := make([]byte, 0, len(row)+8)
	lastTicks := map[int]int{} // where the last run of backticks of each length starts
	for i := 0; i < len(row); i++ {
		if n := run(row[i:], '`'); n > 0 {
			lastTicks[n] = i
			i += n
		}
	}
	for i := 0; i < len(row); {
		var end int
		switch {
		case row[i] == '\\' && i+1 < len(row):
			fixed = append(fixed, row[i:i+2]...)
			i += 2
			continue
		case row[i] == '`':
			end = i + run(row[i:], '`')
			if k := end - i; lastTicks[k] >= end {
				end = closingTicks(row, end, k)
			}
		case row[i] == '[' && i+1 < len(row) && row[i+1] == '[':
			k := bytes.Index(row[i:], []byte("]]"))
			if k < 0 { // no link begins here or further on
				fixed = append(fixed, row[i:]...)
				i = len(row)
				continue
			}
			end = i + k + 2
		default:
			fixed = append(fixed, row[i])
			i++
			continue
		}
		fixed = append(fixed, escapeBars(row[i:end])...)
		i = end
	}
	return cellTexts(fixed, appendCells(nil, fixed, 0, len(fixed)))
}

// closingTicks is the end of the next run of k backticks, which must be there.
func closingTicks(row []byte, at, k int) int {
	for at < len(row) {
		n := run(row[at:], '`')
		if n == k {
			return at + n
		}
		at += max(1, n)
	}
	return len(row)
}

// escapeBars puts a backslash before each bar that has none. A backslash takes the character behind it along.
func escapeBars(b []byte) []byte {
	out := make([]byte, 0, len(b)+4)
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '\\' && i+1 < len(b):
			out = append(out, b[i], b[i+1])
			i++
		case b[i] == '|':
			out = append(out, '\\', '|')
		default:
			out = append(out, b[i])
		}
	}
	return out
}

// escapeCell is a value as the source of a cell.
func escapeCell(value string) string {
	value = strings.Trim(withLineEnd(value, "\n"), " \t\n")
	return strings.ReplaceAll(string(escapeBars([]byte(value))), "\n", "<br>")
}

// done makes sure that the edit left the table, with the cells in one of its lines, and nothing else.
func (g *grid) done(e Edited, rows, columns, line int, cells []string) (TableEdit, error) {
	spoiled := &SpoilError{Harm: "the table would not be read as it should"}
	tables := Scan(e.Text).Inline().Tables
	if g.index >= len(tables) {
		return TableEdit{}, spoiled
	}
	t := tables[g.index]
	if t.Line != g.table.Line || t.EndLine-t.Line-1 != rows || len(t.Align) != columns {
		return TableEdit{}, spoiled
	}
	got := t.Header()
	if line > 1 {
		if line-2 >= t.Rows() {
			return TableEdit{}, spoiled
		}
		got = t.Row(line - 2)
	}
	for i, c := range got {
		if string(c.Of(e.Text)) != cells[i] {
			return TableEdit{}, spoiled
		}
	}
	return TableEdit{Edited: e, Line: t.Line, Rows: rows, Columns: columns}, nil
}
