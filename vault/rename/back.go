package rename

import (
	"bytes"
	"cmp"
	"slices"

	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

// Rememberer is a Vault that remembers earlier changes. A name that is given back
// then gives links back as their authors wrote them: in another case, for
// example, which no link shows any more.
type Rememberer interface {
	Vault
	// Back is nil unless the moves are just the way back of an earlier change. It
	// tells what a file held before that change, if the change left it this text.
	Back(moves []Move) func(path string, text []byte) (before []byte, ok bool)
}

// asWritten is what a file held before the change that is taken back, if that
// says the same as the text that is about to be written: the same links lead to
// the same files, and all else is equal. Otherwise it is that text.
func (w *world) asWritten(f *file, text []byte) []byte {
	if w.back == nil {
		return text
	}
	before, ok := w.back(f.path, f.text)
	if !ok || bytes.Equal(before, text) || !w.saysTheSame(f.to, before, text) {
		return text
	}
	return before
}

func (w *world) saysTheSame(path string, a, b []byte) bool {
	if vault.Kind(path) == vault.Note && note.ParseProperties(a).State != note.ParseProperties(b).State {
		return false
	}
	as, bs := itemsOf(path, a), itemsOf(path, b)
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		x, y := &as[i], &bs[i]
		to, ok := x.leadsTo(w.after, path)
		other, ok2 := y.leadsTo(w.after, path)
		if ok != ok2 || to != other || !ok && x.Target != y.Target || x.kind != y.kind || x.Embed != y.Embed || x.Form != y.Form ||
			x.Property != y.Property || note.FoldHeading(x.Subpath) != note.FoldHeading(y.Subpath) {
			return false
		}
	}
	return bytes.Equal(around(a, as), around(b, bs))
}

// around is a text without its links.
func around(text []byte, items []item) []byte {
	spans := make([]note.Span, len(items))
	for i := range items {
		spans[i] = items[i].in.span(items[i].Span)
	}
	slices.SortFunc(spans, func(a, b note.Span) int { return cmp.Compare(a.Start, b.Start) })
	out, at := make([]byte, 0, len(text)), 0
	for _, s := range spans {
		if s.Start < at {
			continue // a picture in a link
		}
		out = append(append(out, text[at:s.Start]...), 0)
		at = s.End
	}
	return append(out, text[at:]...)
}
