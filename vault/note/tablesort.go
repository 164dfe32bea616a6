package note

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// SortBy says how cells are compared.
type SortBy uint8

// The ways to compare cells. What is no number, no date or nothing comes last in either direction.
const (
	SortText   SortBy = iota // without case
	SortNumber               // 1,234.5 and 12 % and €3 are numbers too
	SortDate                 // YYYY-MM-DD, also in a link, with or without a time
)

// SortTable sorts the rows of a table by a column. Rows that are equal keep their order, and every row its text.
func SortTable(text []byte, ref TableRef, column ColumnRef, by SortBy, descending bool) (TableEdit, error) {
	g, err := openGrid(text, ref)
	if err != nil {
		return TableEdit{}, err
	}
	c, err := g.column(column)
	if err != nil {
		return TableEdit{}, err
	}
	if g.rows() == 0 {
		return TableEdit{Edited: splice(text, Span{g.lines[1].end, g.lines[1].end}, nil), Line: g.table.Line, Columns: g.columns()}, nil
	}
	keys := make([]sortKey, g.rows())
	for i := range keys {
		keys[i] = newSortKey(g.lines[i+2], c, by)
		keys[i].row = i + 2
	}
	slices.SortStableFunc(keys, func(a, b sortKey) int {
		if a.none != b.none {
			if a.none {
				return 1
			}
			return -1
		}
		order := cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
		if descending {
			order = -order
		}
		return order
	})
	first, last := g.lines[2], g.lines[len(g.lines)-1]
	var b strings.Builder
	for i, k := range keys {
		if i > 0 {
			b.Write(text[g.lines[i+1].end:g.lines[i+2].start])
		}
		b.Write(text[g.lines[k.row].start:g.lines[k.row].end])
	}
	e := splice(text, Span{first.start, last.end}, []byte(b.String()))
	return g.done(e, g.rows(), g.columns(), 0, g.lines[0].cells)
}

// column is the index of a column.
func (g *grid) column(ref ColumnRef) (int, error) {
	names := g.table.names(g.src)
	if ref.Name == "" {
		if ref.Index >= 0 && ref.Index < len(names) {
			return ref.Index, nil
		}
		return 0, &NoColumnError{ref, names}
	}
	for i, n := range names {
		if n == ref.Name {
			return i, nil
		}
	}
	for i, n := range names {
		if sortText(n) == sortText(strings.TrimSpace(ref.Name)) {
			return i, nil
		}
	}
	return 0, &NoColumnError{ref, names}
}

// sortKey is what a row is sorted by.
type sortKey struct {
	row    int
	none   bool // there is nothing to compare
	number float64
	text   string
}

func newSortKey(l gridLine, column int, by SortBy) sortKey {
	cell := ""
	if column < len(l.cells) {
		cell = strings.ReplaceAll(l.cells[column], `\|`, "|")
	}
	switch by {
	case SortNumber:
		n, ok := cellNumber(cell)
		return sortKey{number: n, none: !ok}
	case SortDate:
		d, ok := cellDate(cell)
		return sortKey{number: float64(d.Unix()), none: !ok}
	}
	return sortKey{text: sortText(cell), none: cell == ""}
}

func sortText(s string) string { return cases.Fold().String(norm.NFC.String(s)) }

// bareCell is a cell without emphasis, and of a link its text.
func bareCell(s string) string {
	s = strings.Trim(s, " \t*_~`=")
	if in, ok := strings.CutPrefix(s, "[["); ok && strings.HasSuffix(in, "]]") {
		in = strings.TrimSuffix(in, "]]")
		return strings.TrimSpace(in[strings.LastIndexByte(in, '|')+1:])
	}
	return s
}

// cellNumber reads a number with separators between thousands, and with a currency or % around it.
func cellNumber(cell string) (float64, bool) {
	s := strings.TrimSpace(strings.TrimSuffix(bareCell(cell), "%"))
	s = strings.Replace(s, "\u2212", "-", 1)
	sign := ""
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		sign, s = s[:1], s[1:]
	}
	s = strings.Trim(s, " $€£¥")
	if s == "" || !isDigit(s[0]) && s[0] != '.' || strings.ContainsAny(s, "xXpP_") {
		return 0, false
	}
	whole, _, _ := strings.Cut(s, ".")
	if groups := strings.Split(whole, ","); len(groups) > 1 {
		for i, g := range groups {
			if len(g) != 3 && i > 0 || len(g) > 3 || g == "" {
				return 0, false
			}
		}
		s = strings.Join(groups, "") + s[len(whole):]
	}
	n, err := strconv.ParseFloat(sign+s, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// cellDate reads a day, with or without a time.
func cellDate(cell string) (time.Time, bool) {
	s := bareCell(cell)
	for _, layout := range []string{
		time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateTime, time.RFC3339, "2006-01",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
