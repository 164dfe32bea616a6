package note

import "unicode/utf8"

// Task is a list item with a box, [ ] or with another character in it (help page Editing and formatting/Basic formatting
// syntax).
type Task struct {
	// Status is the character in the box. A blank is open; for the app every other one is done.
	Status rune
	// Text is the source of the first line behind the box, without outer blanks and without a block id.
	Text string
	// Line and EndLine are its first and last line, from 1. Items nested in it are not counted.
	Line, EndLine int
	// Parent is the line of the list item that it lies in, which need not be a task, or 0 at root level.
	Parent int
	// Indent is how many list items it lies in.
	Indent int
	// ID is its block id without the ^, or empty.
	ID string
	// Span is the item from its marker on with everything below it. StatusSpan is the character in the box; TextSpan is
	// Text.
	Span, StatusSpan, TextSpan Span
	// Fields are the fields of the Tasks plugin at the end of Text, in text order.
	Fields []TaskField
}

// Done reports whether the app takes the task for done.
func (t *Task) Done() bool { return t.Status != ' ' }

// Field returns the first field of a kind.
func (t *Task) Field(kind TaskFieldKind) (TaskField, bool) {
	for _, f := range t.Fields {
		if f.Kind == kind {
			return f, true
		}
	}
	return TaskField{}, false
}

// task reads the box at the start of the paragraph with the given node, which is the first thing in its list item, and
// returns where the text goes on: 0 without a box.
func (s *inliner) task(i int) int {
	n := s.note
	p := &n.nodes[i]
	item := &n.nodes[p.parent]
	r, size := utf8.DecodeRune(s.buf[1:])
	end := 2 + size
	if len(s.buf) < end || isLineEnd(s.buf[1]) || s.buf[end-1] != ']' || end < len(s.buf) && !isSpace(s.buf[end]) {
		return 0
	}
	line := end
	for line < len(s.buf) && !isLineEnd(s.buf[line]) {
		line++
	}
	t := Task{
		Status: r, Line: int(item.first) + 1, EndLine: s.ownLines(i),
		Span: Span{int(item.start), int(item.end)}, StatusSpan: s.span(1, 1+size),
	}
	for up := n.nodes[item.parent].parent; up > 0; up = n.nodes[up].parent {
		if n.nodes[up].kind == KindItem {
			if t.Indent++; t.Indent == 1 {
				t.Parent = int(n.nodes[up].first) + 1
			}
		}
	}
	if id := s.blockID(int(p.end)); id != nil {
		t.ID = id.ID
		if p.first == p.last {
			line -= id.Mark.Len()
		}
	}
	text := trimBoth(s.buf, end, max(end, line))
	t.Text, t.TextSpan = s.text.str(text.Of(s.buf)), s.span(text.Start, text.End)
	t.Fields = s.taskFields(t.Text, t.TextSpan.Start)
	if s.out.Tasks == nil {
		s.out.Tasks = make([]Task, 0, min(64, s.counts[KindItem]))
	}
	s.out.Tasks = append(s.out.Tasks, t)
	return end
}

// ownLines is the last line, from 1, of a list item up to the first list in it. The paragraph i is the first thing in it.
func (s *inliner) ownLines(i int) int {
	nodes := s.note.nodes
	item := nodes[i].parent
	last := nodes[i].last
	for _, b := range nodes[i+1:] {
		if b.first > nodes[item].last || b.parent == item && b.kind == KindList {
			break
		}
		if b.parent == item {
			last = b.last
		}
	}
	return int(last) + 1
}

// blockID is the block whose id ends at an offset, or nil. Offsets must not get smaller from call to call.
func (s *inliner) blockID(end int) *Block {
	blocks := s.note.Blocks
	for s.nextID < len(blocks) && blocks[s.nextID].Mark.End < end {
		s.nextID++
	}
	if s.nextID < len(blocks) && blocks[s.nextID].Mark.End == end {
		return &blocks[s.nextID]
	}
	return nil
}
