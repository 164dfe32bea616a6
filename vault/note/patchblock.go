package note

import (
	"strings"
	"unicode/utf8"
)

// blockPatch makes a patch of one block. It tries places for the text and for the id in turn, and takes the first after
// which the id still names the block.
type blockPatch struct {
	n       *Note
	block   Block
	node    node
	content piece
	eol     string
	mark    string // the blanks before the id and the id, as written; empty if the id is not in the block
	text    int    // where the text before the id ends, if the id is in the block
	first   string // what stands before the block on its first line
	prefix  string // what its other lines start with
	tries   []Edited
}

func (n *Note) patchBlock(b Block, mode PatchMode, content piece) (Edited, error) {
	p := blockPatch{n: n, block: b, node: n.nodes[n.blockNode(b)], content: content}
	start := int(p.node.start)
	p.eol = lineEndAt(n.src, int(p.node.end))
	p.first = string(n.src[max(int(n.lines[p.node.first].start), bomSkip(n.src, int(n.lines[p.node.first].start))):start])
	p.prefix = blankMarkers(p.first)
	if b.Mark.End <= int(p.node.end) {
		p.text = b.Mark.Start
		for p.text > start && (isBlank(n.src[p.text-1]) || isLineEnd(n.src[p.text-1])) {
			p.text--
		}
		p.mark = string(n.src[p.text:b.Mark.End])
	}
	p.content = p.content.without(p.prefix)
	switch mode {
	case PatchReplace:
		p.replace()
	case PatchAppend:
		p.append()
	default:
		p.prepend()
	}
	return p.choose(mode)
}

// blockNode is the index of the node that a block is: of equal ones an item is the innermost, a quote the outermost.
func (n *Note) blockNode(b Block) int {
	found := 0
	for i, c := range n.nodes {
		if c.kind == b.Kind && int(c.first) == b.Line-1 && int(c.last) == b.EndLine-1 {
			if found = i; b.Kind != KindItem {
				break
			}
		}
	}
	return found
}

// blankMarkers is what the further lines of a block start with whose first line starts with s: list markers are blanks.
func blankMarkers(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' '
	}, s)
}

func (p *blockPatch) try(cut Span, parts ...string) {
	p.tries = append(p.tries, splice(p.n.src, cut, []byte(strings.Join(parts, ""))))
}

func (p *blockPatch) whole() Span { return Span{int(p.node.start), int(p.node.end)} }

// body is the content as lines of the block, without the prefix of the first.
func (p *blockPatch) body() string { return p.content.text(p.prefix, p.eol) }

// isItem reports whether the content starts with a list item.
func (p *blockPatch) isItem() bool {
	n := Scan([]byte(p.content.text("", "\n")))
	return len(n.nodes) > 1 && n.nodes[1].kind == KindList
}

func (p *blockPatch) replace() {
	bare := []byte(p.content.text("", "\n"))
	for _, b := range Scan(bare).FindBlock(p.block.ID) {
		if b.Line == 1 && p.mark != "" { // the content brings the id
			p.try(p.whole(), p.body())
		}
	}
	switch {
	case p.block.Kind == KindItem && !p.isItem():
		p.replaceItemText()
	case p.block.Kind == KindItem:
		if at := firstTextEnd(bare); at > 0 && p.mark != "" {
			q := *p
			q.content = newPiece(string(bare[:at]) + " ^" + p.block.ID + string(bare[at:]))
			p.try(p.whole(), q.body())
		}
	case p.mark != "":
		p.try(p.whole(), p.body(), p.mark)
	default:
		p.try(p.whole(), p.body())
	}
	own, gap := "", p.eol+trimEnd(p.prefix)
	if p.mark != "" {
		own = gap + p.eol + p.prefix + "^" + p.block.ID
		p.try(p.whole(), p.body(), own)
	}
	above := trimEnd(p.prefix) + p.eol + p.prefix
	p.try(p.whole(), p.body(), own, gap)
	p.try(p.whole(), above, p.body(), own)
	p.try(p.whole(), above, p.body(), own, gap)
}

// firstTextEnd is where the first paragraph of the first list item in text ends, or 0.
func firstTextEnd(text []byte) int {
	n := Scan(text)
	for i, b := range n.nodes {
		if b.kind == KindItem {
			if i+1 < len(n.nodes) && n.nodes[i+1].kind == KindParagraph && int(n.nodes[i+1].parent) == i {
				return int(n.nodes[i+1].end)
			}
			return 0
		}
	}
	return 0
}

