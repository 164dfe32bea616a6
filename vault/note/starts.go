package note

import "bytes"

// started says what openBlock found.
type started uint8

const (
	startedNothing started = iota
	startedContainer
	startedLeaf // the whole line is used
)

// startsBlock holds the bytes that a block other than a paragraph can start with.
var startsBlock = [256]bool{
	'>': true, '#': true, '`': true, '~': true, '<': true, '=': true, '-': true, '*': true, '_': true, '+': true,
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'%': true, '$': true, '[': true,
}

// openBlock opens the block that starts at the next byte of the line, if one does. direct is true if that place can go
// on with the open paragraph.
func (s *scanner) openBlock(matched int, direct bool) started {
	rest := s.src[s.nextPos:s.end]
	paragraph := direct && s.leaf.kind == KindParagraph
	switch rest[0] {
	case '>':
		if matched > MaxNesting {
			return startedNothing
		}
		s.closeTo(matched)
		s.push(frame{kind: KindQuote})
		s.enterQuote()
		return startedContainer
	case '#':
		return s.openATX(matched, rest)
	case '`', '~':
		return s.openFence(matched, rest)
	case '<':
		return s.openHTML(matched, rest)
	case '%':
		return s.openComment(matched, rest)
	case '$':
		return s.openMath(matched, rest)
	case '[':
		return s.openFootnote(matched, rest)
	}
	if paragraph && isUnderline(rest) {
		if s.openSetext(rest[0]) {
			return startedLeaf
		}
		paragraph = false // it was all definitions
	}
	if s.isRule(rest) {
		s.closeTo(matched)
		s.single(KindRule)
		return startedLeaf
	}
	return s.openItem(matched, paragraph, rest)
}

// openATX: one to six hashes, then a blank or the end of the line (CommonMark 4.2; Obsidian agrees).
func (s *scanner) openATX(matched int, rest []byte) started {
	level := run(rest, '#')
	if level > 6 || level < len(rest) && !isBlank(rest[level]) {
		return startedNothing
	}
	s.closeTo(matched)
	top := s.atTop()
	start, end := s.nextPos+level, trimRight(s.src, s.nextPos+level, s.end)
	for start < end && isBlank(s.src[start]) {
		start++
	}
	// A closing run of hashes is dropped if a blank stands before it, or nothing.
	closing := end
	for closing > start && s.src[closing-1] == '#' {
		closing--
	}
	if closing == start || isBlank(s.src[closing-1]) {
		end = trimRight(s.src, start, closing)
	}
	id := s.single(KindHeading)
	if top {
		s.heads = append(s.heads, rawHeading{node: id, level: level, text: Span{start, end}})
	}
	return startedLeaf
}

// atTop reports whether a block that is added now stands at the top level of the note.
func (s *scanner) atTop() bool {
	return len(s.stack) == 1 || len(s.stack) == 2 && s.stack[1].kind == KindList
}

// isUnderline: a run of = or of -, and blanks (CommonMark 4.3).
func isUnderline(rest []byte) bool {
	c := rest[0]
	return (c == '=' || c == '-') && blankLine(rest[run(rest, c):])
}

// openSetext turns the open paragraph into a heading. Link reference definitions at its start stay outside; if there is
// nothing else, then the line underlines nothing.
func (s *scanner) openSetext(c byte) bool {
	n := &s.nodes[s.leaf.node]
	at := len(s.lines) - 1
	first := int(n.first)
	if s.src[s.lines[first].text] == '[' {
		first += s.referenceLines(first, at)
	}
	if first == at {
		s.closeLeaf()
		return false
	}
	if first > int(n.first) {
		s.splitLeaf(KindHeading, first)
		n = &s.nodes[s.leaf.node]
	}
	n.kind, s.leaf.kind = KindHeading, KindHeading
	text := Span{int(s.lines[first].text), int(n.end)}
	s.addLine(s.nextPos)
	level := 1
	if c == '-' {
		level = 2
	}
	if len(s.stack) == 1 {
		s.heads = append(s.heads, rawHeading{node: s.leaf.node, level: level, text: text, setext: true})
	}
	s.closeLeaf()
	return true
}

