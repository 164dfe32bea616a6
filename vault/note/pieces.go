package note

// Pieces are the blocks that Obsidian's search operator block: looks at (help page Plugins/Search): paragraphs, headings,
// code, tables and so on, a quote or callout as a whole, and each list item without the items below it. They are whole
// lines, in text order, and do not overlap.
func (n *Note) Pieces() []Span {
	var pieces []Span
	last := int32(none)
	for i := range n.nodes {
		if n.nodes[i].kind < KindParagraph {
			continue
		}
		owner := n.owner(int32(i))
		span := Span{int(n.lines[n.nodes[i].first].start), lineEnd(n.lines, int(n.nodes[i].last), len(n.src))}
		if k := len(pieces) - 1; k >= 0 && (owner == last && owner != int32(i) || span.Start < pieces[k].End) {
			pieces[k].End = max(pieces[k].End, span.End)
		} else {
			pieces = append(pieces, span)
		}
		last = owner
	}
	return pieces
}

// owner is the block that a piece of text counts to: the outermost quote around it, else the innermost list item, else
// the text itself.
func (n *Note) owner(i int32) int32 {
	own := i
	for at := n.nodes[i].parent; at >= 0; at = n.nodes[at].parent {
		switch n.nodes[at].kind {
		case KindQuote, KindCallout:
			own = at
		case KindItem:
			if own == i {
				own = at
			}
		}
	}
	return own
}
