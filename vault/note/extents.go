package note

import (
	"bytes"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// extents finds where nodes end. The library tells only where they start; the text has been parsed without an error, so
// that each node can be walked by its kind. It also refuses what the library is too mild about.
type extents struct{ *yamlReader }

// property fills in the spans of a property of the root mapping.
func (x extents) property(p *Property, k, v *yaml.Node, flow bool) *errYAML {
	parent := -1 // a flow mapping at the root may be indented in any way
	keyAt := x.offset(k)
	if !flow {
		parent = x.indent(keyAt)
	}
	keyEnd, err := x.end(k, keyAt, parent)
	if err != nil {
		return err
	}
	colon := x.space(keyEnd)
	valueAt, valueEnd := keyEnd, keyEnd
	if colon < len(x.text.b) && x.text.b[colon] == ':' {
		valueAt, valueEnd = colon+1, colon+1
	}
	if !missing(v) {
		valueAt = x.offset(v)
		if valueEnd, err = x.end(v, valueAt, parent); err != nil {
			return err
		}
	}
	p.KeySpan, p.ValueSpan = x.span(keyAt, keyEnd), x.span(valueAt, valueEnd)
	if v.Kind == yaml.SequenceNode {
		p.Items, err = x.items(v, parent)
	}
	return err
}

func (x extents) items(v *yaml.Node, parent int) ([]Span, *errYAML) {
	items := make([]Span, 0, len(v.Content))
	for _, c := range v.Content {
		at := x.offset(c)
		end, err := x.end(c, at, parent)
		if err != nil {
			return nil, err
		}
		items = append(items, x.span(at, end))
	}
	return items, nil
}

func (x extents) span(start, end int) Span {
	return Span{x.text.source(start), x.text.source(max(start, end))}
}

// missing reports whether nothing is written for the value.
func missing(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style&quoted == 0 && n.Style&yaml.TaggedStyle == 0 && n.Value == "" &&
		n.Anchor == ""
}

// end is where a node that starts at an offset ends. parent is the column of the block collection around it: further
// lines of the node must be indented deeper.
func (x extents) end(n *yaml.Node, at, parent int) (int, *errYAML) {
	if n.Kind == yaml.AliasNode {
		return at + 1 + len(n.Value), nil
	}
	if missing(n) {
		return at, nil
	}
	flow := n.Style&yaml.FlowStyle != 0
	if n.Kind != yaml.ScalarNode && !flow {
		return x.endOfBlock(n, at)
	}
	start := x.skipTags(at)
	var end int
	switch {
	case flow && x.text.b[start] != '[' && x.text.b[start] != '{':
		return x.endOfPair(n, start, parent)
	case flow:
		end = x.endOfFlow(start)
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		end = x.endOfQuoted(start)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return x.endOfLiteral(start, n.Value), nil
	default:
		return x.endOfPlain(start, n.Value), nil
	}
	if end < len(x.text.b) && x.text.b[end] == '#' {
		return 0, &errYAML{end, "a blank is missing before the comment"}
	}
	return end, x.checkIndent(start, end, parent, flow)
}

// endOfBlock: a block collection ends where its last node ends.
func (x extents) endOfBlock(n *yaml.Node, at int) (int, *errYAML) {
	if len(n.Content) == 0 {
		return at, nil
	}
	end, parent := at, x.column(n)
	for _, c := range n.Content {
		start := x.offset(c)
		e, err := x.end(c, start, parent)
		if err != nil {
			return 0, err
		}
		end = max(end, e)
	}
	return end, nil
}

// endOfPair: a mapping of one key without braces, as an item of a flow list.
func (x extents) endOfPair(n *yaml.Node, at, parent int) (int, *errYAML) {
	if len(n.Content) != 2 {
		return at, nil
	}
	k, v := n.Content[0], n.Content[1]
	if !missing(v) {
		return x.end(v, x.offset(v), parent)
	}
	end, err := x.end(k, x.offset(k), parent)
	if colon := x.space(end); err == nil && colon < len(x.text.b) && x.text.b[colon] == ':' {
		end = colon + 1
	}
	return end, err
}

// column is the column of the children of a block collection, or -1 if it cannot be told.
func (x extents) column(n *yaml.Node) int {
	if n.Kind == yaml.MappingNode {
		return x.indent(x.offset(n.Content[0]))
	}
	if dash := x.offset(n); x.text.b[dash] == '-' {
		return x.indent(dash)
	}
	return -1
}

// skipTags moves over anchors and tags, and the space behind them.
func (x extents) skipTags(at int) int {
	b := x.text.b
	for at < len(b) && (b[at] == '&' || b[at] == '!') {
		for at < len(b) && !isYAMLSpace(b[at]) && b[at] != ',' && b[at] != '[' && b[at] != '{' {
			at++
		}
		at = x.space(at)
	}
	return at
}

// space moves over white space, line ends and comments.
func (x extents) space(at int) int {
	b := x.text.b
	for at < len(b) {
		switch {
		case isYAMLSpace(b[at]):
			at++
		case b[at] == '#' && at > 0 && isYAMLSpace(b[at-1]):
			for at < len(b) && b[at] != '\n' && b[at] != '\r' {
				at++
			}
		default:
			return at
		}
	}
	return at
}

func isYAMLSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (x extents) endOfQuoted(at int) int {
	b := x.text.b
	q := b[at]
	for at++; at < len(b); at++ {
		switch {
		case b[at] == '\\' && q == '"':
			if at++; at < len(b) && b[at] == '\'' {
				x.badEscape = at
			}
		case b[at] == q && q == '\'' && at+1 < len(b) && b[at+1] == q:
			at++
		case b[at] == q:
			return at + 1
		}
	}
	return len(b)
}

// endOfPlain follows a plain scalar through the text: it has no escapes, so that only white space differs from its value.
func (x extents) endOfPlain(at int, value string) int {
	b, end := x.text.b, at
	for _, r := range value {
		if r < utf8.RuneSelf && isYAMLSpace(byte(r)) {
			continue
		}
		for at < len(b) && isYAMLSpace(b[at]) {
			at++
		}
		at += utf8.RuneLen(r)
		end = min(at, len(b))
	}
	return end
}

// endOfLiteral: behind the last character of a block scalar as many line ends belong to it as its value ends with.
func (x extents) endOfLiteral(at int, value string) int {
	b := x.text.b
	for at < len(b) && b[at] != '\n' && b[at] != '\r' {
		at++
	}
	end := x.endOfPlain(at, value)
	tail := 0
	for i := len(value) - 1; i >= 0 && isYAMLSpace(value[i]); i-- {
		if value[i] == '\n' {
			tail++
		}
	}
	if tail == 0 {
		return trimBlanks(b, end)
	}
	br := breaks{lf: -1, cr: -1}
	for ; tail > 0 && end < len(b); tail-- {
		_, end = br.next(b, end)
	}
	return end
}

func trimBlanks(b []byte, at int) int {
	for at < len(b) && isBlank(b[at]) {
		at++
	}
	return at
}

// endOfFlow walks a flow collection to its closing bracket. A quote opens a string only where a value can start.
func (x extents) endOfFlow(at int) int {
	b, depth, fresh := x.text.b, 0, true
	for at < len(b) {
		switch c := b[at]; {
		case c == '[' || c == '{':
			depth++
			at, fresh = at+1, true
		case c == ']' || c == '}':
			at, fresh = at+1, true
			if depth--; depth == 0 {
				return at
			}
		case c == ',':
			at, fresh = at+1, true
		case isYAMLSpace(c):
			at = x.space(at)
		case fresh && (c == '"' || c == '\''):
			at = x.endOfQuoted(at)
		case fresh && (c == '&' || c == '!'):
			at = x.skipTags(at)
		case c == ':' && (fresh || at+1 == len(b) || isYAMLSpace(b[at+1]) || bytes.IndexByte([]byte(",[]{}"), b[at+1]) >= 0):
			at, fresh = at+1, true
		default:
			at, fresh = at+1, false
		}
	}
	return len(b)
}

// checkIndent refuses further lines of a value that are not indented deeper than its key, which YAML 1.2 asks for (6.1)
// and the library does not. A closing bracket may stand below the key, as the app allows.
func (x extents) checkIndent(start, end, parent int, flow bool) *errYAML {
	b := x.text.b
	br := breaks{lf: -1, cr: -1}
	for _, pos := br.next(b, start); pos < end; {
		eol, after := br.next(b, pos)
		line := b[pos:eol]
		n := run(line, ' ')
		if n <= parent && !blankLine(line) && !(flow && (line[n] == ']' || line[n] == '}' || line[n] == '#')) {
			return &errYAML{pos, "the line must be indented deeper than its key"}
		}
		pos = after
	}
	return nil
}