// itemText is the paragraph of the item that has the id, or else the first, and where its text starts, behind a box. ok is
// false without one.
func (p *blockPatch) itemText() (paragraph node, start int, ok bool) {
	nodes, item := p.n.nodes, p.n.blockNode(p.block)
	if item+1 >= len(nodes) || nodes[item+1].kind != KindParagraph || int(nodes[item+1].parent) != item {
		return node{}, 0, false
	}
	for _, c := range nodes[item+2:] {
		if int(c.start) >= int(nodes[item].end) {
			break
		}
		if int(c.parent) == item && c.kind == KindParagraph && int(c.end) == p.block.Mark.End {
			return c, int(c.start), true
		}
	}
	c := nodes[item+1]
	start = int(c.start)
	if text := p.n.src[c.start:c.end]; len(text) > 3 && text[0] == '[' {
		_, size := utf8.DecodeRune(text[1:])
		if at := 1 + size; at+1 < len(text) && text[at] == ']' && isBlank(text[at+1]) {
			start += skipBlanks(text, at+1)
		}
	}
	return c, start, true
}

// itemPrefix is what further lines of the paragraph in an item start with.
func (p *blockPatch) itemPrefix(paragraph node) string {
	line := p.n.lines[paragraph.first].start
	return blankMarkers(string(p.n.src[int(line)+bomSkip(p.n.src, int(line)) : paragraph.start]))
}

// replaceItemText replaces the text of an item by text without a marker; marker, box and sub-items stay.
func (p *blockPatch) replaceItemText() {
	if c, start, ok := p.itemText(); ok {
		mark := ""
		if p.block.Mark.End == int(c.end) {
			mark = p.mark
		}
		p.try(Span{start, int(c.end)}, p.content.text(p.itemPrefix(c), p.eol), mark)
	}
}

func (p *blockPatch) append() {
	body, end := p.body(), int(p.node.end)
	switch p.block.Kind {
	case KindItem:
		c, _, ok := p.itemText()
		if ok && !p.isItem() && !isBlank(p.content.lines[0][0]) {
			in := p.itemPrefix(c)
			text := p.content.text(in, p.eol)
			if int(c.end) == end && p.block.Mark.End == end {
				p.try(Span{p.text, p.text}, p.eol, in, text)
			}
			p.try(Span{end, end}, p.eol, in, text)
			p.try(Span{end, end}, p.eol, trimEnd(in), p.eol, in, text)
		}
	case KindQuote, KindCallout:
		p.quote()
		body = p.body()
	case KindCode, KindMath, KindComment:
		if last := p.n.lines[p.node.last]; p.node.last > p.node.first && p.closed() {
			at := int(last.text)
			p.try(Span{at, at}, body, p.eol, string(p.n.src[last.start:last.text]))
		}
	}
	if p.mark != "" && p.block.Kind != KindItem && p.block.Mark.End == end {
		p.try(Span{p.text, p.text}, p.eol, p.prefix, body)
	}
	p.try(Span{end, end}, p.eol, p.prefix, body)
	p.try(Span{end, end}, p.eol, p.prefix, body, p.eol, trimEnd(p.prefix))
	p.try(Span{end, end}, p.eol, trimEnd(p.prefix), p.eol, p.prefix, body)
	p.try(Span{end, end}, p.eol, trimEnd(p.prefix), p.eol, p.prefix, body, p.eol, trimEnd(p.prefix))
	if p.mark == "" { // what does not go into the block goes below its id
		at := p.block.Mark.End
		p.try(Span{at, at}, p.eol, trimEnd(p.prefix), p.eol, p.prefix, body)
		p.try(Span{at, at}, p.eol, trimEnd(p.prefix), p.eol, p.prefix, body, p.eol, trimEnd(p.prefix))
	}
}

