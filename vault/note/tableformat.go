package note

import "strings"

// Limits of an evened table: beyond maxGrowth times its size, and some bytes for small ones, columns wider than maxPad are
// not padded and short rows are not filled up.
const (
	maxGrowth  = 8
	spareBytes = 1 << 16
	maxPad     = 40
)

// affordable reports whether the table may be written with every row filled up to its columns.
func (g *grid) affordable() bool {
	size, missing := g.lines[len(g.lines)-1].end-g.lines[0].start, 0
	for _, l := range g.lines {
		missing += max(0, g.columns()+1-len(l.cells))
	}
	return 3*missing <= maxGrowth*size+spareBytes
}

// widths are the widths of the columns, as their delimiters show them.
func (g *grid) widths() []int {
	widths := make([]int, g.columns())
	for i, s := range appendCells(nil, g.src, g.lines[1].start, g.lines[1].end) {
		if i < len(widths) {
			widths[i] = s.Len()
		}
	}
	return widths
}

// aligned reports whether all lines of the table are equally wide, and wide enough for that to be meant.
func (g *grid) aligned() bool {
	first := 0
	for i, l := range g.lines {
		row := strings.TrimRight(string(g.src[l.start:l.end]), " \t")
		if !strings.HasPrefix(row, "| ") {
			return false
		}
		switch w := DisplayWidth(row); {
		case i == 0:
			first = w
		case w != first:
			return false
		}
	}
	return true
}

// write is the whole table written anew, evened out or not. Lines keep their prefix and their line end.
func (g *grid) write(even bool) Edited {
	widths := make([]int, g.columns())
	if even {
		widths = g.evenWidths()
	}
	var b strings.Builder
	start, last := g.lines[0].start, g.lines[len(g.lines)-1].end
	for i, l := range g.lines {
		if i > 0 {
			b.Write(g.src[g.lines[i-1].end:l.start])
		}
		switch {
		case i == 1:
			b.WriteString(delimiterRow(widths, g.table.Align))
		case even:
			b.WriteString(paddedRow(l.cells, widths, g.table.Align))
		default:
			b.WriteString(plainRow(l.cells))
		}
	}
	return splice(g.src, Span{start, last}, []byte(b.String()))
}

// evenWidths is the width of each column, and fills short rows up if that is affordable.
func (g *grid) evenWidths() []int {
	widths := make([]int, g.columns())
	for i := range widths {
		widths[i] = 3
	}
	for _, l := range g.lines {
		for c, cell := range l.cells {
			if c < len(widths) {
				widths[c] = max(widths[c], DisplayWidth(cell))
			}
		}
	}
	row := 0
	for _, w := range widths {
		row += w + 3
	}
	size := g.lines[len(g.lines)-1].end - g.lines[0].start
	if row <= (maxGrowth*size+spareBytes)/len(g.lines) {
		for i := range g.lines {
			for l := &g.lines[i]; i != 1 && len(l.cells) < len(widths); {
				l.cells = append(l.cells, "")
			}
		}
		return widths
	}
	for i := range widths {
		widths[i] = min(widths[i], maxPad)
	}
	return widths
}

func plainRow(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// paddedRow is a row with its cells padded to the widths. Cells beyond the columns are as they are.
func paddedRow(cells []string, widths []int, align []Align) string {
	var b strings.Builder
	b.WriteByte('|')
	for i, c := range cells {
		left, right := 0, 0
		if i < len(widths) {
			gap := max(0, widths[i]-DisplayWidth(c))
			switch align[i] {
			case AlignRight:
				left = gap
			case AlignCenter:
				left, right = gap/2, gap-gap/2
			default:
				right = gap
			}
		}
		b.WriteString(strings.Repeat(" ", left+1))
		b.WriteString(c)
		b.WriteString(strings.Repeat(" ", right+1))
		b.WriteByte('|')
	}
	return b.String()
}

func delimiterRow(widths []int, align []Align) string {
	cells := make([]string, len(widths))
	for i, w := range widths {
		dashes := []byte(strings.Repeat("-", max(3, w)))
		if align[i]&AlignLeft != 0 {
			dashes[0] = ':'
		}
		if align[i]&AlignRight != 0 {
			dashes[len(dashes)-1] = ':'
		}
		cells[i] = string(dashes)
	}
	return plainRow(cells)
}
