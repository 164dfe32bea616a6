package note

import "unicode/utf8"

// Field is an inline field of the Dataview plugin: key:: value on a line of its own, or [key:: value] or (key:: value) in
// running text. Emphasis around a key is not part of it.
type Field struct {
	Key, Value string
	// Line is where it starts, from 1. A field ends with its line.
	Line int
	// Span is the whole field with its brackets; KeySpan and ValueSpan have no outer blanks.
	Span, KeySpan, ValueSpan Span
}

// paren is a ( that waits for its ).
type paren struct {
	start int32
	field int32 // the first colon of :: in it, or 0
}

func (s *inliner) openParen(i int) {
	if len(s.parens) < MaxBrackets {
		s.parens = append(s.parens, paren{start: int32(i)})
	}
}

func (s *inliner) closeParen(i int) {
	if len(s.parens) == 0 {
		return
	}
	p := s.parens[len(s.parens)-1]
	s.parens = s.parens[:len(s.parens)-1]
	if p.field > 0 {
		s.addField(int(p.start), int(p.start)+1, int(p.field), i, i+1)
	}
}

// fieldMark looks back from the :: at i for the key of a field: it starts the line, or stands right behind a bracket. The
// value of a field in brackets ends at the closing one.
func (s *inliner) fieldMark(i int) int {
	start := i
	for start > s.lineStart && isKeyByte(s.buf[start-1]) {
		start--
	}
	switch {
	case start == s.lineStart:
		if s.lineFields {
			end := i + 2
			for end < len(s.buf) && !isLineEnd(s.buf[end]) {
				end++
			}
			s.addField(trimBoth(s.buf, start, i).Start, start, i, end, end)
		}
	case s.buf[start-1] == '[':
		if n := len(s.brackets); n > 0 && int(s.brackets[n-1].start) == start-1 && s.brackets[n-1].kind == bracketLink {
			s.brackets[n-1].field = int32(i)
		}
	case s.buf[start-1] == '(':
		if n := len(s.parens); n > 0 && int(s.parens[n-1].start) == start-1 {
			s.parens[n-1].field = int32(i)
		}
	}
	return i + 2
}

// addField records a field: key and value are parted by :: at colon.
func (s *inliner) addField(start, key, colon, value, end int) {
	k, v := trimBoth(s.buf, key, colon), trimBoth(s.buf, colon+2, value)
	for k.Start < k.End && isEmphasisByte(s.buf[k.Start]) {
		k.Start++
	}
	for k.End > k.Start && isEmphasisByte(s.buf[k.End-1]) {
		k.End--
	}
	if k.Len() == 0 || !isAlpha(s.buf[k.Start]) && !isDigit(s.buf[k.Start]) && s.buf[k.Start] < utf8.RuneSelf {
		return
	}
	if end == value { // no bracket: the field ends with its value
		end = max(v.End, colon+2)
	}
	f := Field{
		Key: s.text.str(k.Of(s.buf)), Value: s.text.str(v.Of(s.buf)),
		Span: s.span(start, end), KeySpan: s.span(k.Start, k.End), ValueSpan: s.span(v.Start, v.End),
	}
	f.Line = s.line(f.Span.Start)
	s.nested = s.nested || len(s.out.Fields) > 0 && s.out.Fields[len(s.out.Fields)-1].Span.Start > f.Span.Start
	s.out.Fields = append(s.out.Fields, f)
}

// isKeyByte reports whether c can stand in the key of a field.
func isKeyByte(c byte) bool {
	return isAlpha(c) || isDigit(c) || c == ' ' || c == '\t' || c == '-' || c == '/' || isEmphasisByte(c) || c >= utf8.RuneSelf
}

func isEmphasisByte(c byte) bool { return c == '*' || c == '_' || c == '~' }