func (p *blockPatch) prepend() {
	start, body := int(p.node.start), p.body()
	switch p.block.Kind {
	case KindItem:
		if c, at, ok := p.itemText(); ok && !p.isItem() {
			in := p.itemPrefix(c)
			p.try(Span{at, at}, p.content.text(in, p.eol), p.eol, in)
		}
	case KindQuote, KindCallout:
		p.quote()
		body = p.body()
		if p.block.Kind == KindCallout {
			p.below(p.node.first, body)
		}
	case KindTable:
		if p.content.lines[0][0] == '|' {
			p.below(p.node.first+1, body)
		}
		p.try(Span{start, start}, body, p.eol, trimEnd(p.prefix), p.eol, p.prefix)
	case KindCode, KindMath, KindComment:
		if p.node.last > p.node.first {
			p.below(p.node.first, body)
		}
	}
	p.try(Span{start, start}, body, p.eol, p.prefix)
	p.try(Span{start, start}, body, p.eol, trimEnd(p.prefix), p.eol, p.prefix)
}

// below puts text behind the line with an index.
func (p *blockPatch) below(line int32, body string) {
	at := contentEnd(p.n.src, lineEnd(p.n.lines, int(line), len(p.n.src)))
	p.try(Span{at, at}, p.eol, p.prefix, body)
}

// quote makes content without > lines of a quote.
func (p *blockPatch) quote() {
	if p.content.lines[0][0] == '>' {
		return
	}
	lines := make([]string, len(p.content.lines))
	for i, l := range p.content.lines {
		lines[i] = trimEnd("> " + l)
	}
	p.content.lines = lines
}

// closed reports whether the last line of the code, math or comment closes it.
func (p *blockPatch) closed() bool {
	last := p.n.src[p.n.lines[p.node.last].text:p.node.end]
	open := p.n.src[p.node.start]
	switch p.block.Kind {
	case KindCode:
		return (open == '`' || open == '~') && run(last, open) >= 3 && run(last, open) == len(last)
	case KindMath:
		return string(last) == "$$"
	}
	return string(last) == "%%"
}

// choose returns the first edit that keeps what is outside, and the id at the block. If the text that was put in may become
// a block of its own, then the id must still name the old one.
func (p *blockPatch) choose(mode PatchMode) (Edited, error) {
	had := len(p.n.FindBlock(p.block.ID))
	harm := "the block id ^" + p.block.ID + " would not name the block any more"
	var spare *Edited
	for _, e := range p.tries {
		m := Scan(e.Text)
		found := m.FindBlock(p.block.ID)
		if len(found) != had {
			continue
		}
		if h := p.n.lost(m, e); h != "" {
			harm = h
			continue
		}
		ok, part := false, false
		for _, b := range found {
			at := p.block.Span.Start
			same := b.Span.Start == at && (b.Kind == p.block.Kind || p.block.Kind.quotes() && b.Kind.quotes())
			if mode == PatchReplace {
				same = at <= b.Span.Start && b.Span.Start <= e.Added.Start+leadLen(e.Added.Of(e.Text))
				part = part || within(b.Span.Start, e.Added) // of several paragraphs the last one
			}
			if mode == PatchPrepend {
				moved := at + len(e.Text) - len(p.n.src)
				same = b.Kind == p.block.Kind && (b.Span.Start == at || b.Span.Start == moved || within(b.Span.Start, e.Added))
			}
			ok = ok || same
		}
		switch {
		case ok && p.mayJoin(m, e, mode):
			return e, nil
		case (ok || part) && spare == nil:
			spare = &e
		}
	}
	if spare != nil {
		return *spare, nil
	}
	return Edited{}, &SpoilError{Harm: harm}
}

func (k Kind) quotes() bool { return k == KindQuote || k == KindCallout }

// mayJoin reports whether no text outside of the block changed its kind, and none was swallowed by it.
func (p *blockPatch) mayJoin(m *Note, e Edited, mode PatchMode) bool {
	old, now := p.n.leaves(), m.leaves()
	shift := e.Added.End - e.Removed.End
	for i, b := range old {
		if within(int(b.start), p.block.Span) {
			continue
		}
		j, at := i, int(b.start)
		if at >= e.Removed.End {
			j, at = len(now)-len(old)+i, at+shift
		}
		if j < 0 || j >= len(now) || now[j].kind != b.kind || int(now[j].start) != at || j == i && at < e.Removed.Start && now[j].end != b.end {
			return false
		}
	}
	// What is put beside a block of another kind must not be read as a part of it.
	at := e.Added.Start + leadLen(e.Added.Of(e.Text))
	for _, b := range now {
		if int(b.start) < at && at < int(b.end) && mode != PatchReplace {
			return b.kind == KindCode || b.kind == KindMath || b.kind == KindComment || b.kind == KindHTML || m.joins(b, at)
		}
	}
	return true
}
