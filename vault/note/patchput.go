package note

import (
	"bytes"
	"strings"
)

// put puts content into a range of whole lines.
func (n *Note) put(in Span, mode PatchMode, content piece) (Edited, error) {
	eol := lineEndAt(n.src, in.Start)
	if mode == PatchAppend {
		eol = lineEndAt(n.src, in.End)
	}
	f := n.field(in)
	if content.empty() {
		return n.seamless([]Edited{splice(n.src, f.emptied(n.src), nil)})
	}
	var tries []Edited
	for _, gap := range []struct{ before, after int }{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
		cut, text := f.fill(n.src, mode, content, eol, gap.before, gap.after)
		tries = append(tries, splice(n.src, cut, []byte(text)))
	}
	return n.seamless(tries)
}

// field is a range of whole lines with its outer blank lines taken apart. If all are blank, core is where text goes.
type field struct {
	lead, core, tail Span
	leads, tails     int  // line ends in lead and tail
	last             bool // the range ends the note
}

func (n *Note) field(in Span) field {
	first, end := in.End, in.Start // of the first line with text, and behind the text of the last one
	b := n.src[in.Start:in.End]
	for pos, br := 0, (breaks{lf: -1, cr: -1}); pos < len(b); {
		stop, after := br.next(b, pos)
		if !blankLine(b[pos:stop]) {
			first, end = min(first, in.Start+pos), in.Start+stop
		}
		pos = after
	}
	f := field{last: in.End == len(n.src)}
	if first == in.End && end == in.Start { // blank: of several blank lines the first stays above
		first = in.Start
		if countLines(b) > 1 {
			br := breaks{lf: -1, cr: -1}
			_, after := br.next(b, 0)
			first += after
		}
		end = first
	}
	f.lead, f.core, f.tail = Span{in.Start, first}, Span{first, end}, Span{end, in.End}
	f.leads, f.tails = countLines(f.lead.Of(n.src)), countLines(f.tail.Of(n.src))
	return f
}

// emptied is what goes if the range shall hold nothing: of its blank lines those below stay.
func (f field) emptied(src []byte) Span {
	if f.core.Len() == 0 {
		return f.core
	}
	return Span{f.lead.Start, skipLineEnd(src, skipBlanks(src, f.core.End))}
}

// fill is what to cut out and what to put there. before and after are blank lines to add beside the content where it
// meets other text. Of the blank lines that the content and the range have at the same place, the larger number counts,
// so that text that is read and written back changes nothing.
func (f field) fill(src []byte, mode PatchMode, content piece, eol string, before, after int) (Span, string) {
	body := content.text("", eol)
	ends := func(k int) string { return strings.Repeat(eol, k) }
	more := func(asked, there int) int { return max(0, asked-there) }
	switch at := f.core; {
	case f.core.Len() == 0:
		open, tail := 0, content.tail
		if !endsLine(src[:at.Start]) {
			open = 1
		}
		if !f.last || f.tails > 0 || at.Start > bomLen(src) && open == 0 {
			tail = max(1, tail-f.tails)
		}
		return at, ends(open+before+more(content.lead, f.leads)) + body + ends(tail+after)
	case mode == PatchAppend:
		return Span{at.End, at.End}, ends(1+content.lead+before) + body + ends(more(content.tail, f.tails)+after)
	case mode == PatchPrepend:
		open := 0
		if !endsLine(src[:at.Start]) {
			open = 1
		}
		return Span{at.Start, at.Start}, ends(open+more(content.lead, f.leads)+before) + body + ends(max(1, content.tail)+after)
	default:
		return at, ends(more(content.lead, f.leads)+before) + body + ends(more(content.tail, f.tails)+after)
	}
}

// seamless returns the first of the edits that leaves every block around it as it was, or else the first that keeps at
// least the headings and the block ids.
func (n *Note) seamless(tries []Edited) (Edited, error) {
	var harm string
	kept := none
	for i, e := range tries {
		m := Scan(e.Text)
		h := n.lost(m, e)
		if h == "" && n.seams(m, e) {
			return e, nil
		}
		if h == "" && kept == none {
			kept = i
		}
		if harm == "" {
			harm = h
		}
	}
	if kept != none {
		return tries[kept], nil
	}
	return Edited{}, &SpoilError{Harm: harm}
}

