package facts

import (
	"encoding/binary"
	"encoding/json"
	"math"
)

// Version is the form that Encode writes. A blob of another is not read.
const Version = 4

// The lists of a blob, in the order in which their lengths and they themselves
// follow its head.
const (
	inAliases = iota
	inTags
	inLinks
	inHeadings
	inBlocks
	inTasks
	inProperties
	sections
)

// The bits of a link's first byte, above three bits of its form.
const (
	linkForm     = 1<<3 - 1
	linkEmbed    = 1 << 3
	linkExternal = 1 << 4
	linkSubpath  = 1 << 5
	linkText     = 1 << 6
	linkProperty = 1 << 7

	// isCard stands in place of the form.
	isCard = linkForm
)

// The kinds of values.
const (
	isNull = iota
	isFalse
	isTrue
	isInt
	isFloat
	isNumber
	isString
	isList
	isMap
)

// Append writes the note as a blob behind dst. The blob is Version, the state of
// the properties, the number of lines, the problem with its line, the length of
// each list in bytes, and the lists. Numbers are varints; lines are written as
// distances from the one before.
func (n *Note) Append(dst []byte) []byte {
	e := encoder{b: append(dst, Version, byte(n.State))}
	e.uint(n.Lines)
	e.string(n.Problem)
	if n.Problem != "" {
		e.uint(n.ProblemLine)
	}
	body := encoder{}
	var lengths [sections]int
	for i := range lengths {
		from := len(body.b)
		n.section(&body, i)
		lengths[i] = len(body.b) - from
	}
	for _, l := range lengths {
		e.uint(l)
	}
	return append(e.b, body.b...)
}

// section writes one list. An empty one takes no byte.
func (n *Note) section(e *encoder, which int) {
	switch which {
	case inAliases:
		for _, a := range n.Aliases {
			e.string(a)
		}
	case inTags:
		for i := range n.Tags {
			e.tag(&n.Tags[i])
		}
	case inLinks:
		for i := range n.Links {
			e.link(&n.Links[i])
		}
	case inHeadings:
		for _, h := range n.Headings {
			e.b = append(e.b, byte(h.Level))
			e.line(h.Line)
			e.uint(h.Lines)
			e.string(h.Text)
		}
	case inBlocks:
		for _, b := range n.Blocks {
			e.b = append(e.b, byte(b.Kind))
			e.line(b.Line)
			e.uint(b.EndLine - b.Line)
			e.string(b.ID)
		}
	case inTasks:
		for i := range n.Tasks {
			e.task(&n.Tasks[i])
		}
	case inProperties:
		for _, p := range n.Properties {
			e.string(p.Key)
			e.line(p.Line)
			e.value(p.Value)
		}
	}
	e.last = 0
}

// encoder appends to b; last is the line that was written last in this list.
type encoder struct {
	b    []byte
	last int
}

func (e *encoder) uint(n int) { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) int(n int)  { e.b = binary.AppendVarint(e.b, int64(n)) }

func (e *encoder) string(s string) {
	e.uint(len(s))
	e.b = append(e.b, s...)
}

func (e *encoder) line(line int) {
	e.int(line - e.last)
	e.last = line
}

func (e *encoder) tag(t *Tag) {
	e.string(t.Name)
	e.line(t.Line)
	e.string(t.Property)
}

func (e *encoder) link(l *Link) {
	flags := byte(l.Form) & linkForm
	if l.Card {
		flags = isCard
	}
	for _, f := range []struct {
		on  bool
		bit byte
	}{
		{l.Embed, linkEmbed}, {l.External, linkExternal}, {l.Subpath != "", linkSubpath}, {l.Text != "", linkText},
		{l.Property != "", linkProperty},
	} {
		if f.on {
			flags |= f.bit
		}
	}
	e.b = append(e.b, flags)
	e.line(l.Line)
	e.uint(l.Column)
	e.uint(l.Length)
	e.string(l.Target)
	if l.Subpath != "" {
		e.string(l.Subpath)
	}
	if l.Text != "" {
		e.string(l.Text)
	}
	if l.Property != "" {
		e.string(l.Property)
		e.int(l.Item)
	}
	if l.Card {
		e.string(l.Node)
	}
}

func (e *encoder) task(t *Task) {
	e.uint(int(t.Status))
	e.line(t.Line)
	e.uint(t.EndLine - t.Line)
	e.uint(t.Parent)
	e.uint(t.Indent)
	e.string(t.Text)
	e.string(t.ID)
	e.uint(len(t.Fields))
	for _, f := range t.Fields {
		e.b = append(e.b, byte(f.Kind))
		e.string(f.Value)
	}
}

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case bool:
		kind := byte(isFalse)
		if v {
			kind = isTrue
		}
		e.b = append(e.b, kind)
	case int64:
		e.b = append(e.b, isInt)
		e.int(int(v))
	case float64:
		e.b = binary.LittleEndian.AppendUint64(append(e.b, isFloat), math.Float64bits(v))
	case json.Number:
		e.b = append(e.b, isNumber)
		e.string(string(v))
	case string:
		e.b = append(e.b, isString)
		e.string(v)
	case []any:
		e.b = append(e.b, isList)
		e.uint(len(v))
		for _, item := range v {
			e.value(item)
		}
	case Map:
		e.b = append(e.b, isMap)
		e.uint(len(v))
		for _, m := range v {
			e.string(m.Key)
			e.value(m.Value)
		}
	default:
		e.b = append(e.b, isNull)
	}
}
