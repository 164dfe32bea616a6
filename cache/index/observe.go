package index

import (
	"sync"
	"time"

	"vault-mcp/internal/fingerprint"
)

// observers are who wants to know that files have changed.
type observers struct {
	mu   sync.Mutex
	last int
	all  map[int]func()
}

// Observe calls f whenever the index has taken in changes of files, whoever made
// them, and when it answers again after it could not. f is called while the
// index is locked: it must return at once and call nothing of it. stop ends that;
// f may just then be called once more.
func (ix *Index) Observe(f func()) (stop func()) {
	o := &ix.observers
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[int]func(){}
	}
	o.last++
	id := o.last
	o.all[id] = f
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.all, id)
	}
}

func (o *observers) tell() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.all {
		f()
	}
}

// Stamp is what a change of a file is told by. The zero value is that of a file
// that is not there.
type Stamp struct {
	There   bool
	Size    int64
	ModTime time.Time
	// Hash is that of the content, zero where that is not known: of what is no note
	// and no canvas, and of what could not be read.
	Hash fingerprint.Content
}

// Stamp is that of the file with an exact path.
func (m *Model) Stamp(path string) Stamp {
	id, ok := m.byPath[path]
	if !ok {
		return Stamp{}
	}
	e := &m.entries[id]
	return Stamp{true, e.size, time.Unix(0, e.mtime), e.hash}
}

// Differs reports whether a file has changed between two stamps. Where both know
// the content, nothing else counts.
func (s Stamp) Differs(from Stamp) bool {
	switch known := (fingerprint.Content{}); {
	case s.There != from.There:
		return true
	case s.Hash != known && from.Hash != known:
		return s.Hash != from.Hash
	}
	return s.Size != from.Size || !s.ModTime.Equal(from.ModTime)
}
