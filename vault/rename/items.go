package rename

import (
	"vault-mcp/vault"
	"vault-mcp/vault/link"
	"vault-mcp/vault/note"
)

// kind is what the text of an item names.
type kind uint8

const (
	// linked is a link that is resolved as Obsidian does.
	linked kind = iota
	// exact is the whole path of a file: in a card of a canvas, in a filter.
	exact
	// folder is the whole path of a folder.
	folder
)

// item is one thing in a file that names another file or folder.
type item struct {
	// Link has its spans in the text that the item was found in: the file itself, or a string in it.
	note.Link
	kind kind
	in   literal
	// holds says that the text of the link has another one in it: a picture.
	holds bool
}

// leadsTo is the file that the item names, or of a folder its path.
func (it *item) leadsTo(x *link.Index, from string) (string, bool) {
	switch it.kind {
	case exact:
		return x.Resolve(it.Target, "", nil)
	case folder:
		return it.Target, true
	}
	return x.Resolve(from, it.Target, nil)
}

// itemsOf are all items of a file, in the order of the text but for the kinds of places.
func itemsOf(path string, text []byte) []item {
	switch vault.Kind(path) {
	case vault.Note:
		if !vault.Text(text) {
			return nil
		}
		return append(propertyItems(text), textItems(literal{value: text})...)
	case vault.Canvas:
		return canvasItems(text)
	case vault.Base:
		return baseItems(text)
	}
	return nil
}

// textItems are the links of Markdown.
func textItems(in literal) []item {
	found := note.Scan(in.value).Inline()
	items := make([]item, 0, len(found.Links)+len(found.Definitions))
	for _, list := range [][]note.Link{found.Links, found.Definitions} {
		for i, l := range list {
			if !l.External {
				holds := i+1 < len(list) && list[i+1].Span.End <= l.Span.End
				items = append(items, item{Link: l, in: in, holds: holds})
			}
		}
	}
	return items
}

// propertyItems are the links that are values of properties.
func propertyItems(text []byte) []item {
	props := note.ParseProperties(text)
	var items []item
	for _, l := range props.Links(text) {
		if l.External {
			continue
		}
		it := item{Link: l, in: literal{value: text}}
		start := l.Span.Start
		if l.TargetSpan == l.TextSpan && l.TargetSpan.End == 0 {
			// Its source has escapes in it, so that it does not stand there as it is.
			it, start = escaped(text, l), start+1
		}
		if quote := text[start-1]; quote == '"' || quote == '\'' {
			it.in.quote = quote
		}
		items = append(items, it)
	}
	return items
}

// escaped finds the parts of a link that is the whole of a quoted value. If it is none, then the item has no spans, and
// cannot be changed.
func escaped(text []byte, l note.Link) item {
	raw := l.Span.Of(text)
	if n := len(raw); n >= 2 && raw[0] == raw[n-1] && (raw[0] == '"' || raw[0] == '\'') {
		in, ok := unquote(raw[1:n-1], l.Span.Start+1, raw[0], raw[0] == '"')
		if inner := textItems(in); ok && len(inner) == 1 && inner[0].Target == l.Target && inner[0].Span.Len() == len(in.value) {
			it := inner[0]
			it.Line, it.Property, it.Item = l.Line, l.Property, l.Item
			return it
		}
	}
	return item{Link: l}
}

// literal is the string of YAML or JSON that an item stands in.
type literal struct {
	// quote is around the string: ' as in YAML, " as in both, or 0.
	quote byte
	// inner is around a string in the expression that the string is, or 0.
	inner byte
	// value is the string without escapes, or the whole file if at is nil.
	value []byte
	// at has, for each byte of value and its end, where it stands in the file.
	at []int
}

// span is the place in the file of a part of the string.
func (in *literal) span(s note.Span) note.Span {
	if in.at == nil {
		return s
	}
	return note.Span{Start: in.at[s.Start], End: in.at[s.End]}
}

// encode writes a text as a part of the string.
func (in *literal) encode(s string) string {
	if in.inner != 0 {
		s = quoted(s, in.inner)
	}
	switch in.quote {
	case '"':
		s = quoted(s, '"')
	case '\'':
		s = doubled(s)
	}
	return s
}

// unquote takes the escapes out of what stands between two quotes at an offset: those of JSON, or doubled quotes. ok is
// false for what is not read here: line ends, and escapes that JSON does not have.
func unquote(raw []byte, offset int, quote byte, backslashes bool) (in literal, ok bool) {
	in = literal{quote: quote, value: make([]byte, 0, len(raw)), at: make([]int, 0, len(raw)+1)}
	for i := 0; i < len(raw); {
		n, out := 1, raw[i:i+1]
		switch {
		case raw[i] == '\n' || raw[i] == '\r':
			return literal{}, false
		case backslashes && raw[i] == '\\':
			out, n = unescape(raw[i:], quote)
		case raw[i] != quote:
		case backslashes || i+1 == len(raw) || raw[i+1] != quote:
			n = 0
		default:
			n = 2
		}
		if n == 0 {
			return literal{}, false
		}
		for range out {
			in.at = append(in.at, offset+i)
		}
		in.value = append(in.value, out...)
		i += n
	}
	in.at = append(in.at, offset+len(raw))
	return in, true
}
