package note

import (
	"bytes"
	"unicode/utf8"
)

// Tag is one tag (help page Editing and formatting/Tags). Tags are compared without case, and shown as first seen; a slash
// parts nested ones.
type Tag struct {
	// Name is the tag as written, without the #.
	Name string
	// Line is where it stands, from 1; for a property, where its key stands.
	Line int
	// Span is the tag with its #; in properties it is the whole value or list item, with quotes.
	Span Span
	// Property is the key of the property that holds it, and empty in the text.
	Property string
}

// tag reads what starts with the # at i. A tag starts at the start of a line, behind white space, or where an inline
// element ends: another tag, a link, code, an escaped character, a mark of emphasis. It needs a character that is no digit.
func (s *inliner) tag(i int) int {
	if !s.tagMayStart(i) {
		return i + 1
	}
	t, end := s.readTag(i)
	if t.Name != "" {
		s.out.Tags = append(s.out.Tags, t)
		s.fresh, s.done = end, end
	}
	return end
}

// readTag reads the tag whose # is at i, and returns where to go on. Its name is empty if it is none.
func (s *inliner) readTag(i int) (Tag, int) {
	end := tagEnd(s.buf, i+1)
	next := end
	if end > i+1 && s.buf[end-1] == '_' && s.underscoreOpen(i) {
		for end > i+1 && s.buf[end-1] == '_' {
			end--
		}
	}
	name := s.buf[i+1 : end]
	if !isTag(name) {
		return Tag{}, next
	}
	t := Tag{Name: s.text.str(name), Span: s.span(i, end)}
	t.Line = s.line(t.Span.Start)
	return t, next
}

// isTag reports whether a name, all of whose characters may stand in a tag, has one that is no digit.
func isTag(name []byte) bool {
	for _, c := range name {
		if !isDigit(c) {
			return true
		}
	}
	return false
}

// tagEnd is where the tag whose name starts at i ends: before white space, ASCII punctuation other than - _ and /, and the
// blocks General Punctuation and Supplemental Punctuation.
func tagEnd(b []byte, i int) int {
	for i < len(b) {
		c := b[i]
		if c < utf8.RuneSelf {
			if c <= ' ' && isSpace(c) || isPunctuation(c) && c != '-' && c != '_' && c != '/' {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if isSpaceRune(r) || 0x2000 <= r && r <= 0x206F || 0x2E00 <= r && r <= 0x2E7F {
			return i
		}
		i += size
	}
	return i
}

// isSpaceRune reports whether JavaScript takes r, which is not ASCII, for white space.
func isSpaceRune(r rune) bool {
	switch r {
	case 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return 0x2000 <= r && r <= 0x200A
}

func (s *inliner) tagMayStart(i int) bool {
	if i == 0 || i == s.fresh {
		return true
	}
	switch c := s.buf[i-1]; {
	case isSpace(c):
		return true
	case c == '*' || c == '_' || c == '~' || c == '=':
		return s.isEmphasis(i-1, c)
	case c >= utf8.RuneSelf:
		r, _ := utf8.DecodeLastRune(s.buf[max(0, i-4):i])
		return isSpaceRune(r)
	}
	return false
}

// markPlaces is where a mark of emphasis stands first and last in the run.
type markPlaces struct {
	known       bool
	first, last int
}

// isEmphasis reports whether the mark at i takes part in emphasis, strike-through or a highlight. That there is another
// one before or behind it is taken for enough: no more is needed to tell a tag from text.
func (s *inliner) isEmphasis(i int, c byte) bool {
	start := i
	for start > 0 && i-start < 3 && s.buf[start-1] == c {
		start--
	}
	if (c == '~' || c == '=') && start == i {
		return false
	}
	p := &s.misses.marks[bytes.IndexByte([]byte("*_~="), c)]
	if !p.known {
		*p = markPlaces{true, bytes.IndexByte(s.buf, c), bytes.LastIndexByte(s.buf, c)}
	}
	return p.first < start || p.last > i
}

// underscoreOpen reports whether an emphasis by _ is open before i, so that an _ at the end of a tag closes it.
func (s *inliner) underscoreOpen(i int) bool {
	k := bytes.LastIndexByte(s.buf[:i], '_')
	if k < 0 || isSpace(s.buf[k+1]) {
		return false
	}
	for k > 0 && s.buf[k-1] == '_' {
		k--
	}
	return k == 0 || isSpace(s.buf[k-1]) || isPunctuation(s.buf[k-1])
}
