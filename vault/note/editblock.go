package note

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// propertyEditor holds a text between edits of its properties.
type propertyEditor struct {
	text  []byte
	props Properties
	y     *yamlReader // of the block, once it is loaded
	root  *yaml.Node
	work  int // bytes of properties that were read for the edits so far
}

// maxEditWork bounds the bytes of properties that one call reads again, and with it the time of hostile calls: an edit is
// read back before it counts, so that many edits of many properties take time by the product.
const maxEditWork = 4 << 20

// maxItemWork bounds the comparisons of each item of one list with each of another.
const maxItemWork = 1 << 22

// propSplice is new text for a range of bytes.
type propSplice struct {
	Span
	with string
}

// propLevel is a mapping with its keys in the order of the source. Spans are in the note.
type propLevel struct {
	flow   bool
	inside Span // what is between the brackets of a flow mapping
	fields []propField
}

// propField is a key of a mapping, with the node of its value.
type propField struct {
	Property
	node *yaml.Node
}

func (e *propertyEditor) open(text []byte) error {
	e.text, e.props = text, ParseProperties(text)
	if p := e.props.Problem; p != nil {
		return &PropertyError{Fault: FaultInvalid, Line: p.Line, Reason: "the properties are no valid YAML: " + p.Reason}
	}
	return nil
}

// load parses the block, unless there is nothing in it.
func (e *propertyEditor) load() error {
	if e.root != nil || e.props.Block.Len() == 0 || blankYAML(e.props.YAML.Of(e.text)) {
		return nil
	}
	e.y = newYAML(e.props.YAML.Of(e.text))
	root, p := e.y.root()
	if p != nil {
		return &PropertyError{Fault: FaultInvalid, Line: p.Line + 1 + countLines(e.text[:e.props.YAML.Start]), Reason: "the properties are no valid YAML: " + p.Reason}
	}
	e.root = root
	return nil
}

// commit makes splices, in any order, if the text they lead to has the wanted properties and no others.
func (e *propertyEditor) commit(want *Map, splices ...propSplice) error {
	if e.work += e.props.YAML.Len(); e.work > maxEditWork {
		return &PropertyError{Fault: FaultValue, Reason: "these are too many edits of so many properties for one call"}
	}
	slices.SortStableFunc(splices, func(a, b propSplice) int { return a.Start - b.Start })
	var out []byte
	at := 0
	for _, s := range splices {
		out = append(append(out, e.text[at:s.Start]...), s.with...)
		at = s.End
	}
	out = append(out, e.text[at:]...)
	next := propertyEditor{}
	err := next.open(out)
	next.work = e.work
	if got := next.props.Map(); err != nil || !slices.Equal(got.keys, want.keys) || !equalValues(got, want) {
		return e.refusal(splices, &next)
	}
	*e = next
	return nil
}

// refusal is the error of an edit that would do more, or less, than it should.
func (e *propertyEditor) refusal(splices []propSplice, next *propertyEditor) error {
	line := 1
	if len(splices) > 0 {
		line += countLines(e.text[:splices[0].Start])
	}
	switch {
	case e.root != nil && hasAlias(e.root):
		return &PropertyError{Fault: FaultAlias, Line: line, Reason: "the edit would change or break an alias (*name) of another value"}
	case next.props.YAML.Len() > MaxPropertyBytes:
		return &PropertyError{Fault: FaultValue, Line: line, Reason: "the properties would be larger than 1 MiB"}
	}
	return &PropertyError{Fault: FaultForm, Line: line, Reason: "it is written in a form that cannot be edited without touching what is around it"}
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}

// level reads a mapping node.
func (e *propertyEditor) level(n *yaml.Node) (propLevel, error) {
	l := propLevel{flow: n.Style&yaml.FlowStyle != 0}
	x, base := extents{e.y}, e.props.YAML.Start
	e.y.aliases = maxAliasWeight
	if l.flow {
		open := x.skipTags(e.y.offset(n))
		l.inside = x.span(open+1, x.endOfFlow(open)-1).shift(base)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f := propField{node: n.Content[i+1]}
		var err *errYAML
		if f.Key, err = e.y.key(n.Content[i], 1); err == nil {
			if f.Value, err = e.y.value(f.node, 1); err == nil {
				err = x.property(&f.Property, n.Content[i], f.node, l.flow)
			}
		}
		if err != nil {
			return l, &PropertyError{Fault: FaultForm, Reason: err.reason}
		}
		f.move(base, 0)
		if n := f.node; n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&quoted == 0 && f.ValueSpan.Len() > 0 {
			f.ValueSpan.End = e.tagsEnd(f.ValueSpan.Start) // behind it is nothing of the value
		}
		l.fields = append(l.fields, f)
	}
	return l, nil
}

