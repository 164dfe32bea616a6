package note

import "bytes"

// inlineBytes holds the bytes at which something can start.
var inlineBytes = [256]bool{
	'\\': true, '`': true, '$': true, '<': true, '[': true, ']': true, '!': true, '^': true, '#': true, '%': true,
	':': true, '(': true, ')': true, '\n': true, '\r': true,
}

// run reads the run from an offset on. What starts first wins: code, math, HTML, wikilinks and URLs are read whole, and
// nothing in them counts.
func (s *inliner) run(from int) {
	for i := from; i < len(s.buf); {
		if !inlineBytes[s.buf[i]] {
			i++
			continue
		}
		i = s.element(i)
	}
}

// element reads what starts at i, and returns where to go on.
func (s *inliner) element(i int) int {
	buf := s.buf
	next := byte(0)
	if i+1 < len(buf) {
		next = buf[i+1]
	}
	switch buf[i] {
	case '\n', '\r':
		s.lineStart, s.parens = i+1, s.parens[:0]
	case '\\':
		if isPunctuation(next) {
			// Behind a character with a backslash a new text starts for Obsidian: \[#tag holds a tag.
			s.fresh = i + 2
			return i + 2
		}
	case '`':
		return s.codeSpan(i)
	case '$':
		return s.inlineMath(i)
	case '<':
		return s.html(i)
	case '#':
		return s.tag(i)
	case '[':
		return s.openBracket(i, next)
	case ']':
		return s.closeBracket(i)
	case '!':
		if next == '[' {
			if end := s.wikilink(i+1, true); end > 0 {
				return end
			}
			s.push(bracket{start: int32(i), kind: bracketImage})
			return i + 2
		}
	case '^':
		if n := run(buf[i+1:], '['); n == 1 || n > 2 {
			s.push(bracket{start: int32(i), kind: bracketFootnote})
			return i + 2
		}
	case '%':
		if next == '%' {
			return s.inlineComment(i)
		}
	case ':':
		if next == ':' {
			return s.fieldMark(i)
		}
		if next == '/' {
			return s.url(i)
		}
	case '(':
		s.openParen(i)
	case ')':
		s.closeParen(i)
	}
	return i + 1
}

// codeSpan: a run of backticks up to the next run of the same length (CommonMark 6.1).
func (s *inliner) codeSpan(i int) int {
	n := run(s.buf[i:], '`')
	end := i + n
	if n > MaxBackticks || s.misses.runs && (n >= len(s.lastRuns) || int(s.lastRuns[n]) < end) {
		return end
	}
	for j := end; ; {
		k := bytes.IndexByte(s.buf[j:], '`')
		if k < 0 {
			break
		}
		j += k
		m := run(s.buf[j:], '`')
		if j += m; m == n {
			s.out.Code = append(s.out.Code, s.span(i, j))
			s.fresh, s.done = j, j
			return j
		}
	}
	s.findRuns(end)
	return end
}

// findRuns notes the last run of each length, once a search has been in vain.
func (s *inliner) findRuns(from int) {
	s.misses.runs = true
	clear(s.lastRuns)
	s.lastRuns = s.lastRuns[:0]
	for j := from; ; {
		k := bytes.IndexByte(s.buf[j:], '`')
		if k < 0 {
			return
		}
		j += k
		n := run(s.buf[j:], '`')
		if n <= MaxBackticks {
			for n >= len(s.lastRuns) {
				s.lastRuns = append(s.lastRuns, none)
			}
			s.lastRuns[n] = int32(j)
		}
		j += n
	}
}

// inlineMath: $…$ on which no blank follows the first and none stands before the last, which no digit follows either, so
// that prices are no math; or $$…$$.
func (s *inliner) inlineMath(i int) int {
	buf := s.buf
	n := run(buf[i:], '$')
	start := i + n
	missed := &s.misses.math
	if n == 2 {
		missed = &s.misses.displayMath
	}
	if n > 2 || *missed || n == 1 && (start == len(buf) || isSpace(buf[start])) {
		return start
	}
	for j := start; j < len(buf); {
		switch buf[j] {
		case '\\':
			j += 2
			continue
		case '$':
			m := run(buf[j:], '$')
			end := j + m
			if m == n && (n == 2 || !isSpace(buf[j-1]) && (end == len(buf) || !isDigit(buf[end]))) {
				s.out.Math = append(s.out.Math, s.span(i, end))
				s.fresh, s.done = end, end
				return end
			}
			j = end
			continue
		}
		j++
	}
	*missed = true
	return start
}

// inlineComment: %%…%%. Links and tags in it count, so that only its marks are taken out of the text.
func (s *inliner) inlineComment(i int) int {
	if !s.inComment {
		if s.comment < 0 {
			s.comment = i
		} else {
			s.out.Comments = append(s.out.Comments, s.span(s.comment, i+2))
			s.comment = none
		}
	}
	s.fresh = i + 2
	return i + 2
}

// isPunctuation reports whether c is ASCII punctuation, which a backslash makes ordinary (CommonMark 2.4).
func isPunctuation(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

// isSpace reports whether c is ASCII white space.
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
