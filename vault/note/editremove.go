package note

import (
	"bytes"
	"slices"
	"strings"
)

// remove takes away what is at a path.
func (e *propertyEditor) remove(path []string) error {
	if e.props.State != StateOK {
		return nil
	}
	if err := e.load(); err != nil {
		return err
	}
	l, depth, err := e.descend(path)
	if err, ok := err.(*PropertyError); ok && err.Fault == FaultShape {
		return nil
	}
	if err != nil {
		return err
	}
	i := -1
	if depth == len(path)-1 {
		i = l.find(path[depth])
	}
	if i < 0 {
		return nil
	}
	want := e.props.Map().withoutPath(path)
	switch f := l.fields[i]; {
	case len(l.fields) > 1 && l.flow:
		parts := make([]Span, len(l.fields))
		for k := range l.fields {
			parts[k] = l.fields[k].span()
		}
		return e.commit(want, e.takeOut(parts, func(k int) bool { return k == i })...)
	case len(l.fields) > 1:
		lines, err := e.linesOf(f)
		if err != nil {
			return err
		}
		return e.commit(want, propSplice{lines, ""})
	case depth > 0:
		return e.set(path[:depth], &Map{})
	default:
		return e.removeLast(l, want)
	}
}

// linesOf is the lines of a key of a block mapping with its value.
func (e *propertyEditor) linesOf(f propField) (Span, error) {
	start := e.lineStart(f.KeySpan.Start)
	if before := bytes.TrimLeft(e.text[start:f.KeySpan.Start], " "); len(before) > 0 && before[0] != '?' {
		return Span{}, &PropertyError{Fault: FaultForm, Line: e.line(f), Key: f.Key, Reason: "the key does not start its line"}
	}
	return Span{start, e.blockEnd(f.span())}, nil
}

// removeLast takes the only property away. A block that holds nothing else then, not even a comment, goes with it, unless
// what follows would be read as properties.
func (e *propertyEditor) removeLast(l propLevel, want *Map) error {
	cut := Span{}
	var err error
	if l.flow {
		cut = Span{e.lineStart(l.inside.Start - 1), e.lineAfter(l.inside.End + 1)}
	} else if cut, err = e.linesOf(l.fields[0]); err != nil {
		return err
	}
	yaml := e.props.YAML
	rest := slices.Concat(e.text[yaml.Start:cut.Start], e.text[cut.End:yaml.End])
	if len(bytes.Trim(rest, " \t\r\n")) == 0 {
		block := e.props.Block
		without := slices.Concat(e.text[:block.Start], e.text[block.End:])
		if ParseProperties(without).State == StateNone {
			return e.commit(want, propSplice{block, ""})
		}
	}
	return e.commit(want, propSplice{cut, ""})
}

// rename gives a key another name in its place.
func (e *propertyEditor) rename(key, to string) error {
	p, ok := e.props.Find(key)
	if !ok || p.Key == to {
		return nil
	}
	if err := checkKey(to); err != nil {
		return named(err, to)
	}
	want := &Map{}
	for _, q := range e.props.List {
		switch {
		case q.Key == p.Key:
			want.add(to, q.Value)
		case strings.EqualFold(q.Key, to):
			return &PropertyError{Fault: FaultTaken, Line: q.Line, Key: q.Key, Reason: "there is a property of that name"}
		default:
			want.add(q.Key, q.Value)
		}
	}
	if err := e.load(); err != nil {
		return err
	}
	l, err := e.level(e.root)
	if err != nil {
		return err
	}
	return e.commit(want, propSplice{p.KeySpan, e.writer(l, nil).key(to, l.flow)})
}
