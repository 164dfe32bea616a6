package note

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// itemsOf is the value of a property as a list to edit. One text or number is its only item, as it is written.
func (e *propertyEditor) itemsOf(p *Property) ([]any, error) {
	switch v := p.Value.(type) {
	case nil:
		return nil, nil
	case []any:
		return slices.Clone(v), nil
	case *Map:
		return nil, &PropertyError{Fault: FaultShape, Key: p.Key, Line: p.Line, Reason: "the value is no list"}
	case string:
		if strings.TrimSpace(v) == "" {
			return nil, nil
		}
	}
	source := p.ValueSpan.Of(e.text)
	if bytes.ContainsAny(source, "\r\n") {
		return []any{p.Value}, nil
	}
	return []any{sourced{p.Value, string(source)}}, nil
}

// filter takes the items out of a list for which out says so, and a text for which it does.
func (e *propertyEditor) filter(key string, out func(any) bool) error {
	p, _ := e.props.Find(key)
	if _, isMap := p.Value.(*Map); isMap {
		return nil
	}
	list, err := e.itemsOf(&p)
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(list), out)
	if len(rest) == len(list) {
		return nil
	}
	return e.set([]string{p.Key}, append([]any{}, rest...))
}

// listEdit turns the items of a list that stands in the note into others.
type listEdit struct {
	*propertyEditor
	w     yamlWriter
	f     propField
	flow  bool
	old   []any
	gone  []bool // which old items go
	added []any  // what comes behind those that stay
}

// setList edits a list item by item, so that what stays is not touched. It gives up, with false, on forms in which the
// list has to be written anew.
func (e *propertyEditor) setList(l propLevel, f propField, list []any) ([]propSplice, bool) {
	old, ok := f.Value.([]any)
	if !ok || len(old) != len(f.Items) || len(f.node.Content) != len(old) {
		return nil, false
	}
	d := listEdit{propertyEditor: e, w: e.writer(l, &f), f: f, flow: f.node.Style&yaml.FlowStyle != 0, old: old}
	d.w.dates = false
	if d.flow {
		d.w.quote = d.quoted(l)
	}
	if len(old) == len(list) && len(old)*len(list) <= maxItemWork {
		if splices, ok := d.inPlace(list); ok {
			return splices, true
		}
	}
	d.compare(list)
	if d.flow {
		return d.inFlow(), true
	}
	return d.inBlock()
}

// quoted reports whether all texts of a flow list are in double quotes.
func (d *listEdit) quoted(l propLevel) bool {
	texts := 0
	for _, n := range d.f.node.Content {
		if n.Kind == yaml.ScalarNode && n.Style&yaml.DoubleQuotedStyle != 0 {
			texts++
		} else if n.Kind != yaml.ScalarNode || n.Tag == "!!str" || n.Style&quoted != 0 {
			return false
		}
	}
	return texts > 0 || l.flow && d.w.quote
}

// inPlace writes each item that differs over the old one. It gives up if an item only moves.
func (d *listEdit) inPlace(list []any) ([]propSplice, bool) {
	var out []propSplice
	for i, v := range list {
		if equalValues(d.old[i], v) {
			continue
		}
		n := d.f.node.Content[i]
		inline := n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 || n.Kind == yaml.AliasNode
		moves := slices.ContainsFunc(d.old, func(o any) bool { return equalValues(o, v) })
		if _, isMap := v.(*Map); isMap && !d.flow || !inline || moves || d.f.Items[i].Len() == 0 {
			return nil, false
		}
		w := d.w
		w.dates = n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
		out = append(out, propSplice{d.f.Items[i], w.flow(v, d.flow)})
	}
	return out, true
}

// compare finds which old items stay, in their order, before what is added.
func (d *listEdit) compare(list []any) {
	d.gone = make([]bool, len(d.old))
	at := 0
	for i, v := range list {
		k := at
		for k < len(d.old) && !equalValues(d.old[k], v) {
			k++
		}
		if k == len(d.old) {
			d.added = slices.Clone(list[i:])
			break
		}
		for ; at < k; at++ {
			d.gone[at] = true
		}
		at = k + 1
	}
	for ; at < len(d.old); at++ {
		d.gone[at] = true
	}
	if len(d.added)*len(d.old) > maxItemWork {
		return
	}
	for i, v := range d.added {
		k := slices.IndexFunc(d.old, func(o any) bool { return equalValues(o, v) })
		if k < 0 || d.f.node.Content[k].Kind != yaml.ScalarNode || d.f.node.Content[k].Anchor != "" {
			continue
		}
		if source := d.f.Items[k].Of(d.text); len(source) > 0 && !bytes.ContainsAny(source, "\r\n") {
			d.added[i] = sourced{d.old[k], string(source)}
		}
	}
}

