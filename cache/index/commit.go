package index

import (
	"context"
	"errors"
	"time"

	"vault-mcp/cache/index/facts"
	"vault-mcp/cache/index/terms"
	"vault-mcp/internal/fingerprint"
)

// change is what one file of the vault was found to be.
type change struct {
	path string
	// base is the rev of the model before the file was looked at: a row that is
	// newer wins.
	base int64
	gone bool

	size, mtime, seen int64
	hash              fingerprint.Content
	problem           string
	facts             facts.Blob
	// known is set if the row has this hash: then facts and vector are not set.
	known bool
	// vector is the text by the numbers of words, nil if there is none.
	words  *words
	vector terms.Vector
	// from is the note that this one was before it moved, if it is set: then facts
	// and vector are not set.
	from source
}

var (
	// errReset says that all rows were thrown away by another process.
	errReset = errors.New("the index was begun anew")
	// errFenced says that another process is the indexer now.
	errFenced = errors.New("another process has become the indexer")
)

// progress is what a transaction of the indexer says about how far it is.
type progress struct {
	epoch       int64 // 0 for who is not the indexer
	state       int
	done, total int
}

// commit stores changes and puts them into the model. It returns the paths
// that have to be looked at again, because somebody else was faster. A change
// that changes nothing is no work.
func (ix *Index) commit(ctx context.Context, changes []*change, p *progress) (again []string, err error) {
	if err := ix.lock(ctx); err != nil {
		return nil, err
	}
	defer ix.unlock()
	if ix.store == nil {
		return nil, ErrNotReady
	}
	var w *writer
	var m meta
	err = ix.store.transaction(ctx, func() (err error) {
		if m, err = ix.catchUp(ctx); err != nil {
			return err
		}
		if p != nil && m.epoch != p.epoch {
			return errFenced
		}
		w = &writer{ix: ix, rev: m.rev + 1, taken: map[uint32]bool{}}
		w.plan(changes)
		if err := w.store(ctx, &m); err != nil {
			return err
		}
		if p != nil {
			m.state, m.done, m.total = p.state, p.done, p.total
			if p.state == isReady {
				m.checked = time.Now().UnixNano()
			}
		} else if len(w.ids) == 0 {
			return nil
		}
		return ix.store.setMeta(ctx, m)
	})
	if err != nil {
		// The terms that were to be stored may be given other numbers now.
		if ix.words != nil && ix.words.Len() > ix.words.stored {
			ix.dropWords()
		}
		return nil, err
	}
	if ix.words != nil {
		ix.words.stored = m.words
	}
	ix.stored.Store(&m)
	ix.applyVectors(ctx, w.ids, w.entries, w.vectors, w.gone, &m)
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for i, id := range w.seen {
		ix.model.entries[id].seen = w.seenAt[i]
	}
	return w.again, nil
}

// writer works out which rows the changes make.
type writer struct {
	ix      *Index
	rev     int64
	taken   map[uint32]bool // ids that this transaction gives away
	ids     []uint32
	entries []entry
	vectors map[uint32]terms.Vector // of notes that were read; nil for no text
	seen    []uint32                // rows where only seen is new
	seenAt  []int64
	again   []string // paths that must be read again
	gone    []removal
}

// plan makes rows of changes.
func (w *writer) plan(changes []*change) {
	m := w.ix.model
	known := map[string]bool{}
	for _, c := range changes {
		if known[c.path] || w.stale(c) {
			w.again = append(w.again, c.path)
			continue
		}
		known[c.path] = true
		id, exists := m.byPath[c.path]
		switch {
		case c.gone && exists && !w.taken[id]:
			w.taken[id] = true
			w.row(id, entry{rev: w.rev})
		case c.gone:
		case exists:
			w.update(id, c)
		case c.from.there(m) && m.entries[c.from.id].hash == c.hash && !w.taken[c.from.id]:
			e := m.entries[c.from.id]
			w.taken[c.from.id] = true
			e.path, e.size, e.mtime, e.seen, e.rev = c.path, c.size, c.mtime, c.seen, w.rev
			w.row(c.from.id, e)
		case c.from.path != "", c.known:
			w.again = append(w.again, c.path)
		default:
			w.put(m.unused(w.taken), c)
		}
	}
}

// stale reports whether the index knows better than c.
func (w *writer) stale(c *change) bool {
	m := w.ix.model
	if id, ok := m.byPath[c.path]; ok && m.entries[id].rev > c.base {
		return true
	}
	w.ix.mu.RLock() // a survey begins and ends without the lock of the database
	removed := m.removed[c.path]
	w.ix.mu.RUnlock()
	return removed > c.base && !c.gone || c.words != nil && c.words != w.ix.words
}

