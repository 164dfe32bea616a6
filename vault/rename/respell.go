package rename

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"vault-mcp/vault"
	"vault-mcp/vault/link"
	"vault-mcp/vault/note"
)

// goal is what is to become of an item.
type goal struct {
	// change is set if the item is to be respelled. If not, nothing else is set.
	change bool
	// before and after are what it leads to in the text as it is, and what it is to lead to in the new one.
	before, after string
	// subpath is its sub-path in the new text, if none of subpaths is set.
	subpath string
	// subpaths are sub-paths of which one is to be written, the best first.
	subpaths []string
}

// variant is one way to write an item.
type variant struct {
	edits []edit
	// form, target, subpath and text are what is read back.
	form          note.LinkForm
	subpath, text string
}

// edit replaces a part of a file.
type edit struct {
	note.Span
	text string
}

// file is a file whose items are respelled.
type file struct {
	path, to string // before and after
	text     []byte
	// more are other changes of the text, made in any case. They must not change how many items there are, but for those in
	// their spans.
	more []edit
}

// respelled is what became of a file.
type respelled struct {
	text  []byte
	links int
	left  []Place
}

// respell gives each item the goal that it asks for. It reads the new text back: if an item is not as it should be, then
// the next way to write it is tried, until there is none, and the item is left as it is and named.
func (f *file) respell(w *world, goals func(*item) goal) (respelled, error) {
	items := slices.DeleteFunc(itemsOf(f.path, f.text), func(it item) bool {
		at := it.in.span(it.Span)
		return slices.ContainsFunc(f.more, func(e edit) bool { return at.Start < e.End && e.Start < at.End })
	})
	r := &revision{file: f, world: w, items: items, goals: make([]goal, len(items)), ways: make([][]variant, len(items))}
	for i := range items {
		if r.goals[i] = goals(&items[i]); r.goals[i].change {
			r.ways[i] = w.variants(f.to, &items[i], r.goals[i])
		}
	}
	for {
		edits := r.edits()
		text := apply(f.text, edits)
		i := r.wrong(text)
		if i < 0 {
			out := respelled{text: text}
			for i := range items {
				switch {
				case len(r.ways[i]) > 0:
					out.links++
				case r.goals[i].change:
					out.left = append(out.left, f.place(&items[i]))
				}
			}
			if !keeps(f.text, text, edits) {
				return respelled{}, broken(f.to, "bytes outside of links differ")
			}
			return out, nil
		}
		if i = r.suspect(i); i < 0 {
			if len(f.more) > 0 {
				return respelled{}, errSpoils
			}
			return respelled{}, broken(f.to, "an item differs though nothing at it was changed")
		}
		r.ways[i] = r.ways[i][1:]
	}
}

func (f *file) place(it *item) Place {
	p := Place{Path: f.to, Target: it.Target}
	if vault.Kind(f.path) == vault.Note {
		p.Line = it.Line
	}
	return p
}

// errSpoils says that the other changes of a text make other links of it.
var errSpoils = errors.New("the change makes other links of the text around it")

// revision is a file with what is to become of its items. Of ways the first is chosen.
type revision struct {
	*file
	world *world
	items []item
	goals []goal
	ways  [][]variant
}

func (r *revision) edits() []edit {
	edits := slices.Clone(r.more)
	for _, ways := range r.ways {
		if len(ways) > 0 {
			edits = append(edits, ways[0].edits...)
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.Start - b.Start })
	return edits
}

// wrong is the first item that is not as it should be when the new text is read, or -1.
func (r *revision) wrong(text []byte) int {
	if bytes.Equal(text, r.text) {
		return -1
	}
	if s := note.ParseProperties(r.text).State; vault.Kind(r.path) == vault.Note && note.ParseProperties(text).State != s {
		return 0
	}
	now := itemsOf(r.to, text)
	if len(r.more) > 0 {
		now = r.without(now)
	}
	for i := range r.items {
		if i >= len(now) || !r.right(i, &now[i]) {
			return i
		}
	}
	if len(now) > len(r.items) {
		return len(r.items) - 1
	}
	return -1
}

// without leaves out items in what the other changes have written.
func (r *revision) without(now []item) []item {
	edits := r.edits()
	return slices.DeleteFunc(now, func(it item) bool {
		at := it.in.span(it.Span)
		shift := 0
		for _, e := range edits {
			start := e.Start + shift
			shift += len(e.text) - e.Len()
			if at.Start < start+len(e.text) && start < at.End && slices.Contains(r.more, e) {
				return true
			}
		}
		return false
	})
}

func (r *revision) right(i int, now *item) bool {
	was, goal := &r.items[i], r.goals[i]
	if now.kind != was.kind || now.Embed != was.Embed || now.Property != was.Property {
		return false
	}
	if len(r.ways[i]) == 0 {
		return now.Form == was.Form && now.Target == was.Target && now.Subpath == was.Subpath && (now.Text == was.Text || was.holds)
	}
	way := &r.ways[i][0]
	to, ok := now.leadsTo(r.world.after, r.to)
	return ok && to == goal.after && now.Form == way.form && now.Subpath == way.subpath && (now.Text == way.text || was.holds)
}