// inBlock takes the lines of items out, and adds others in the style of the first.
func (d *listEdit) inBlock() ([]propSplice, bool) {
	dashes := d.dashes()
	if len(dashes) != len(d.old) {
		return nil, false
	}
	var out []propSplice
	end := 0
	for i, dash := range dashes {
		end = d.lineAfter(dash)
		if d.f.Items[i].Len() > 0 {
			end = d.blockEnd(d.f.Items[i])
		}
		if d.gone[i] {
			out = append(out, propSplice{Span{d.lineStart(dash), end}, ""})
		}
	}
	indent, mark := string(d.text[d.lineStart(dashes[0]):dashes[0]]), "- "
	if first := d.f.Items[0]; first.Len() > 0 && first.Start-dashes[0] <= 8 && first.Start > dashes[0] {
		if m := d.text[dashes[0]:first.Start]; strings.Trim(string(m[1:]), " ") == "" {
			mark = string(m)
		}
	}
	var lines []string
	for _, v := range d.added {
		lines = append(lines, d.w.item(v, indent, mark)...)
	}
	if lines != nil {
		out = append(out, propSplice{Span{end, end}, join(lines, lineEndAt(d.text, end))})
	}
	return out, true
}

// dashes are the places of the dashes of a block list, each the first mark in its line, or nil: all that is in an item is
// indented deeper than its dash.
func (d *listEdit) dashes() []int {
	first := d.source().skipTags(d.f.ValueSpan.Start)
	start := d.lineStart(first)
	if start <= d.f.KeySpan.Start || !blankLine(d.text[start:first]) {
		return nil
	}
	var all []int
	for at := start; at < d.f.ValueSpan.End; at = d.lineAfter(at) {
		dash := at + first - start
		if dash < d.f.ValueSpan.End && d.text[dash] == '-' && run(d.text[at:], ' ') == first-start &&
			(dash+1 == len(d.text) || isYAMLSpace(d.text[dash+1])) {
			all = append(all, dash)
		}
	}
	return all
}

// inFlow takes items out of the brackets with the commas behind or before them, and adds others.
func (d *listEdit) inFlow() []propSplice {
	open := d.source().skipTags(d.f.ValueSpan.Start)
	texts := make([]string, len(d.added))
	for i, v := range d.added {
		texts[i] = d.w.flow(v, true)
	}
	last := len(d.old) - 1
	if !slices.Contains(d.gone, false) {
		return []propSplice{{Span{open + 1, d.f.ValueSpan.End - 1}, strings.Join(texts, ", ")}}
	}
	out := d.takeOut(d.f.Items, func(i int) bool { return d.gone[i] })
	if len(texts) == 0 {
		return out
	}
	sep := d.separator(d.f.Items)
	add := strings.Join(texts, sep)
	if at := d.f.Items[last].End; !d.gone[last] || bytes.IndexByte(d.text[d.lastKept():at], '#') < 0 {
		add = sep + add
	}
	return append(out, propSplice{Span{d.f.Items[last].End, d.f.Items[last].End}, add})
}

// lastKept is where the last item that stays ends.
func (d *listEdit) lastKept() int {
	for i := len(d.gone) - 1; i >= 0; i-- {
		if !d.gone[i] {
			return d.f.Items[i].End
		}
	}
	return d.f.ValueSpan.Start
}

// takeOut removes parts of a flow collection, of which at least one stays. The comma before the last part stays if a
// comment is in the way, since YAML allows one at the end.
func (e *propertyEditor) takeOut(parts []Span, gone func(int) bool) []propSplice {
	var out []propSplice
	kept := len(parts) - 1
	for gone(kept) {
		kept--
	}
	for i := range kept {
		if gone(i) {
			out = append(out, propSplice{Span{parts[i].Start, parts[i+1].Start}, ""})
		}
	}
	if last := len(parts) - 1; kept < last {
		cut := Span{parts[kept].End, parts[last].End}
		if bytes.IndexByte(e.text[cut.Start:cut.End], '#') >= 0 {
			cut.Start = parts[kept+1].Start
		}
		out = append(out, propSplice{cut, ""})
	}
	return out
}
