package note

import "strings"

// Block is a part of a note that has an id, so that a link can name it: [[note#^id]] (help page Linking notes and
// files/Internal links). Letters, digits and dashes make an id; case is ignored when it is looked up.
type Block struct {
	// ID is the id as written, without the ^.
	ID string
	// Kind is what the id names: a paragraph, a list item with its sub-items, a whole list, quote, table and so on.
	Kind Kind
	// Line and EndLine are the first and the last line of the block, from 1.
	Line, EndLine int
	// Span is those lines, with the line end of the last one. An id on a line of its own below the block is outside.
	Span Span
	// Mark is the id with its ^.
	Mark Span
}

// rawBlock is an id found while scanning; its block may still grow then.
type rawBlock struct {
	node int32
	mark Span
}

// FindBlock returns the blocks with an id, with or without a leading ^, in text order. More than one is a note with a
// repeated id: callers report that with the lines, and never guess.
func (n *Note) FindBlock(id string) []Block {
	id = strings.TrimPrefix(id, "^")
	var found []Block
	for _, b := range n.Blocks {
		if len(b.ID) == len(id) && strings.EqualFold(b.ID, id) {
			found = append(found, b)
		}
	}
	return found
}

// findID looks for an id at the end of the open paragraph. Behind text it names the list item that the paragraph stands
// in, or the quote, or else the paragraph. Alone it names the block before it. An id in the middle of a paragraph is
// text, and headings have none.
func (s *scanner) findID() {
	p := &s.nodes[s.leaf.node]
	at := &s.lines[p.last]
	start, end := int(at.text), int(p.end)
	i := end
	for i > start && isIDByte(s.src[i-1]) {
		i--
	}
	if i == end || i == start || s.src[i-1] != '^' {
		return
	}
	mark := Span{i - 1, end}
	switch {
	case mark.Start > start:
		if isBlank(s.src[mark.Start-1]) {
			s.ids = append(s.ids, rawBlock{s.namedBy(s.leaf.node), mark})
		}
	case p.first < p.last:
		s.ids = append(s.ids, rawBlock{s.namedBy(s.leaf.node), mark})
	case s.leaf.prev != none:
		if prev := s.nodes[s.leaf.prev]; prev.kind == KindParagraph {
			s.ids = append(s.ids, rawBlock{s.namedBy(s.leaf.prev), mark})
		} else if prev.kind != KindHeading && prev.kind != KindRule {
			s.ids = append(s.ids, rawBlock{s.leaf.prev, mark})
		}
	}
}

// namedBy is the block that an id at the end of a paragraph names. Obsidian keeps ids for the sections of a note and for
// list items (typings SectionCache.id and ListItemCache.id), so in a quote it is the outermost quote up to an item.
func (s *scanner) namedBy(paragraph int32) int32 {
	id := paragraph
	for {
		parent := s.nodes[id].parent
		switch s.nodes[parent].kind {
		case KindItem:
			if id == paragraph {
				return parent
			}
			return id
		case KindQuote, KindCallout, KindFootnote:
			id = parent
		default:
			return id
		}
	}
}

func isIDByte(c byte) bool { return isAlpha(c) || isDigit(c) || c == '-' }

func (s *scanner) blockList() []Block {
	if len(s.ids) == 0 {
		return nil
	}
	var ids strings.Builder // one string for all ids
	for _, raw := range s.ids {
		ids.Write(s.src[raw.mark.Start+1 : raw.mark.End])
	}
	all := ids.String()
	blocks := make([]Block, len(s.ids))
	for i, raw := range s.ids {
		n := s.nodes[raw.node]
		size := raw.mark.Len() - 1
		id := all[:size]
		all = all[size:]
		blocks[i] = Block{
			ID:      id,
			Kind:    n.kind,
			Line:    int(n.first) + 1,
			EndLine: int(n.last) + 1,
			Span:    s.wholeLines(n),
			Mark:    raw.mark,
		}
	}
	return blocks
}

// wholeLines is the lines of a block with the last line end, without a byte order mark.
func (s *scanner) wholeLines(n node) Span {
	start := int(s.lines[n.first].start)
	return Span{start + bomSkip(s.src, start), lineEnd(s.lines, int(n.last), len(s.src))}
}
