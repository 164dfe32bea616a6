package note

// Footnote is a definition, [^id]: text, with what is indented below it.
type Footnote struct {
	// ID is the id as written. Ids are compared without case (release note 1.8.0).
	ID string
	// Line and EndLine are its first and last line, from 1.
	Line, EndLine int
	// Span is the whole definition; IDSpan is the id.
	Span, IDSpan Span
}

// Reference is a use of a footnote, [^id], whether it is defined or not.
type Reference struct {
	// ID is the id as written. Ids are compared without case.
	ID string
	// Line is where it stands, from 1.
	Line int
	// Span is the reference with its brackets.
	Span Span
}

func (s *inliner) footnote(b *node) {
	start := int(b.start) + 2
	end := start
	for end < len(s.src) && s.src[end] != ']' {
		end++
	}
	s.out.Footnotes = append(s.out.Footnotes, Footnote{
		ID: s.text.str(s.src[start:end]), IDSpan: Span{start, end},
		Line: int(b.first) + 1, EndLine: int(b.last) + 1, Span: Span{int(b.start), int(b.end)},
	})
}

// reference reads [^id] at i and returns its end, or 0. An id has no white space and no bracket.
func (s *inliner) reference(i int) int {
	start := i + 2
	end := start
	for end < len(s.buf) && !isSpace(s.buf[end]) && s.buf[end] != '[' && s.buf[end] != ']' && s.buf[end] != '^' {
		end++
	}
	if end == start || end == len(s.buf) || s.buf[end] != ']' {
		return 0
	}
	r := Reference{ID: s.text.str(s.buf[start:end]), Span: s.span(i, end+1)}
	r.Line = s.line(r.Span.Start)
	s.out.References = append(s.out.References, r)
	s.fresh, s.done = end+1, end+1
	return end + 1
}
