package acl

import (
	"context"
	"errors"

	"vault-mcp/cache/index"
	"vault-mcp/vault/link"
)

// Sees reports whether a path's content may be used in an answer about many
// notes.
func (w *View) Sees(path string) bool {
	if w.rules.Len() == 0 {
		return true
	}
	v := w.verb(path)
	return v == Allow || v == Ask && w.asks.opens(path)
}

// verb is what the rules say about reading a path. It is remembered: a query
// over all links asks for each note many times.
func (w *View) verb(path string) Verb {
	if v, ok := w.verbs.Load(path); ok {
		return v.(Verb)
	}
	v := w.rules.Judge(Read, path).Verb
	if w.judged.Add(1) > maxJudged { // paths that are long gone would stay for ever
		w.judged.Store(0)
		w.verbs.Clear()
	}
	w.verbs.Store(path, v)
	return v
}

// maxJudged is how many verdicts are remembered.
const maxJudged = 500_000

// Knows reports whether a path may be named in an answer about many notes.
func (w *View) Knows(path string) bool {
	if w.rules.Len() == 0 {
		return true
	}
	v := w.verb(path)
	return notHidden(v) || v == Ask && w.asks.opens(path)
}

// Indexed gives the view an index to answer from.
func (w *View) Indexed(ix *index.Index) *View {
	w.index = ix
	return w
}

// Index is the vault's index, or nil if it has none.
func (w *View) Index() *index.Index { return w.index }

// Model calls f with what is known of the vault's notes. The model knows every
// note: f has to ask Sees before it uses one, and to resolve links with
// Resolve. While the index cannot answer, the model is read from the files for
// this call.
func (w *View) Model(ctx context.Context, f func(*index.Model) error) error {
	if w.index != nil {
		if err := w.index.Read(ctx, f); !errors.Is(err, index.ErrNotReady) {
			return err
		}
	}
	done := w.reading()
	m, err := index.FromFiles(ctx, w.vault, w.listed)
	done()
	if err != nil {
		return err
	}
	return f(m)
}

// reading tells the index that a query reads the files itself.
func (w *View) reading() (done func()) {
	if w.index == nil {
		return func() {}
	}
	return w.index.Reading()
}

// Resolve finds the file that a link in a note leads to, among those that the
// caller may read.
func (w *View) Resolve(paths *link.Index, from, target string) (string, bool) {
	if w.rules.Len() == 0 {
		return paths.Resolve(from, target, nil)
	}
	return paths.Resolve(from, target, w.Sees)
}