// lost says which heading or block id outside of an edit would not be there any more, or would be new; "" is none.
func (n *Note) lost(m *Note, e Edited) string {
	const advice = ": perhaps a code block, comment or math block of the text is not closed"
	if m.Body != n.Body && m.Body > e.Added.End {
		return "text outside of the edit would become properties"
	}
	shift := e.Added.End - e.Removed.End
	j := 0
	for _, h := range n.Headings {
		at := h.Span.Start
		if at >= e.Removed.End {
			at += shift
		} else if h.Span.End > e.Removed.Start && e.Removed.Start > at {
			at = h.Span.Start // the edit starts in its line end
		} else if at >= e.Removed.Start {
			continue
		}
		for j < len(m.Headings) && m.Headings[j].Span.Start >= e.Added.Start && m.Headings[j].Span.Start < e.Added.End {
			j++
		}
		if j == len(m.Headings) || m.Headings[j].Span.Start != at || m.Headings[j].Level != h.Level || m.Headings[j].Text != h.Text {
			return "the heading \"" + h.Text + "\" would not be the same" + advice
		}
		j++
	}
	for ; j < len(m.Headings); j++ {
		if at := m.Headings[j].Span.Start; at < e.Added.Start || at >= e.Added.End {
			return "text outside of the edit would become the heading \"" + m.Headings[j].Text + "\"" + advice
		}
	}
	j = 0
	for _, b := range n.Blocks {
		mark, start := b.Mark.Start, b.Span.Start
		if mark >= e.Removed.End {
			mark += shift
		} else if mark >= e.Removed.Start {
			continue
		}
		for j < len(m.Blocks) && m.Blocks[j].Mark.Start < mark {
			j++
		}
		if j == len(m.Blocks) || m.Blocks[j].Mark.Start != mark || m.Blocks[j].ID != b.ID {
			return "the block id ^" + b.ID + " would be lost" + advice
		}
		switch got := m.Blocks[j].Span.Start; {
		case start < e.Removed.Start && got != start, start >= e.Removed.End && b.Mark.Start > e.Removed.End && got != start+shift && !within(got, e.Added):
			return "the block id ^" + b.ID + " would name something else"
		}
	}
	return ""
}

func within(at int, s Span) bool { return s.Start <= at && at < s.End }

// leaves are the blocks of text, in order.
func (n *Note) leaves() []node {
	var leaves []node
	for _, b := range n.nodes {
		if b.kind >= KindParagraph {
			leaves = append(leaves, b)
		}
	}
	return leaves
}

// seams reports whether the blocks around an edit are as before, and whether what was put in starts one of its own. Lines of
// running text may join: a line end is shown as one.
func (n *Note) seams(m *Note, e Edited) bool {
	old, now := n.leaves(), m.leaves()
	shift := e.Added.End - e.Removed.End
	first := e.Added.Start + leadLen(e.Added.Of(e.Text))
	i := 0
	for ; i < len(old) && int(old[i].start) < e.Removed.Start; i++ {
		if i == len(now) || now[i].kind != old[i].kind || now[i].start != old[i].start {
			return false
		}
		if int(old[i].end) <= e.Removed.Start && now[i].end != old[i].end && !m.joins(now[i], first) {
			return false
		}
	}
	if e.Added.Len() > 0 && i < len(now) && (int(now[i].start) < first || tight(now, i)) {
		return false
	}
	for i < len(old) && int(old[i].start) < e.Removed.End {
		i++
	}
	j := len(now) - (len(old) - i)
	if i < len(old) && (j < 0 || int(now[j].start) != int(old[i].start)+shift) && old[i].kind == KindParagraph && old[i].parent == 0 {
		// The first paragraph behind may have joined the text before it.
		at := int(old[i].start) + shift
		if j+1 < 1 || j+1 > len(now) || now[j].kind != KindParagraph || now[j].parent != 0 || int(now[j].start) >= at || int(now[j].end) <= at {
			return false
		}
		i, j = i+1, j+1
	}
	if j < 0 || e.Added.Len() > 0 && tight(now, j) {
		return false
	}
	for ; i < len(old); i, j = i+1, j+1 {
		if now[j].kind != old[i].kind || int(now[j].start) != int(old[i].start)+shift {
			return false
		}
	}
	return true
}

// tight reports whether leaf i is a table with running text right above it, which other programs take for one paragraph.
func tight(leaves []node, i int) bool {
	return 0 < i && i < len(leaves) && leaves[i].kind == KindTable && leaves[i-1].kind == KindParagraph &&
		leaves[i-1].last+1 == leaves[i].first && leaves[i-1].parent == leaves[i].parent
}

// joins reports whether the line at an offset may go on with a block that was there before. A line that goes on with a
// paragraph lazily, without the marks of its quotes or the indentation of its item, was not meant to.
func (n *Note) joins(b node, at int) bool {
	l := n.lines[n.lineAt(at)]
	switch text := n.src[l.text:]; {
	case b.kind == KindTable:
		return len(text) > 0 && text[0] == '|'
	case b.kind != KindParagraph || bytes.HasPrefix(text, []byte("[!")): // a callout is one of its own
		return false
	case b.parent == 0:
		return true
	default:
		first := n.src[n.lines[b.first].start:b.start]
		marks, columns := prefixSize(n.src[l.start:l.text])
		needMarks, needColumns := prefixSize(first)
		return marks >= needMarks && (n.nodes[b.parent].kind != KindItem || columns >= needColumns)
	}
}

// prefixSize is the number of > in what stands before a text on its line, and its width in columns.
func prefixSize(b []byte) (marks, columns int) {
	for _, c := range b {
		switch c {
		case '\t':
			columns += 4 - columns%4
			continue
		case '>':
			marks++
		}
		columns++
	}
	return marks, columns
}