// suspect is the item nearest to a wrong one, itself and those before it first, that is respelled, or -1.
func (r *revision) suspect(i int) int {
	for j := i; j >= 0; j-- {
		if len(r.ways[j]) > 0 {
			return j
		}
	}
	for j := max(i, 0); j < len(r.ways); j++ {
		if len(r.ways[j]) > 0 {
			return j
		}
	}
	return -1
}

// apply makes edits, which are in order and do not overlap.
func apply(text []byte, edits []edit) []byte {
	size := len(text)
	for _, e := range edits {
		size += len(e.text) - e.Len()
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.Start]...), e.text...)
		at = e.End
	}
	return append(out, text[at:]...)
}

// keeps reports whether two texts have the same bytes outside of the edits.
func keeps(was, is []byte, edits []edit) bool {
	at := 0
	for _, e := range edits {
		n := e.Start - at
		if n < 0 || len(is) < n+len(e.text) || !bytes.Equal(is[:n], was[at:e.Start]) {
			return false
		}
		is, at = is[n+len(e.text):], e.End
	}
	return bytes.Equal(is, was[at:])
}

// variants are the ways to write an item for its goal, the best first.
func (w *world) variants(from string, it *item, g goal) []variant {
	if it.Span.Len() > 0 && it.TargetSpan.End == 0 && it.SubpathSpan.End == 0 {
		return nil // its parts are not known
	}
	var ways []variant
	paths := []string{it.Target}
	if g.before != g.after || g.subpaths == nil {
		paths = w.paths(from, it, g)
	}
	subpaths := g.subpaths
	if subpaths == nil {
		subpaths = []string{g.subpath}
	}
	text, renamed := shown(it, g)
	for _, path := range paths {
		for _, sub := range subpaths {
			if renamed {
				ways = append(ways, it.variant(path, sub, text))
			}
			ways = append(ways, it.variant(path, sub, it.Text))
		}
	}
	if it.Form == note.FormWiki && it.kind == linked && it.in.inner == 0 && !it.TableEscape && len(subpaths) > 0 {
		ways = append(ways, w.asMarkdown(from, it, g, subpaths[0], text)...)
	}
	return slices.DeleteFunc(ways, func(v variant) bool { return v.edits == nil })
}

// paths are the spellings of what an item is to lead to.
func (w *world) paths(from string, it *item, g goal) []string {
	if it.kind != linked {
		return []string{g.after}
	}
	return w.after.Respell(from, it.Target, g.before, g.after, w.format)
}

// shown is the text that an item shows afterwards: one that repeats the name of the file follows it.
func shown(it *item, g goal) (text string, renamed bool) {
	if it.Text == "" || it.holds || it.Form == note.FormDefinition || it.kind != linked || it.Embed && it.Width > 0 {
		return it.Text, false
	}
	was, is := name(g.before), name(g.after)
	switch {
	case was == is:
	case it.Text == was:
		return is, true
	case it.Text == stem(was):
		return stem(is), stem(was) != stem(is)
	}
	return it.Text, false
}

func name(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// stem is a name without its extension.
func stem(name string) string {
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}

// variant writes an item with another target. It has no edits if its form cannot say it.
func (it *item) variant(path, subpath, text string) variant {
	v := variant{form: it.Form, subpath: subpath, text: text}
	encode := func(s string) string { return s }
	switch {
	case it.kind != linked:
	case it.Form == note.FormWiki:
		inner := path + subpath
		if text != "" {
			inner += "|" + text
		}
		if l, ok := link.ParseWiki(inner); !ok || l.Path != path || l.Subpath != subpath || l.Text != text {
			return v
		}
	default:
		if l, ok := link.Parse("[" + text + "](x)"); text != it.Text && (!ok || l.Text != text) {
			return v
		}
		written := it.written(it.TargetSpan) + it.written(it.SubpathSpan)
		encode = link.DestinationLike(written, it.Angle).Encode
	}
	v.replace(it, it.TargetSpan, path != it.Target, encode(path))
	v.replace(it, it.SubpathSpan, subpath != it.Subpath, encode(subpath))
	v.replace(it, it.TextSpan, text != it.Text, text)
	return v
}

func (v *variant) replace(it *item, at note.Span, differs bool, text string) {
	if differs {
		v.edits = append(v.edits, edit{it.in.span(at), it.in.encode(text)})
	}
}

// written is a part of the text that the item was found in.
func (it *item) written(s note.Span) string { return string(s.Of(it.in.value)) }

// asMarkdown is for files that no wikilink can name, as one with [[ in its name.
func (w *world) asMarkdown(from string, it *item, g goal, subpath, text string) []variant {
	markup, ok := w.after.Text(from, g.after, link.Options{
		Format: w.format, Markdown: true, Embed: it.Embed, Text: text, Subpath: subpath,
	})
	l, isLink := link.Parse(markup)
	if !ok || !isLink {
		return nil
	}
	return []variant{{
		edits: []edit{{it.in.span(it.Span), it.in.encode(markup)}},
		form:  note.FormMarkdown, subpath: l.Subpath, text: l.Text,
	}}
}
