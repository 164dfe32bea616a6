package acl

import (
	"context"
	"sync"

	"vault-mcp/cache/index"
	"vault-mcp/cache/index/terms"
)

// sight is what the caller may see of the full text, kept from call to call.
type sight struct {
	mu    sync.Mutex
	index *terms.Index
	view  *terms.View
}

// Text calls f with what is known of the vault's notes and with their full
// text. Queries of the text are asked with the view that f gets, nil being of
// all notes, and name only what the caller may read; the model knows every note
// and f has to ask Sees. f must not read files. The error is that of f, that of
// ctx, or index.ErrNotReady: the files have the answer then.
func (w *View) Text(ctx context.Context, f func(*index.Model, *index.Text, *terms.View) error) error {
	if w.index == nil {
		return index.ErrNotReady
	}
	return w.index.ReadText(ctx, func(m *index.Model, t *index.Text) error {
		return f(m, t, w.sight.of(m, t, w))
	})
}

// of is the view of a text. Whenever the index begins with another model or
// text there is another terms.Index, too.
func (s *sight) of(m *index.Model, t *index.Text, w *View) *terms.View {
	if w.rules.Len() == 0 {
		return nil
	}
	view := func() *terms.View {
		return t.Index.View(func(doc uint32) bool {
			n, ok := m.ByID(t.Note(doc))
			return ok && w.Sees(n.Path)
		})
	}
	if w.asks.reads() {
		return view() // this one call sees more
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != t.Index {
		s.index, s.view = t.Index, view()
	}
	return s.view
}