func (w *writer) row(id uint32, e entry) {
	w.ids = append(w.ids, id)
	w.entries = append(w.entries, e)
}

// update is put for a file that is known.
func (w *writer) update(id uint32, c *change) {
	e := w.ix.model.entries[id]
	if c.from.path != "" {
		w.again = append(w.again, c.path)
		return
	}
	same := e.hash == c.hash && e.problem == c.problem && e.note == isNote(c.path)
	if same && e.size == c.size && e.mtime == c.mtime {
		w.seen, w.seenAt = append(w.seen, id), append(w.seenAt, c.seen)
		return
	}
	if same && (c.known || !e.read()) {
		e.size, e.mtime, e.seen, e.rev = c.size, c.mtime, c.seen, w.rev
		w.row(id, e)
		return
	}
	w.put(id, c)
}

func (w *writer) put(id uint32, c *change) {
	w.row(id, entry{
		path: c.path, size: c.size, mtime: c.mtime, seen: c.seen, rev: w.rev, hash: c.hash, problem: c.problem,
		facts: c.facts, note: isNote(c.path), canvas: isCanvas(c.path),
	})
	if !isNote(c.path) {
		return
	}
	if w.vectors == nil {
		w.vectors = map[uint32]terms.Vector{}
	}
	w.vectors[id] = c.vector
}

func (w *writer) store(ctx context.Context, m *meta) (err error) {
	s := w.ix.store
	if len(w.ids) > 0 {
		m.rev = w.rev
	}
	if w.ix.words != nil && len(w.vectors) > 0 {
		if m.words, err = s.storeWords(ctx, w.ix.words); err != nil {
			return err
		}
	}
	for i, id := range w.ids {
		if err := s.write(ctx, id, &w.entries[i]); err != nil {
			return err
		}
		if v, ok := w.vectors[id]; ok {
			if err := s.writeVector(ctx, id, v); err != nil {
				return err
			}
		}
	}
	if err := w.storeGone(ctx, m); err != nil {
		return err
	}
	for i, id := range w.seen {
		if err := s.exec(ctx, "UPDATE files SET seen = ? WHERE id = ?", w.seenAt[i], id); err != nil {
			return err
		}
	}
	return nil
}

// catchUp puts what other processes have written into the model. It needs the
// lock, and a transaction if what it returns is to stay true.
func (ix *Index) catchUp(ctx context.Context) (meta, error) {
	m, err := ix.store.meta(ctx)
	switch {
	case err != nil:
		return m, err
	case m.base > ix.model.rev:
		return m, errReset
	case m.rev > ix.model.rev:
		ids, entries, err := ix.store.since(ctx, ix.model.rev)
		if err != nil {
			return m, err
		}
		if err := ix.catchUpWords(ctx, m.words); err != nil {
			return m, err
		}
		gone, err := ix.store.removedSince(ctx, ix.model.rev)
		if err != nil {
			return m, err
		}
		ix.applyVectors(ctx, ids, entries, nil, gone, &m)
	}
	ix.stored.Store(&m)
	return m, nil
}

func (ix *Index) catchUpWords(ctx context.Context, to uint32) error {
	if ix.words == nil || ix.words.stored >= to {
		return nil
	}
	err := ix.store.loadWords(ctx, ix.words, to)
	if errors.Is(err, errWords) {
		ix.dropWords()
		return nil
	}
	return err
}

// applyVectors puts rows into the model with the paths that are gone, all at
// once, and their texts into the full text if that is loaded. It needs the lock.
func (ix *Index) applyVectors(ctx context.Context, ids []uint32, entries []entry, vectors map[uint32]terms.Vector, gone []removal, to *meta) {
	if ix.text != nil && len(ids) > 0 {
		var err error
		if vectors, err = ix.missingVectors(ctx, ids, entries, vectors); err != nil {
			ix.dropText()
		}
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	m := ix.model
	// First all paths that vanish: another row may have taken one over.
	for i, id := range ids {
		if int(id) < len(m.entries) && m.entries[id].path != entries[i].path && m.entries[id].path != "" {
			m.put(id, entry{rev: entries[i].rev})
		}
	}
	for i, id := range ids {
		m.put(id, entries[i])
		if v, ok := vectors[id]; ok && ix.text != nil {
			if ix.text.put(id, v) != nil {
				ix.text = nil
			}
		}
	}
	m.settle()
	m.remember(gone, to.forgotten)
	m.rev = to.rev
	if len(ids) > 0 {
		ix.observers.tell()
	}
}
