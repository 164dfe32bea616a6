package index

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"
)

// Phase says what the index does.
type Phase string

// The phases. Only in Ready does the index answer; in Loading a query waits a
// moment for it.
const (
	Stopped  Phase = "stopped"  // not started, or closed
	Loading  Phase = "loading"  // it is complete, and being read and compared with the files
	Building Phase = "building" // notes are being read for the first time
	Ready    Phase = "ready"
	Degraded Phase = "degraded" // it cannot be used; Status says why
)

// Skipped is a file or folder that is not in the index as a whole.
type Skipped struct {
	Path, Reason string
}

// Status says how the index is.
type Status struct {
	Phase Phase
	// Reason says what is wrong in Degraded.
	Reason string
	// Done of Total notes are in the index, both of what may be seen. Counted is
	// false if that is not known here: then both are 0.
	Done, Total int
	Counted     bool
	// Indexer is set if this process compares and watches the files.
	Indexer bool
	// Watching is set if the system reports changes to the indexer, and Warning
	// says what is worse than it could be: why it does not, or that a damaged
	// database was begun anew.
	Watching bool
	Warning  string
	// Epoch counts the processes that were the indexer.
	Epoch int64
	// Compared is when all files were last compared with the index.
	Compared time.Time
	// Skipped are the files and folders that could not be read, in the order of
	// their paths.
	Skipped []Skipped
}

// state is what Status tells. Its methods may be called at the same time.
type state struct {
	mu       sync.Mutex
	phase    Phase
	reason   string
	moved    chan struct{} // closed and made anew when phase changes
	told     string        // of why the index cannot be used
	owed     []string      // paths of calls of Changed that could not be read yet
	indexer  bool
	watching bool
	warning  string
	folders  []Skipped // and files that have no row
	// While files are read: the notes there are, and those that are not read yet.
	notes   []string
	pending map[string]bool
}

func (s *state) set(p Phase, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reason = ""
	if err != nil {
		s.reason = Reason(err)
	}
	if s.phase != p {
		s.phase = p
		close(s.moved)
		s.moved = make(chan struct{})
	}
}

// ready makes the phase Ready if nothing is owed, and reports whether trouble
// had been told.
func (s *state) ready() (told bool) {
	if s.owes() {
		return false
	}
	s.set(Ready, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	told = s.told != ""
	s.told = ""
	return told
}

func (s *state) owes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.owed) > 0
}

func (s *state) get() (Phase, chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == "" {
		return Stopped, s.moved
	}
	return s.phase, s.moved
}

func (s *state) started() bool {
	p, _ := s.get()
	return p != Stopped
}

func (s *state) owe(paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed = append(s.owed, paths...)
}

func (s *state) settleOwed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	owed := s.owed
	s.owed = nil
	return owed
}

// await returns nil when the phase is Ready. It waits only while it is Loading.
func (s *state) await(ctx context.Context, patience time.Duration) error {
	var late <-chan time.Time
	for {
		phase, moved := s.get()
		switch phase {
		case Ready:
			return nil
		case Loading:
		default:
			return ErrNotReady
		}
		if late == nil {
			t := time.NewTimer(patience)
			defer t.Stop()
			late = t.C
		}
		select {
		case <-moved:
		case <-late:
			return ErrNotReady
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// expect says which notes there are and which of them are to be read.
func (s *state) expect(notes []string, pending map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes, s.pending = notes, pending
}

func (s *state) update(f func(*state)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// Status says how the index is, as far as a caller may know: visible says of
// which paths, nil meaning all.
func (ix *Index) Status(visible func(path string) bool) Status {
	if visible == nil {
		visible = func(string) bool { return true }
	}
	s := ix.state.status(visible)
	if m := ix.stored.Load(); m != nil {
		s.Epoch = m.epoch
		if m.checked > 0 {
			s.Compared = time.Unix(0, m.checked)
		}
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if s.Phase == Ready {
		s.Counted = true
	}
	if s.Phase == Ready {
		for _, id := range ix.model.notes.ids {
			if visible(ix.model.entries[id].path) {
				s.Total++
			}
		}
		s.Done = s.Total
	}
	files := []Skipped{}
	for _, n := range ix.model.Flawed() {
		if n.Problem != "" && visible(n.Path) {
			files = append(files, Skipped{n.Path, n.Problem})
		}
	}
	s.Skipped = mergeSkipped(files, s.Skipped)
	return s
}

func (s *state) status(visible func(string) bool) Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Status{
		Phase: s.phase, Reason: s.reason, Indexer: s.indexer, Watching: s.watching, Warning: s.warning,
		Counted: s.indexer && s.notes != nil,
	}
	if r.Phase == "" {
		r.Phase = Stopped
	}
	for _, f := range s.folders {
		if visible(f.Path) {
			r.Skipped = append(r.Skipped, f)
		}
	}
	if r.Phase == Ready || !r.Counted {
		return r
	}
	for _, n := range s.notes {
		if visible(n) {
			r.Total++
			if !s.pending[n] {
				r.Done++
			}
		}
	}
	return r
}

// outside are the files and folders that have no row.
func (s *state) outside() []Skipped {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.folders)
}

// loadSkipped reads what the indexer could not read and has no row for. It
// needs the lock.
func (ix *Index) loadSkipped(ctx context.Context) error {
	var list []Skipped
	err := ix.store.rows(ctx, "SELECT path, reason FROM problems ORDER BY path", func(rows *sql.Rows) error {
		var p Skipped
		err := rows.Scan(&p.Path, &p.Reason)
		list = append(list, p)
		return err
	})
	if err == nil {
		ix.state.update(func(s *state) { s.folders = list })
	}
	return err
}
