package note

import "bytes"

// continueLeaf gives the line to the open block if that takes lines whole: code, HTML, a comment, math. It returns false
// if the line is still to be looked at.
func (s *scanner) continueLeaf() bool {
	switch s.leaf.kind {
	case KindCode:
		if s.leaf.fence != 0 {
			s.continueFence()
			return true
		}
		return s.continueIndented()
	case KindHTML:
		s.next()
		if s.blank && s.leaf.html >= 6 {
			s.closeLeaf()
			return false
		}
		s.addLine(s.pos)
		s.endHTML(s.src[s.pos:s.end])
		return true
	case KindComment:
		s.continueUntil("%%")
		return true
	case KindMath:
		s.continueUntil("$$")
		return true
	}
	return false
}

// openFence: three or more backticks or tildes; no backtick in the info string of backticks (CommonMark 4.5).
func (s *scanner) openFence(matched int, rest []byte) started {
	n := run(rest, rest[0])
	if n < 3 || rest[0] == '`' && bytes.IndexByte(rest[n:], '`') >= 0 {
		return startedNothing
	}
	s.closeTo(matched)
	s.open(KindCode)
	s.leaf.fence, s.leaf.length = rest[0], n
	s.addLine(s.nextPos)
	return startedLeaf
}

// continueFence closes the code block at a fence of the same character, at least as long, with no info string. An open
// fence runs to the end of its container.
func (s *scanner) continueFence() {
	s.next()
	rest := s.src[s.nextPos:s.end]
	n := run(rest, s.leaf.fence)
	closes := s.indent() < 4 && n >= s.leaf.length && blankLine(rest[n:])
	s.addLine(s.pos)
	if closes {
		s.closeLeaf()
	}
}

func (s *scanner) continueIndented() bool {
	s.next()
	if !s.blank && s.indent() < 4 {
		s.closeLeaf()
		return false
	}
	s.skip(4)
	s.addLine(s.pos)
	return true
}

// openComment: Obsidian's %% comment in its block form, which starts a line (release notes 0.10.12 and 1.13.2: %%%% is
// an empty comment). It may interrupt a paragraph and runs to the next %%, or to the end of its container. A comment
// that closes on its own line with text behind it is inline, so its line is a paragraph.
func (s *scanner) openComment(matched int, rest []byte) started {
	if run(rest, '%') < 2 {
		return startedNothing
	}
	return s.openUntil(KindComment, matched, rest[2:], "%%")
}

// openMath: a $$ block of Obsidian. As with comments, one that closes on its line with text behind it is inline. Unlike
// them, it is a block only if another $$ follows, so that a price at the start of a line hides nothing.
func (s *scanner) openMath(matched int, rest []byte) started {
	if run(rest, '$') != 2 && run(rest, '$') != 4 {
		return startedNothing
	}
	if s.lastMath < none {
		s.lastMath = bytes.LastIndex(s.src, []byte("$$"))
	}
	if s.lastMath < s.nextPos+2 {
		return startedNothing
	}
	return s.openUntil(KindMath, matched, rest[2:], "$$")
}

func (s *scanner) openUntil(kind Kind, matched int, rest []byte, closer string) started {
	i := bytes.Index(rest, []byte(closer))
	if i >= 0 && !blankLine(rest[i+len(closer):]) {
		return startedNothing
	}
	s.closeTo(matched)
	s.open(kind)
	s.addLine(s.nextPos)
	if i >= 0 {
		s.closeLeaf()
	}
	return startedLeaf
}

// continueUntil closes the block behind the closer. Text that follows on the line is a new paragraph.
func (s *scanner) continueUntil(closer string) {
	rest := s.src[s.pos:s.end]
	i := bytes.Index(rest, []byte(closer))
	s.addLine(s.pos)
	if i < 0 {
		return
	}
	i += len(closer)
	if blankLine(rest[i:]) {
		s.closeLeaf()
		return
	}
	n := &s.nodes[s.leaf.node]
	n.end = int32(s.pos + i)
	s.closeLeaf()
	s.pos += i
	s.next()
	s.open(KindParagraph)
	s.addLine(s.nextPos)
}

// openFootnote: [^label]: starts a container, which Obsidian takes from GitHub's Markdown: it may interrupt a paragraph,
// and goes on with lines that are indented by four columns. In CommonMark it is a link reference definition or text.
func (s *scanner) openFootnote(matched int, rest []byte) started {
	if len(rest) < 5 || rest[1] != '^' || matched > MaxNesting {
		return startedNothing
	}
	end := bytes.IndexByte(rest, ']')
	if end < 3 || end+1 >= len(rest) || rest[end+1] != ':' || bytes.ContainsAny(rest[2:end], " \t[^") {
		return startedNothing
	}
	s.closeTo(matched)
	s.push(frame{kind: KindFootnote, width: 4})
	s.enter(end + 2)
	s.next()
	s.enter(0)
	return startedContainer
}

// markCallout turns a quote into a callout if the paragraph just opened is its first line and starts with [!type].
func (s *scanner) markCallout() {
	p := s.nodes[s.leaf.node]
	q := &s.nodes[p.parent]
	if s.leaf.prev != none || q.kind != KindQuote || q.first != p.first {
		return
	}
	rest := s.src[s.nextPos:s.end]
	if end := bytes.IndexByte(rest, ']'); end > 2 && rest[0] == '[' && rest[1] == '!' {
		q.kind = KindCallout
	}
}
