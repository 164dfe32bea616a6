package index

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"vault-mcp/cache/index/terms"
)

// Text is the full text of the notes. It numbers texts by itself: a note that
// changes or moves has a new one. It is valid as long as a Model is.
type Text struct {
	// Index answers queries. A view of it is of use as long as it is the same
	// Index; after the index was begun anew there is another.
	Index *terms.Index
	docs  []uint32 // by the id of a note: its text, from 1
	notes []uint32 // by text: the id of the note
}

// Note is the id of the note that has a text.
func (t *Text) Note(doc uint32) uint32 {
	if int(doc) >= len(t.notes) {
		return 0
	}
	return t.notes[doc]
}

// Doc is the text that a note has now. Notes whose content could not be read
// have none.
func (t *Text) Doc(id uint32) (doc uint32, ok bool) {
	if int(id) >= len(t.docs) || t.docs[id] == 0 {
		return 0, false
	}
	return t.docs[id] - 1, true
}

// put gives a note another text, or none.
func (t *Text) put(id uint32, v terms.Vector) error {
	if doc, ok := t.Doc(id); ok {
		t.Index.Remove(doc)
		t.docs[id] = 0
	}
	if v == nil {
		return nil
	}
	doc, err := t.Index.Add(v)
	if err == nil {
		t.set(id, doc)
	}
	return err
}

func (t *Text) set(id, doc uint32) {
	for int(id) >= len(t.docs) {
		t.docs = append(t.docs, 0)
	}
	for int(doc) >= len(t.notes) {
		t.notes = append(t.notes, 0)
	}
	t.docs[id], t.notes[doc] = doc+1, id
}

// dictionary is the terms that the index knows, loaded when they are first
// needed.
func (ix *Index) dictionary(ctx context.Context) (w *words, err error) {
	if err := ix.lock(ctx); err != nil {
		return nil, err
	}
	defer ix.unlock()
	if ix.words != nil && ix.store != nil {
		return ix.words, nil
	}
	err = ix.snapshot(ctx, func() error {
		w, err = ix.needWords(ctx)
		return err
	})
	return w, err
}

// needWords needs the lock and a transaction.
func (ix *Index) needWords(ctx context.Context) (*words, error) {
	if ix.words != nil {
		return ix.words, nil
	}
	m, err := ix.store.meta(ctx)
	if err != nil {
		return nil, err
	}
	w := &words{Dictionary: terms.NewDictionary(), stored: 1}
	if err := ix.store.loadWords(ctx, w, m.words); errors.Is(err, errWords) {
		return nil, errDamaged // nobody has given any number yet
	} else if err != nil {
		return nil, err
	}
	ix.words = w
	return w, nil
}

// dropWords forgets the terms, and the text that is written with them.
func (ix *Index) dropWords() {
	ix.words = nil
	ix.dropText()
}

func (ix *Index) dropText() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.text = nil
}

// needText loads the full text if it is not there.
func (ix *Index) needText(ctx context.Context) error {
	ix.mu.RLock()
	loaded := ix.text != nil
	ix.mu.RUnlock()
	if loaded {
		return nil
	}
	if err := ix.lock(ctx); err != nil {
		return err
	}
	defer ix.unlock()
	if ix.text != nil {
		return nil
	}
	var text *Text
	err := ix.snapshot(ctx, func() error {
		if _, err := ix.catchUp(ctx); err != nil {
			return err
		}
		w, err := ix.needWords(ctx)
		if err != nil {
			return err
		}
		if text, err = ix.store.loadText(ctx, w); err != nil {
			return err
		}
		for id := range max(len(ix.model.entries), len(text.docs)) {
			_, has := text.Doc(uint32(id))
			if should := id < len(ix.model.entries) && ix.model.entries[id].note; has != should {
				return errDamaged // a row is lost
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.text = text
	return nil
}

// snapshot runs f over one state of the database.
func (ix *Index) snapshot(ctx context.Context, f func() error) error {
	if ix.store == nil {
		return ErrNotReady
	}
	if _, err := ix.store.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer ix.store.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return f()
}

func (s *store) loadText(ctx context.Context, w *words) (*Text, error) {
	t := &Text{Index: terms.NewIndex(w.Dictionary)}
	var vectors []terms.Vector
	var ids []uint32
	err := s.rows(ctx, "SELECT id, vector, sum FROM texts ORDER BY id", func(rows *sql.Rows) error {
		var id uint32
		var v sql.RawBytes
		var stored sum
		if err := rows.Scan(&id, &v, &stored); err != nil {
			return err
		}
		if stored != vectorSum(id, v) {
			return errDamaged
		}
		ids, vectors = append(ids, id), append(vectors, bytes.Clone(v))
		return nil
	})
	if err != nil {
		return nil, err
	}
	first, err := t.Index.Load(vectors)
	if err != nil {
		return nil, errDamaged
	}
	for i, id := range ids {
		t.set(id, first+uint32(i))
	}
	return t, nil
}

// missingVectors are the vectors with those added that the rows have in the
// database: of all notes that moved, and of what other processes have written.
func (ix *Index) missingVectors(ctx context.Context, ids []uint32, entries []entry, vectors map[uint32]terms.Vector) (map[uint32]terms.Vector, error) {
	all := make(map[uint32]terms.Vector, len(ids))
	for i, id := range ids {
		if v, ok := vectors[id]; ok {
			all[id] = v
			continue
		}
		var old entry
		if int(id) < len(ix.model.entries) {
			old = ix.model.entries[id]
		}
		if old.path == entries[i].path && old.hash == entries[i].hash && old.note == entries[i].note {
			continue
		}
		v, err := ix.store.vector(ctx, id)
		if err != nil {
			return nil, err
		}
		all[id] = v
	}
	return all, nil
}

func (s *store) vector(ctx context.Context, id uint32) (v terms.Vector, err error) {
	err = s.rows(ctx, "SELECT vector, sum FROM texts WHERE id = ?", func(rows *sql.Rows) error {
		var b sql.RawBytes
		var stored sum
		err := rows.Scan(&b, &stored)
		if err == nil && stored != vectorSum(id, b) {
			return errDamaged
		}
		v = append(terms.Vector{}, b...)
		return err
	}, id)
	return v, err
}
