package note

import "bytes"

// html reads what starts with < at i: an autolink (CommonMark 6.5) or raw HTML (6.6). What is neither is text.
func (s *inliner) html(i int) int {
	rest := s.buf[i:]
	if len(rest) < 3 {
		return i + 1
	}
	n := 0
	switch c := rest[1]; {
	case c == '!':
		n = s.markup(rest)
	case c == '?':
		n = until(rest, 2, "?>", &s.misses.instruction)
	case c == '/' || isAlpha(c):
		if n = s.autolink(i); n == 0 {
			n = tagLength(rest)
		}
	default:
		n = s.autolink(i) // the address may start with a digit
	}
	if n == 0 {
		return i + 1
	}
	s.fresh, s.done = i+n, i+n
	return i + n
}

// markup is the length of a comment, a CDATA section or a declaration at the start of b, or 0.
func (s *inliner) markup(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("<!-->")):
		return 5
	case bytes.HasPrefix(b, []byte("<!--->")):
		return 6
	case bytes.HasPrefix(b, []byte("<!--")):
		return until(b, 4, "-->", &s.misses.comment)
	case bytes.HasPrefix(b, []byte("<![CDATA[")):
		return until(b, 9, "]]>", &s.misses.cdata)
	case isAlpha(b[2]):
		return until(b, 2, ">", &s.misses.declaration)
	}
	return 0
}

// until is the length of b up to and with the closer, or 0. A search in vain is noted, and not made again.
func until(b []byte, from int, closer string, missed *bool) int {
	if *missed {
		return 0
	}
	if k := bytes.Index(b[from:], []byte(closer)); k >= 0 {
		return from + k + len(closer)
	}
	*missed = true
	return 0
}

// autolink reads <scheme:…> or <name@host> at i and returns its length, or 0.
func (s *inliner) autolink(i int) int {
	b := s.buf[i+1:]
	end := 0
	at, colon := none, none
	for ; end < len(b) && b[end] > ' ' && b[end] != '<' && b[end] != '>' && b[end] != 0x7F; end++ {
		if b[end] == '@' && at == none {
			at = end
		}
		if b[end] == ':' && colon == none {
			colon = end
		}
	}
	if end == len(b) || b[end] != '>' || colon == none && at <= 0 {
		return 0
	}
	if !hasScheme(b[:end]) && !isAddress(b[:end], at) {
		return 0
	}
	l := Link{Form: FormAutolink, External: true, Angle: true, Item: none}
	l.Target, l.TargetSpan = s.text.str(b[:end]), s.span(i+1, i+1+end)
	s.addURL(l, s.span(i, i+end+2))
	return end + 2
}

// isAddress reports whether b is an e-mail address with its @ at the given place, in the form of HTML 5.
func isAddress(b []byte, at int) bool {
	if at <= 0 {
		return false
	}
	for _, c := range b[:at] {
		if !isAlpha(c) && !isDigit(c) && bytes.IndexByte([]byte(".!#$%&'*+/=?^_`{|}~-"), c) < 0 {
			return false
		}
	}
	for label := range bytes.SplitSeq(b[at+1:], []byte{'.'}) {
		if len(label) == 0 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range label {
			if !isAlpha(c) && !isDigit(c) && c != '-' {
				return false
			}
		}
	}
	return true
}

// url reads a URL in running text, such as https://example.org, of which the :// is at i. It ends at white space, a bracket
// or a mark of Markdown, and without punctuation at its end (autolinks of GitHub's Markdown).
func (s *inliner) url(i int) int {
	buf := s.buf
	if i+3 >= len(buf) || buf[i+2] != '/' {
		return i + 1
	}
	start := i
	for start > s.done && i-start <= 32 && isSchemeByte(buf[start-1]) {
		start--
	}
	for start < i && !isAlpha(buf[start]) {
		start++
	}
	if !hasScheme(buf[start : i+1]) {
		return i + 1
	}
	end, opened, closed := i+3, 0, 0
scan:
	for ; end < len(buf); end++ {
		switch c := buf[end]; {
		case isSpace(c), c == '<', c == '>', c == '[', c == ']', c == '`', c == '|', c == '%' && end+1 < len(buf) && buf[end+1] == '%':
			break scan
		case c == '(':
			opened++
		case c == ')':
			closed++
		}
	}
	for ; end > i+3; end-- {
		if c := buf[end-1]; c == ')' {
			if closed <= opened {
				break
			}
			closed--
		} else if bytes.IndexByte([]byte("?!.,:;*_~'\"\\"), c) < 0 {
			break
		}
	}
	if end == i+3 {
		return i + 1
	}
	l := Link{Form: FormURL, External: true, Item: none}
	l.Target, l.TargetSpan = s.text.str(buf[start:end]), s.span(start, end)
	s.addURL(l, l.TargetSpan)
	s.done = end
	return end
}

// addURL records a link that is nothing but its target.
func (s *inliner) addURL(l Link, whole Span) {
	l.Span, l.Line = whole, s.line(whole.Start)
	nothing := Span{l.TargetSpan.End, l.TargetSpan.End}
	l.SubpathSpan, l.TextSpan, l.TitleSpan = nothing, nothing, nothing
	s.out.Links = append(s.out.Links, l)
}
