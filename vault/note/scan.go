package note

import "bytes"

// Kind says what a block is.
type Kind uint8

// The kinds of blocks. Containers hold blocks, all others hold text.
const (
	KindNone      Kind = iota // no block
	KindDocument              // container: the whole note
	KindQuote                 // container: lines that start with >
	KindCallout               // container: a quote whose first line is [!type]
	KindList                  // container of items with the same marker
	KindItem                  // container: one list item with everything indented below it
	KindFootnote              // container: [^label]: and what is indented below it
	KindParagraph             // running text
	KindHeading               // ATX or setext
	KindCode                  // fenced or indented
	KindHTML                  // an HTML block, HTML comments included
	KindComment               // a %% comment that starts a line
	KindMath                  // a $$ block
	KindTable                 // header, delimiter row and rows
	KindRule                  // a thematic break
)

// String is the name of the kind in lower case.
func (k Kind) String() string { return kindNames[k] }

var kindNames = [...]string{
	"none", "document", "quote", "callout", "list", "item", "footnote", "paragraph", "heading", "code", "html", "comment",
	"math", "table", "rule",
}

const none = -1

// MaxNesting is how many containers may lie in each other, a list and its item counting as two. Deeper markers are text:
// no note for people comes near, and a line of nothing but > needs no block for each byte.
const MaxNesting = 256

// node is one block. Start is its first byte behind the markers of its containers, end is behind its last byte that is
// no blank; first and last are the indexes of its lines.
type node struct {
	kind        Kind
	parent      int32
	start, end  int32
	first, last int32
}

// frame is an open container.
type frame struct {
	kind      Kind
	marker    byte  // list: its bullet, or the mark behind its numbers
	width     int   // item: columns that a line must be indented to go on with it
	node      int32 // its node
	lastChild int32 // its newest child, or none
	quote     int32 // index in the stack of the innermost quote up to this frame, or none
}

// openLeaf is the block that the next line may go on with. There is at most one, in the innermost container.
type openLeaf struct {
	kind   Kind
	node   int32
	prev   int32 // the block before it in its container, or none
	fence  byte  // code: the fence character; 0 for indented code
	length int   // code: length of the fence
	html   int   // HTML: which start condition of CommonMark 4.6 opened it
}

// scanner builds the block tree line by line, in the way that the appendix of the CommonMark specification describes:
// match the open containers, open new blocks, add what is left to the innermost block.
type scanner struct {
	src      []byte
	nodes    []node
	lines    []line
	stack    []frame
	leaf     openLeaf
	heads    []rawHeading
	ids      []rawBlock
	lastMath int // offset of the last $$ in the text

	pos, end, col    int  // the current line: read up to here, its end, and the column reached
	nextPos, nextCol int  // its next byte that is no blank
	blank            bool // nothing is left but blanks
	notRule          int  // up to here no thematic break can start
}

func newScanner(src []byte) *scanner {
	return &scanner{
		src:      src,
		lines:    make([]line, 0, bytes.Count(src, []byte{'\n'})+1),
		nodes:    make([]node, 0, 16+len(src)/32),
		stack:    make([]frame, 0, 8),
		lastMath: none - 1,
	}
}

// run scans the text; lines that start before body belong to no block.
func (s *scanner) run(body int) {
	s.nodes = append(s.nodes, node{kind: KindDocument, parent: none})
	s.stack = append(s.stack, frame{kind: KindDocument, lastChild: none, quote: none})
	br := breaks{lf: -1, cr: -1}
	for pos := 0; pos < len(s.src) || pos == 0; {
		end, after := br.next(s.src, pos)
		s.lines = append(s.lines, line{start: int32(pos), text: int32(end), leaf: none})
		if after > body || body == 0 {
			s.pos, s.end, s.col = max(pos, bomSkip(s.src, pos)), end, 0
			s.nextPos, s.notRule = none, none
			s.scanLine()
		}
		if after == pos {
			break
		}
		pos = after
	}
	s.closeTo(1)
}

// bomSkip is the length of the byte order mark if pos is the start of the text.
func bomSkip(src []byte, pos int) int {
	if pos > 0 {
		return 0
	}
	return bomLen(src)
}

// next finds the next byte that is no blank, and its column. Columns count tabs up to multiples of four.
func (s *scanner) next() {
	if s.nextPos >= s.pos {
		return
	}
	pos, col := s.pos, s.col
	for pos < s.end {
		if c := s.src[pos]; c == ' ' {
			col++
		} else if c == '\t' {
			col += 4 - col%4
		} else {
			break
		}
		pos++
	}
	s.nextPos, s.nextCol, s.blank = pos, col, pos == s.end
}

// indent is the number of columns up to the next byte that is no blank. Call next before.
func (s *scanner) indent() int { return s.nextCol - s.col }

// skip moves over n columns of blanks; a tab may be used up in part.
func (s *scanner) skip(n int) {
	for n > 0 && s.pos < s.end {
		w := 1
		if s.src[s.pos] == '\t' {
			w = 4 - s.col%4
		}
		if w > n {
			s.col += n
			return
		}
		s.col += w
		s.pos++
		n -= w
	}
}

// enter moves to the next byte that is no blank and n bytes further.
func (s *scanner) enter(n int) {
	s.pos, s.col = s.nextPos+n, s.nextCol+n
}

func (s *scanner) scanLine() {
	matched := s.matchContainers()
	if matched == len(s.stack) && s.continueLeaf() {
		return
	}
	s.openBlocks(matched)
}

