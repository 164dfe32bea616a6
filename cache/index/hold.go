package index

import (
	"cmp"
	"context"
	"errors"
)

// Held is the index while nobody, of all processes, can write to it: what is
// thrown away is what was looked at. Queries go on. It is for one goroutine, and
// is let go with Release.
type Held struct {
	ix   *Index
	meta meta
	over bool
}

// Hold takes hold of an index that answers, with all that others have written.
// The lock is that of the database itself, so that it ends with its process. The
// error is ErrNotReady, or that of ctx.
func (ix *Index) Hold(ctx context.Context) (*Held, error) {
	if err := ix.state.await(ctx, patience); err != nil {
		return nil, err
	}
	if err := ix.lock(ctx); err != nil {
		return nil, err
	}
	m, err := ix.hold(ctx)
	if err == nil {
		return &Held{ix: ix, meta: m}, nil
	}
	ix.unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	ix.fail(err)
	return nil, ErrNotReady
}

// hold needs the lock.
func (ix *Index) hold(ctx context.Context) (m meta, err error) {
	switch {
	case ix.store == nil:
		return m, ErrNotReady
	case ix.store.replaced():
		return m, errReplaced
	}
	if err := ix.store.begin(ctx); err != nil {
		return m, err
	}
	if m, err = ix.catchUp(context.WithoutCancel(ctx)); err == nil && m.state == isEmpty {
		err = ErrNotReady // another process builds it
	}
	if err != nil {
		err = ix.store.end(ctx, err)
	}
	return m, err
}

// Life is a text that stands for the rows which are held: rows that are made after
// these were thrown away have another one.
func (h *Held) Life() string { return h.meta.birth.life() }

// Reset throws all rows away and lets go. They are made again from the files, by
// the process that is the indexer. If the disk fails, the error leaves open
// whether it was done: Life tells.
func (h *Held) Reset(ctx context.Context) error {
	if h.over {
		return errReleased
	}
	err := h.ix.store.end(ctx, h.ix.store.reset(context.WithoutCancel(ctx), &h.meta))
	if err == nil {
		h.ix.state.set(Building, nil) // before anybody asks the model, which is of before
	}
	h.letGo()
	h.ix.fail(cmp.Or(err, errReset))
	return err
}

// errReleased ends a hold by which nothing was done.
var errReleased = errors.New("the index is not held any more")

// Release lets go; after Reset there is nothing left to do.
func (h *Held) Release() {
	if !h.over {
		_ = h.ix.store.end(context.Background(), errReleased) // nothing was written
		h.letGo()
	}
}

func (h *Held) letGo() {
	h.over = true
	h.ix.unlock()
}

// Life is the text that Held.Life tells, of the rows as they are on the disk now,
// also while they are being made and before the index is started. The error is
// ErrNotReady, or that of ctx.
func (ix *Index) Life(ctx context.Context) (string, error) {
	if err := ix.lock(ctx); err != nil {
		return "", err
	}
	defer ix.unlock()
	s := ix.store
	if s == nil || s.replaced() {
		var err error
		if s, err = openStore(ctx, databasePath(ix.dir), ix.o.Settings); err != nil {
			return "", cmp.Or(ctx.Err(), ErrNotReady)
		}
		defer s.close()
	}
	m, err := s.meta(ctx)
	if err != nil {
		return "", cmp.Or(ctx.Err(), ErrNotReady)
	}
	return m.birth.life(), nil
}

// life is no rev, so that it is no Point either.
func (b birth) life() string { return b.seal(-1) }

// Counts says how much the index holds.
type Counts struct {
	// Notes are notes; Files are the others, canvases among them.
	Notes, Files int
	// Links are those in notes and canvases that lead into the vault.
	Links int
	// Texts are the notes that are in the full text: all but those that could not be
	// read.
	Texts int
	// Removed are the paths that are remembered for having vanished.
	Removed int
}

// Counts counts what is about paths that are visible; nil means all.
func (m *Model) Counts(visible func(path string) bool) (c Counts) {
	for i := range m.entries {
		e := &m.entries[i]
		if e.path == "" || visible != nil && !visible(e.path) {
			continue
		}
		if !e.note {
			c.Files++
		} else if c.Notes++; e.problem == "" {
			c.Texts++
		}
		for l := range e.facts.Links() {
			if !l.External {
				c.Links++
			}
		}
	}
	for path := range m.gone {
		if visible == nil || visible(path) {
			c.Removed++
		}
	}
	return c
}