// splitLeaf ends the open paragraph before the line with the given index, and opens another leaf from there on.
func (s *scanner) splitLeaf(kind Kind, first int) {
	at := len(s.lines) - 1
	n := &s.nodes[s.leaf.node]
	end, last := n.end, n.last
	n.last = int32(first - 1)
	n.end = int32(trimRight(s.src, int(n.start), contentEnd(s.src, int(s.lines[first].start))))
	s.closeLeaf()
	s.open(kind)
	n = &s.nodes[s.leaf.node]
	n.first, n.last, n.start, n.end = int32(first), last, s.lines[first].text, end
	for i := first; i < at; i++ {
		s.lines[i].leaf = s.leaf.node
	}
}

// contentEnd is the end, without its line end, of the line before the one that starts at next.
func contentEnd(src []byte, next int) int {
	end := next
	if end > 0 && src[end-1] == '\n' {
		end--
	}
	if end > 0 && src[end-1] == '\r' {
		end--
	}
	return end
}

// isRule: three or more of one of - * _ with blanks between (CommonMark 4.1). Where the search stopped at another byte,
// no place before that byte needs another search: so "- - - … x" stays linear.
func (s *scanner) isRule(rest []byte) bool {
	c := rest[0]
	if c != '-' && c != '*' && c != '_' || s.nextPos < s.notRule {
		return false
	}
	count := 0
	for i, b := range rest {
		if b == c {
			count++
		} else if !isBlank(b) {
			s.notRule = s.nextPos + i
			return false
		}
	}
	return count >= 3
}

// openItem: a bullet or a number of up to nine digits with . or ), and a blank (CommonMark 5.2). A paragraph is not
// interrupted by an empty item, nor by a number other than 1.
func (s *scanner) openItem(matched int, paragraph bool, rest []byte) started {
	marker, size := rest[0], 1
	if isDigit(marker) {
		for size < len(rest) && isDigit(rest[size]) {
			size++
		}
		if size > 9 || size == len(rest) || rest[size] != '.' && rest[size] != ')' {
			return startedNothing
		}
		marker = rest[size]
		size++
	} else if marker != '-' && marker != '*' && marker != '+' {
		return startedNothing
	}
	if size < len(rest) && !isBlank(rest[size]) {
		return startedNothing
	}
	if matched > MaxNesting-1 && s.stack[matched-1].kind != KindList {
		return startedNothing
	}
	if paragraph && (blankLine(rest[size:]) || isDigit(rest[0]) && !isOne(rest[:size-1])) {
		return startedNothing
	}
	width := s.indent() + size
	s.closeTo(matched)
	if top := &s.stack[len(s.stack)-1]; top.kind != KindList || top.marker != marker {
		if top.kind == KindList {
			s.closeTo(len(s.stack) - 1)
		}
		s.push(frame{kind: KindList, marker: marker})
	}
	s.push(frame{kind: KindItem})
	item := &s.nodes[s.stack[len(s.stack)-1].node]
	item.end = int32(s.nextPos + size)
	s.enter(size)
	s.next()
	if gap := s.indent(); s.blank || gap > 4 {
		// The text starts one column behind the marker; what is deeper is indented code.
		width++
		s.skip(1)
	} else {
		width += gap
		s.enter(0)
	}
	s.stack[len(s.stack)-1].width = width
	return startedContainer
}

func isOne(digits []byte) bool {
	return len(bytes.TrimLeft(digits, "0")) == 1 && digits[len(digits)-1] == '1'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// run is the length of the run of c that b starts with.
func run(b []byte, c byte) int {
	n := 0
	for n < len(b) && b[n] == c {
		n++
	}
	return n
}