// matchContainers returns how many of the open containers the line goes on with.
func (s *scanner) matchContainers() int {
	for i := 1; i < len(s.stack); i++ {
		f := &s.stack[i]
		s.next()
		if s.blank && int(s.stack[len(s.stack)-1].quote) < i {
			// Only a quote, or an item that is still empty, ends with a blank line. No need to walk all others.
			top := s.stack[len(s.stack)-1]
			if top.kind == KindItem && top.lastChild == none {
				return len(s.stack) - 1
			}
			return len(s.stack)
		}
		switch f.kind {
		case KindQuote:
			if s.blank || s.indent() > 3 || s.src[s.nextPos] != '>' {
				return i
			}
			s.enterQuote()
		case KindItem, KindFootnote:
			if s.blank {
				s.enter(0)
			} else if s.indent() < f.width {
				return i
			} else {
				s.skip(f.width)
			}
		}
	}
	return len(s.stack)
}

func (s *scanner) enterQuote() {
	s.enter(1)
	if s.pos < s.end && isBlank(s.src[s.pos]) {
		s.skip(1)
	}
}

// openBlocks opens the blocks that start on the line, and gives the rest of it to the innermost one.
func (s *scanner) openBlocks(matched int) {
	direct := matched == len(s.stack) // the line goes on with every container, and no new one was opened
	for {
		s.next()
		if s.blank {
			s.blankLine(matched)
			return
		}
		if s.indent() >= 4 {
			if s.leaf.kind != KindParagraph {
				s.closeTo(matched)
				s.open(KindCode)
				s.addLine(s.pos)
				return
			}
			break
		}
		if !startsBlock[s.src[s.nextPos]] {
			break
		}
		switch s.openBlock(matched, direct) {
		case startedContainer:
			matched, direct = len(s.stack), false
			continue
		case startedLeaf:
			return
		}
		break
	}
	if direct || s.leaf.kind != KindParagraph {
		s.closeUnmatched(matched)
	}
	s.addText(direct)
}

// addText gives the rest of the line to the open paragraph or table, or to a new paragraph.
func (s *scanner) addText(direct bool) {
	switch {
	case s.leaf.kind == KindParagraph:
		if direct && s.becomesTable() {
			return
		}
	case s.leaf.kind != KindTable:
		s.open(KindParagraph)
		s.markCallout()
	}
	s.addLine(s.nextPos)
}

func (s *scanner) blankLine(matched int) {
	if matched < len(s.stack) || s.leaf.kind == KindParagraph || s.leaf.kind == KindTable {
		s.closeTo(matched)
	}
	if q := s.stack[len(s.stack)-1].quote; q >= 0 {
		// A line with nothing but > belongs to its quote.
		n := &s.nodes[s.stack[q].node]
		n.end = max(n.end, int32(trimRight(s.src, int(n.end), s.end)))
		n.last = int32(len(s.lines) - 1)
	}
}

// closeUnmatched ends the blocks that the line does not go on with, unless there are none.
func (s *scanner) closeUnmatched(matched int) {
	if matched < len(s.stack) {
		s.closeTo(matched)
	}
}

// closeTo ends the open leaf and all containers from the given depth on.
func (s *scanner) closeTo(depth int) {
	s.closeLeaf()
	for len(s.stack) > depth {
		s.extendParent(s.stack[len(s.stack)-1].node)
		s.stack = s.stack[:len(s.stack)-1]
	}
}

func (s *scanner) closeLeaf() {
	if s.leaf.kind == KindNone {
		return
	}
	if s.leaf.kind == KindParagraph {
		s.findID()
	}
	s.extendParent(s.leaf.node)
	s.leaf = openLeaf{}
}

// extendParent stretches the parent of a finished block over it.
func (s *scanner) extendParent(i int32) {
	n := s.nodes[i]
	p := &s.nodes[n.parent]
	p.end, p.last = max(p.end, n.end), max(p.last, n.last)
}

// add makes a node at the next byte of the line, in the innermost container that can hold it.
func (s *scanner) add(kind Kind) (id, prev int32) {
	if kind != KindItem && s.stack[len(s.stack)-1].kind == KindList {
		s.closeTo(len(s.stack) - 1)
	}
	top := &s.stack[len(s.stack)-1]
	id, prev = int32(len(s.nodes)), top.lastChild
	top.lastChild = id
	at := int32(len(s.lines) - 1)
	s.nodes = append(s.nodes, node{
		kind: kind, parent: top.node, start: int32(s.nextPos), end: int32(s.nextPos), first: at, last: at,
	})
	return id, prev
}

// open makes a leaf that further lines may go on with.
func (s *scanner) open(kind Kind) {
	id, prev := s.add(kind)
	s.leaf = openLeaf{kind: kind, node: id, prev: prev}
}

// push makes a container the innermost one.
func (s *scanner) push(f frame) {
	f.node, _ = s.add(f.kind)
	f.lastChild = none
	f.quote = s.stack[len(s.stack)-1].quote
	if f.kind == KindQuote {
		f.quote = int32(len(s.stack))
	}
	s.stack = append(s.stack, f)
}

// addLine makes the current line, from the given offset on, text of the open leaf.
func (s *scanner) addLine(text int) {
	at := len(s.lines) - 1
	s.lines[at].text, s.lines[at].leaf = int32(text), s.leaf.node
	n := &s.nodes[s.leaf.node]
	if end := trimRight(s.src, text, s.end); end > text || s.leaf.fence != 0 {
		n.end, n.last = max(n.end, int32(end)), int32(at)
	}
}

// single makes a leaf that is complete on this line.
func (s *scanner) single(kind Kind) int32 {
	s.open(kind)
	s.addLine(s.nextPos)
	id := s.leaf.node
	s.closeLeaf()
	return id
}
