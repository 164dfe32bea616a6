package note

import (
	"bytes"
	"strings"
)

// Aliases are the other names of the note: the property aliases, a list or one string (help page Linking notes and
// files/Aliases). Case of the key does not count; alias has been dead since release 1.9.
func (p *Properties) Aliases() []string {
	prop, _ := p.Find("aliases")
	var names []string
	prop.strings(func(s string, _ Span) {
		if s = strings.TrimSpace(s); s != "" {
			names = append(names, s)
		}
	})
	return names
}

// Tags are the tags of the property tags, a list or one string, each with or without #. What could not stand behind a # in
// the text is no tag: a string with blanks or commas, a number.
func (p *Properties) Tags() []Tag {
	prop, _ := p.Find("tags")
	var tags []Tag
	prop.strings(func(s string, at Span) {
		name := strings.TrimPrefix(strings.TrimSpace(s), "#")
		if b := []byte(name); tagEnd(b, 0) == len(b) && isTag(b) {
			tags = append(tags, Tag{Name: name, Line: prop.Line, Span: at, Property: prop.Key})
		}
	})
	return tags
}

// strings calls f for the strings that a property has as its value or as items of it, with their source.
func (p *Property) strings(f func(s string, at Span)) {
	switch v := p.Value.(type) {
	case string:
		f(v, p.ValueSpan)
	case []any:
		for i, item := range v {
			at := p.ValueSpan
			if i < len(p.Items) { // the items of an alias, *name, stand elsewhere
				at = p.Items[i]
			}
			if s, ok := item.(string); ok {
				f(s, at)
			}
		}
	}
}

// Links are the links that are values of properties: a text, or an item of a list, that is one wikilink or Markdown link
// and nothing else (release notes 1.4.4 and 1.11). Values in nested mappings count too. text is the note. If the source of a
// value is written with escapes, then only Span is set, to the whole property value or item, and the link cannot be
// edited in its place.
func (p *Properties) Links(text []byte) []Link {
	r := propertyLinks{text: text}
	for i := range p.List {
		prop := &p.List[i]
		r.prop, r.at, r.lost = prop, prop.ValueSpan.Start, none-1
		r.line, r.counted = prop.Line, prop.KeySpan.Start
		r.value(prop.Value, none)
	}
	return r.links
}

// propertyLinks walks the values of properties. It finds each link in the source behind the one before.
type propertyLinks struct {
	text    []byte
	prop    *Property
	at      int // the search goes on here
	lost    int // the item, or none for the whole value, in which a search was in vain, so that no other is made there
	line    int // the line of
	counted int // this offset
	scan    *inliner
	links   []Link
}

func (r *propertyLinks) value(v any, item int) {
	switch v := v.(type) {
	case string:
		r.link(v, item)
	case []any:
		for i, c := range v {
			if item == none {
				r.value(c, i)
			} else {
				r.value(c, item)
			}
		}
	case *Map:
		for _, k := range v.keys {
			r.value(v.values[k], item)
		}
	}
}

func (r *propertyLinks) link(value string, item int) {
	if len(value) < 4 || value[0] != '[' && value[0] != '!' {
		return
	}
	l, ok := r.parse(value)
	if !ok {
		return
	}
	l.Property, l.Item = r.prop.Key, item
	whole, within := r.prop.ValueSpan, none
	if item >= 0 && item < len(r.prop.Items) {
		whole, within = r.prop.Items[item], item
	}
	r.at = max(r.at, whole.Start)
	k := -1
	if r.lost != within && r.at < whole.End {
		k = bytes.Index(r.text[r.at:whole.End], []byte(value))
	}
	if k < 0 {
		r.lost = within
		l.Span, l.TargetSpan, l.SubpathSpan, l.TextSpan, l.TitleSpan = whole, Span{}, Span{}, Span{}, Span{}
	} else {
		k += r.at
		r.at = k + len(value)
		for _, span := range []*Span{&l.Span, &l.TargetSpan, &l.SubpathSpan, &l.TextSpan, &l.TitleSpan} {
			*span = span.shift(k)
		}
	}
	if l.Span.Start > r.counted {
		r.line += countLines(r.text[r.counted:l.Span.Start])
		r.counted = l.Span.Start
	}
	l.Line = r.line
	r.links = append(r.links, l)
}

// parse reads a value that is one link and nothing else.
func (r *propertyLinks) parse(value string) (Link, bool) {
	if r.scan == nil {
		r.scan = &inliner{note: &Note{lines: make([]line, 1)}, out: &Inline{}}
	}
	s := r.scan
	s.src, s.out.Links = []byte(value), nil
	s.open(0, 0, 0, len(value))
	s.run(0)
	if len(s.out.Links) == 0 || s.out.Links[0].Span != (Span{0, len(value)}) {
		return Link{}, false
	}
	return s.out.Links[0], true
}
