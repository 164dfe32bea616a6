package note

import "slices"

// bracketKind says what an open bracket may become.
type bracketKind uint8

const (
	bracketLink bracketKind = iota
	bracketImage
	bracketFootnote
)

// bracket is a [, ![ or ^[ that waits for its ].
type bracket struct {
	start       int32 // its first byte
	field       int32 // the first colon of :: in it, or 0
	links, tags int32 // how many there were before it
	kind        bracketKind
}

// push opens a bracket. The outermost ones are given up if there are too many.
func (s *inliner) push(b bracket) {
	if len(s.brackets) == MaxBrackets {
		const drop = MaxBrackets / 2
		s.brackets = slices.Delete(s.brackets, 0, drop)
		s.inactive = max(0, s.inactive-drop)
	}
	b.links, b.tags = int32(len(s.out.Links)), int32(len(s.out.Tags))
	s.brackets = append(s.brackets, b)
}

func (s *inliner) openBracket(i int, next byte) int {
	switch next {
	case '[':
		if end := s.wikilink(i, false); end > 0 {
			return end
		}
	case '^':
		if end := s.reference(i); end > 0 {
			return end
		}
	}
	s.push(bracket{start: int32(i), kind: bracketLink})
	return i + 1
}

// closeBracket looks at what the ] at i closes: a link or an image with its target (CommonMark 6.3 and 6.4), an inline
// footnote, a field, or nothing.
func (s *inliner) closeBracket(i int) int {
	if len(s.brackets) == 0 {
		return i + 1
	}
	at := len(s.brackets) - 1
	b := s.brackets[at]
	s.brackets = s.brackets[:at]
	active := b.kind == bracketImage || at >= s.inactive
	s.inactive = min(s.inactive, at)
	if b.kind == bracketFootnote {
		s.out.InlineFootnotes = append(s.out.InlineFootnotes, s.span(int(b.start), i+1))
		s.fresh = i + 1
		return i + 1
	}
	if active && i+1 < len(s.buf) && s.buf[i+1] == '(' {
		if t, ok := inlineTarget(s.buf, i+2); ok {
			s.addMarkdown(b, i, t)
			s.fresh, s.done = t.end, t.end
			return t.end
		}
	}
	if b.field > 0 && int(b.start) >= s.lineStart {
		s.addField(int(b.start), int(b.start)+1, int(b.field), i, i+1)
	}
	return i + 1
}

// addMarkdown records [text](target) or ![alt](target), of which bracket b was closed at i. Without a target it is no link
// for Obsidian, though it is one in Markdown. Links do not lie in links, and the text of an image is only text.
func (s *inliner) addMarkdown(b bracket, i int, t target) {
	start, links := int(b.start), int(b.links)
	text := start + 1
	if b.kind == bracketImage {
		text++
		s.out.Links, s.out.Tags = s.out.Links[:links], s.out.Tags[:b.tags]
	} else {
		s.inactive = len(s.brackets)
		if s.buf[text] == '#' { // the text of a link is a text of its own, so that a tag can start it
			if tag, _ := s.readTag(text); tag.Name != "" {
				s.out.Tags = slices.Insert(s.out.Tags, int(b.tags), tag)
			}
		}
		inner := s.out.Links[links:]
		s.out.Links = s.out.Links[:links+len(slices.DeleteFunc(inner, func(l Link) bool { return l.Form == FormURL }))]
	}
	if t.dest.Len() == 0 {
		return
	}
	l := Link{Form: FormMarkdown, Embed: b.kind == bracketImage, Item: none}
	s.setTarget(&l, t)
	l.Span = s.span(start, t.end)
	l.Line = s.line(l.Span.Start)
	l.Text, l.TextSpan = s.unescapeBar(Span{text, i}), s.span(text, i)
	if l.Embed {
		l.Width, l.Height = embedSize(l.Text)
	}
	s.out.Links = slices.Insert(s.out.Links, links, l)
}

// setTarget fills in where a Markdown link leads.
func (s *inliner) setTarget(l *Link, t target) {
	dest := t.dest.Of(s.buf)
	l.Angle, l.TitleSpan = t.angle, s.span(t.title.Start, t.title.End)
	hash := len(dest)
	if l.External = hasScheme(dest); !l.External {
		for hash = 0; hash < len(dest) && dest[hash] != '#'; hash++ {
			if dest[hash] == '\\' {
				hash++
			}
		}
		hash = min(hash, len(dest))
	}
	at := t.dest.Start + hash
	l.TargetSpan, l.SubpathSpan = s.span(t.dest.Start, at), s.span(at, t.dest.End)
	if l.External {
		l.Target = s.text.str(unescape(dest))
		return
	}
	l.Target = s.text.str(decodePercent(unescape(dest[:hash])))
	l.Subpath = s.text.str(decodePercent(unescape(dest[hash:])))
}

// definitions reads the link reference definitions at the start of the run, and returns where they end (CommonMark 4.7).
func (s *inliner) definitions() int {
	pos := 0
	for pos < len(s.buf) {
		pos = skipBlanks(s.buf, pos)
		if pos == len(s.buf) {
			break
		}
		label := referenceLabel(s.buf, pos)
		if label < 0 || label >= len(s.buf) || s.buf[label] != ':' || s.buf[pos+1] == '^' {
			break
		}
		t, ok := definitionTarget(s.buf, skipSpace(s.buf, label+1))
		if !ok {
			break
		}
		if t.dest.Len() > 0 {
			l := Link{Form: FormDefinition, Item: none, Span: s.span(pos, trimBoth(s.buf, pos, t.end).End)}
			l.Line = s.line(l.Span.Start)
			l.Text, l.TextSpan = s.text.str(s.buf[pos+1:label-1]), s.span(pos+1, label-1)
			s.setTarget(&l, t)
			s.out.Definitions = append(s.out.Definitions, l)
		}
		pos = t.end
	}
	return pos
}