func (l *propLevel) find(key string) int {
	return slices.IndexFunc(l.fields, func(f propField) bool { return f.Key == key })
}

// descend finds the mapping that holds the last key of a path, or the first one on the way in which a key is missing or
// has no value; depth is the number of keys above it.
func (e *propertyEditor) descend(path []string) (l propLevel, depth int, err error) {
	n := e.root
	for ; ; depth++ {
		if l, err = e.level(n); err != nil || depth == len(path)-1 {
			return l, depth, err
		}
		i := l.find(path[depth])
		if i < 0 || l.fields[i].Value == nil {
			return l, depth, nil
		}
		switch n = l.fields[i].node; n.Kind {
		case yaml.MappingNode:
		case yaml.AliasNode:
			return l, depth, &PropertyError{Fault: FaultAlias, Key: path[depth], Line: e.line(l.fields[i]), Reason: "the value repeats another one by an alias (*name)"}
		default:
			return l, depth, &PropertyError{Fault: FaultShape, Key: path[depth], Line: e.line(l.fields[i]), Reason: "the value has no keys of its own"}
		}
	}
}

func (e *propertyEditor) line(f propField) int { return 1 + countLines(e.text[:f.KeySpan.Start]) }

// set gives what is at a path a value.
func (e *propertyEditor) set(path []string, v any) error {
	if len(path) > MaxPropertyDepth {
		return tooDeep()
	}
	for _, key := range path {
		if err := checkKey(key); err != nil {
			return err
		}
	}
	if err := e.load(); err != nil {
		return err
	}
	want := e.props.Map().withPath(path, v)
	if e.props.State != StateOK {
		return e.first(want)
	}
	l, depth, err := e.descend(path)
	if err != nil {
		return err
	}
	for i := len(path) - 1; i > depth; i-- {
		v = (&Map{}).with(path[i], v)
	}
	path = path[:depth+1]
	i := l.find(path[depth])
	if i < 0 {
		return e.commit(want, e.append(l, path[depth], v))
	}
	f := l.fields[i]
	if equalValues(f.Value, v) {
		return nil
	}
	if old, ok := f.Value.(*Map); ok && f.node.Kind == yaml.MappingNode {
		if m, ok := v.(*Map); ok && m.Len() > 0 && old.Len() > 0 && m.Len()+old.Len() <= maxPlain {
			return e.setMap(path, old, m)
		}
	}
	if list, ok := v.([]any); ok && f.node.Kind == yaml.SequenceNode && len(list) > 0 {
		if splices, ok := e.setList(l, f, list); ok && e.commit(want, splices...) == nil {
			return nil
		}
	}
	if l.flow {
		return e.commit(want, e.replaceInFlow(l, f, v))
	}
	splices, err := e.replaceInBlock(f, v)
	if err != nil {
		return err
	}
	return e.commit(want, splices...)
}

// setMap turns one mapping into another key by key, so that what is in both stays as it is written.
func (e *propertyEditor) setMap(path []string, old, m *Map) error {
	for _, k := range m.keys {
		if err := e.set(append(slices.Clone(path), k), m.values[k]); err != nil {
			return err
		}
	}
	for _, k := range old.keys {
		if _, ok := m.Get(k); !ok {
			if err := e.remove(append(slices.Clone(path), k)); err != nil {
				return err
			}
		}
	}
	return nil
}

// first writes properties where there are none.
func (e *propertyEditor) first(want *Map) error {
	w := yamlWriter{dash: 2}
	start := bomLen(e.text)
	if e.root != nil { // null
		x := extents{e.y}
		at := e.y.offset(e.root)
		end, err := x.end(e.root, at, -1)
		if err != nil {
			return &PropertyError{Fault: FaultForm, Reason: err.reason}
		}
		eol := lineEndAt(e.text, e.props.YAML.Start)
		return e.commit(want, propSplice{x.span(at, end).shift(e.props.YAML.Start), strings.Join(w.fields(want, ""), eol)})
	}
	if e.props.Block.Len() > 0 {
		return e.commit(want, propSplice{Span{e.props.YAML.End, e.props.YAML.End}, join(w.fields(want, ""), lineEndAt(e.text, e.props.YAML.Start))})
	}
	eol := lineEndAt(e.text, 0)
	return e.commit(want, propSplice{Span{start, start}, "---" + eol + join(w.fields(want, ""), eol) + "---" + eol})
}

