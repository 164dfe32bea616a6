package note

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// writer writes in the style of what is around: of the mapping, and of the value that is replaced.
func (e *propertyEditor) writer(l propLevel, f *propField) yamlWriter {
	w := yamlWriter{dash: 2}
	w.quote = l.flow && len(l.fields) > 0 && e.text[l.fields[0].KeySpan.Start] == '"'
	if f != nil {
		w.dates = f.node.Kind == yaml.ScalarNode && f.node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
		if n, ok := e.dashIndent(f.Property); ok {
			w.dash = n
			return w
		}
	}
	for _, p := range e.props.List {
		if n, ok := e.dashIndent(p); ok {
			w.dash = n
			break
		}
	}
	return w
}

// dashIndent is how far the dashes of a block list are indented against their key.
func (e *propertyEditor) dashIndent(p Property) (int, bool) {
	if len(p.Items) == 0 || p.ValueSpan.Start >= len(e.text) || e.text[p.ValueSpan.Start] != '-' {
		return 0, false
	}
	start := e.lineStart(p.ValueSpan.Start)
	if start <= p.KeySpan.Start || !blankLine(e.text[start:p.ValueSpan.Start]) {
		return 0, false
	}
	n := p.ValueSpan.Start - start - len(e.indent(p.KeySpan.Start))
	return n, n >= 0
}

// source walks the note itself, for what depends on no place that the library gave.
func (e *propertyEditor) source() extents {
	return extents{&yamlReader{text: yamlText{b: e.text}}}
}

// indent is the blanks that the line of a key starts with.
func (e *propertyEditor) indent(key int) string {
	start := e.lineStart(key)
	return string(e.text[start : start+run(e.text[start:key], ' ')])
}

// blockEnd is the end of the last line of a node; the span of a block scalar can hold its line ends.
func (e *propertyEditor) blockEnd(s Span) int {
	if s.Len() > 0 && isLineEnd(e.text[s.End-1]) {
		return s.End
	}
	return e.lineAfter(s.End)
}

func (e *propertyEditor) lineStart(at int) int {
	for at > 0 && !isLineEnd(e.text[at-1]) {
		at--
	}
	return at
}

func (e *propertyEditor) lineEnd(at int) int {
	for at < len(e.text) && !isLineEnd(e.text[at]) {
		at++
	}
	return at
}

func (e *propertyEditor) lineAfter(at int) int { return skipLineEnd(e.text, e.lineEnd(at)) }

// join is lines with the same line end.
func join(lines []string, eol string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, eol) + eol
}
