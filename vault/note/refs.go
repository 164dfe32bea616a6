package note

import "bytes"

// referenceLines is how many of the lines first to last-1 are link reference definitions (CommonMark 4.7), counted from
// the first of them. Only whether they are decides something here: under a setext underline they are no heading.
func (s *scanner) referenceLines(first, last int) int {
	var text []byte
	starts := make(map[int]int, last-first)
	for i := first; i < last; i++ {
		starts[len(text)] = i - first
		end := contentEnd(s.src, int(s.lines[i+1].start))
		text = append(text, s.src[s.lines[i].text:max(int(s.lines[i].text), end)]...)
		text = append(text, '\n')
	}
	pos := 0
	for pos < len(text) {
		end := reference(text, pos)
		if end < 0 {
			break
		}
		pos = end
	}
	if pos == len(text) {
		return last - first
	}
	return starts[pos]
}

// reference reads one definition at pos and returns where the next line starts, or -1.
func reference(b []byte, pos int) int {
	pos = referenceLabel(b, pos)
	if pos < 0 || pos >= len(b) || b[pos] != ':' {
		return -1
	}
	t, ok := definitionTarget(b, skipSpace(b, pos+1))
	if !ok {
		return -1
	}
	return t.end
}

func referenceLabel(b []byte, pos int) int {
	if b[pos] != '[' {
		return -1
	}
	filled := false
	for i := pos + 1; i < len(b) && i-pos <= 1000; i++ {
		switch b[i] {
		case '\\':
			i++
			filled = true
		case '[':
			return -1
		case ']':
			if !filled {
				return -1
			}
			return i + 1
		case ' ', '\t', '\n', '\r':
		default:
			filled = true
		}
	}
	return -1
}

// becomesTable turns the open paragraph, or its last line, into a table if the current line is a delimiter row with as
// many cells as the line above (tables of GitHub's Markdown; Obsidian allows one column).
func (s *scanner) becomesTable() bool {
	cells := delimiterCells(s.src[s.nextPos:s.end])
	if cells == 0 {
		return false
	}
	at := len(s.lines) - 1
	head := int(s.lines[at-1].text)
	if s.lines[at-1].leaf != s.leaf.node {
		return false
	}
	end := contentEnd(s.src, int(s.lines[at].start))
	if head >= end || rowCells(s.src[head:end]) != cells {
		return false
	}
	if int(s.nodes[s.leaf.node].first) < at-1 {
		s.splitLeaf(KindTable, at-1)
	}
	s.nodes[s.leaf.node].kind, s.leaf.kind = KindTable, KindTable
	s.addLine(s.nextPos)
	return true
}

// delimiterCells is the number of cells of a delimiter row, or 0 if the line is none. One without any pipe is none.
func delimiterCells(row []byte) int {
	if bytes.IndexByte(row, '|') < 0 {
		return 0
	}
	cells := 0
	for cell := range bytes.SplitSeq(trimRow(row), []byte{'|'}) {
		cell = bytes.Trim(cell, " \t")
		cell = bytes.TrimPrefix(cell, []byte{':'})
		cell = bytes.TrimSuffix(cell, []byte{':'})
		if n := run(cell, '-'); n == 0 || n != len(cell) {
			return 0
		}
		cells++
	}
	return cells
}

// rowCells is the number of cells of a row: pipes without a backslash before them part cells, also in code.
func rowCells(row []byte) int {
	cells := 1
	row = trimRow(row)
	for i := 0; i < len(row); i++ {
		switch row[i] {
		case '\\':
			i++
		case '|':
			cells++
		}
	}
	return cells
}

// trimRow drops the blanks and the pipes around a row.
func trimRow(row []byte) []byte {
	row = bytes.TrimPrefix(bytes.Trim(row, " \t"), []byte{'|'})
	if n := len(row); n > 0 && row[n-1] == '|' && (n == 1 || row[n-2] != '\\') {
		row = row[:n-1]
	}
	return row
}