// append writes a new key behind the others of its mapping.
func (e *propertyEditor) append(l propLevel, key string, v any) propSplice {
	w := e.writer(l, nil)
	if l.flow {
		part := w.flowField(key, v)
		if len(l.fields) == 0 {
			return propSplice{l.inside, part}
		}
		parts := make([]Span, len(l.fields))
		for i, f := range l.fields {
			parts[i] = f.span()
		}
		return propSplice{Span{parts[len(parts)-1].End, parts[len(parts)-1].End}, e.separator(parts) + part}
	}
	last := l.fields[len(l.fields)-1]
	at := e.blockEnd(last.span())
	if l.fields[0].KeySpan.Start == e.props.List[0].KeySpan.Start {
		at = e.props.YAML.End // below comments at the end of the block
	}
	return propSplice{Span{at, at}, join(w.field(key, v, e.indent(l.fields[0].KeySpan.Start)), lineEndAt(e.text, at))}
}

// span is the key with its value.
func (f *propField) span() Span { return Span{f.KeySpan.Start, max(f.KeySpan.End, f.ValueSpan.End)} }

// separator is what stands between the last two parts of a flow collection, if a new part can be set off in the same way.
func (e *propertyEditor) separator(parts []Span) string {
	last := len(parts) - 1
	if last > 0 && parts[last-1].End <= parts[last].Start {
		sep := string(e.text[parts[last-1].End:parts[last].Start])
		if strings.Trim(sep, " \t\r\n") == "," {
			return sep
		}
		return ", "
	}
	start := e.lineStart(parts[last].Start)
	if last == 0 && start > 0 && blankLine(e.text[start:parts[0].Start]) && parts[0].Start > start {
		return "," + lineEndAt(e.text, start) + string(e.text[start:parts[0].Start])
	}
	return ", "
}

// replaceInFlow writes another value of a key in a flow mapping.
func (e *propertyEditor) replaceInFlow(l propLevel, f propField, v any) propSplice {
	s := e.writer(l, &f).flow(v, true)
	if f.ValueSpan.Len() == 0 {
		s = " " + s
		if f.ValueSpan.Start == f.KeySpan.End {
			s = ":" + s
		}
	}
	return propSplice{f.ValueSpan, s}
}

// replaceInBlock writes another value of a key in a block mapping: what stands behind the colon, and the lines below.
func (e *propertyEditor) replaceInBlock(f propField, v any) ([]propSplice, error) {
	x, old := e.source(), f.ValueSpan
	colon := x.space(f.KeySpan.End)
	if colon >= len(e.text) || e.text[colon] != ':' {
		return nil, &PropertyError{Fault: FaultForm, Line: e.line(f), Key: f.Key, Reason: "the key has no colon"}
	}
	after := colon + 1
	next := e.lineAfter(after)
	eol := lineEndAt(e.text, next)
	w := e.writer(propLevel{}, &f).block(v, e.indent(f.KeySpan.Start))
	head, tail := old, Span{}
	collection := f.node.Kind != yaml.ScalarNode && f.node.Kind != yaml.AliasNode && f.node.Style&yaml.FlowStyle == 0
	literal := f.node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch later := old.Start >= next; {
	case old.Len() == 0:
		head, tail = Span{after, after}, Span{next, next}
	case later && !collection && !literal && w.head != "" && w.tail == nil:
		return []propSplice{{old, w.head}}, nil
	case later:
		if s, ok := v.(string); ok && w.tail != nil { // comments before the old value would become text of a block scalar
			w = written{head: quoteDouble(s)}
		}
		head, tail = Span{after, after}, Span{e.lineStart(old.Start), e.blockEnd(old)}
	case literal:
		at := x.skipTags(old.Start)
		for at < len(e.text) && !isYAMLSpace(e.text[at]) {
			at++
		}
		head, tail = Span{old.Start, at}, Span{next, e.blockEnd(old)}
	case collection:
		first := x.skipTags(old.Start)
		if first < next {
			return nil, &PropertyError{Fault: FaultForm, Line: e.line(f), Key: f.Key, Reason: "the value starts in the line of its key"}
		}
		head, tail = Span{old.Start, e.tagsEnd(old.Start)}, Span{e.lineStart(first), e.blockEnd(old)}
	default:
		tail = Span{e.lineAfter(old.End), e.lineAfter(old.End)}
	}
	tail.End = max(tail.End, tail.Start)
	out := []propSplice{{tail, join(w.tail, eol)}}
	switch {
	case w.head == "":
		return append(out, propSplice{Span{after, head.End}, ""}), nil
	case head.Len() == 0:
		if rest := e.lineEnd(after); blankLine(e.text[after:rest]) {
			head.End = rest
		}
		return append(out, propSplice{head, " " + w.head}), nil
	}
	return append(out, propSplice{head, w.head}), nil
}

// tagsEnd is the end of the anchors and tags in a line.
func (e *propertyEditor) tagsEnd(at int) int {
	end := at
	for at < len(e.text) && (e.text[at] == '&' || e.text[at] == '!') {
		for at < len(e.text) && !isYAMLSpace(e.text[at]) {
			at++
		}
		end, at = at, trimBlanks(e.text, at)
	}
	return end
}
