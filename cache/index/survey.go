package index

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
)

const (
	// racy is how long a write may leave the time of a file as it is: the
	// coarsest clock that file systems keep is that of FAT.
	racy = 2 * time.Second
	// maxRacy is how many notes are hashed before the index is ready because
	// they were read so soon after they were written. The rest is for the sweep.
	maxRacy = 1000
	// batchRows and batchBytes bound what one transaction writes.
	batchRows  = 1000
	batchBytes = 8 << 20
	// fewNotes are read without queries having to wait or to be turned away.
	fewNotes = 200
)

// survey compares the files in a folder with the rows, and reads what differs.
type survey struct {
	ix   *Index
	from vault.Path
	// full is set if it covers the whole vault for the indexer.
	full *progress
	// watch is told of every folder before it is listed.
	watch func(dir string)

	base    int64
	visited map[uint32]bool
	notes   []string        // all notes there are
	files   int             // how many files there are
	read    map[string]bool // notes and canvases to read
	left    map[string]bool // those that were not read yet
	folders map[string]bool // the folders that lead to them
	racy    int
	changes []*change // what needs no reading
	gone    []*change
	parser  *parser
	skipped []Skipped
	kept    []string // folders that could not be listed, for now
	moved   map[fingerprint.Content]source
}

// survey compares one folder. moved are notes that are gone from elsewhere.
func (ix *Index) survey(ctx context.Context, s *survey) error {
	s.ix = ix
	s.visited, s.read, s.folders = map[uint32]bool{}, map[string]bool{}, map[string]bool{}
	if s.moved == nil {
		s.moved = map[fingerprint.Content]source{}
	}
	ix.mu.Lock()
	s.base = ix.model.rev
	if ix.model.scans++; ix.model.removed == nil {
		ix.model.removed = map[string]int64{}
	}
	ix.mu.Unlock()
	defer func() {
		ix.mu.Lock()
		defer ix.mu.Unlock()
		if ix.model.scans--; ix.model.scans == 0 {
			ix.model.removed = nil
		}
	}()
	if err := s.walk(ctx); err != nil {
		return err
	}
	s.vanished()
	return s.run(ctx)
}

// walk finds out what differs by size and time.
func (s *survey) walk(ctx context.Context) error {
	root := s.from.String()
	var failed error
	err := s.ix.vault.Walk(ctx, s.from, vault.WalkOptions{
		Keep: func(rel string, dir bool) bool {
			if dir && s.watch != nil {
				s.watch(rel)
			}
			return true
		},
		Problem: func(path string, err error) {
			if path == root {
				failed = err
			}
			s.skipped = append(s.skipped, Skipped{path, vault.Reason(err)})
			if vault.Reason(err) == vault.Unreadable { // it may be back in a moment
				s.kept = append(s.kept, path)
			}
		},
	}, func(f vault.File) error {
		s.ix.giveWay(ctx)
		s.file(f)
		return nil
	})
	if err == nil && root == "" && (failed != nil || s.files == 0 && s.ix.holds()) {
		return errVault // a drive that is not there has not lost its notes
	}
	return err
}

// holds reports whether the index has any file.
func (ix *Index) holds() bool {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return len(ix.model.byPath) > 0
}

func (s *survey) file(f vault.File) {
	s.files++
	read := isRead(f.Path)
	if s.full != nil && isNote(f.Path) {
		s.notes = append(s.notes, f.Path)
	}
	s.ix.mu.RLock()
	m := s.ix.model
	id, known := m.byPath[f.Path]
	var size, mtime, seen int64
	if known {
		size, mtime, seen = m.entries[id].size, m.entries[id].mtime, m.entries[id].seen
	}
	s.ix.mu.RUnlock()
	if known {
		s.visited[id] = true
		if size == f.Size && mtime == f.ModTime.UnixNano() {
			if !read || seen-mtime >= int64(racy) {
				return
			}
			if s.racy++; s.racy > maxRacy {
				return
			}
		}
	}
	if !read {
		s.changes = append(s.changes, (&parser{base: s.base}).other(f))
		return
	}
	s.read[f.Path] = true
	for dir := f.Path; ; {
		i := strings.LastIndexByte(dir, '/')
		if i < 0 {
			break
		}
		if dir = dir[:i]; s.folders[dir] {
			break
		}
		s.folders[dir] = true
	}
}

// vanished finds the rows whose files are no more.
func (s *survey) vanished() {
	prefix := s.from.String()
	if prefix != "" {
		prefix += "/"
	}
	s.ix.mu.RLock()
	m := s.ix.model
	defer s.ix.mu.RUnlock()
	for _, o := range []*order{&m.notes, &m.others} {
		for _, id := range o.from(m, prefix) {
			e := &m.entries[id]
			if !strings.HasPrefix(e.path, prefix) {
				break
			}
			if s.visited[id] || e.rev > s.base || slices.ContainsFunc(s.kept, func(dir string) bool { return within(e.path, dir) }) {
				continue
			}
			s.gone = append(s.gone, &change{path: e.path, base: s.base, gone: true})
			if e.read() && e.problem == "" {
				s.moved[e.hash] = source{id, e.path}
			}
		}
	}
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

// run reads what has to be read and commits everything.
func (s *survey) run(ctx context.Context) error {
	ix := s.ix
	s.left = maps.Clone(s.read)
	if s.full != nil {
		ix.state.expect(s.notes, s.left)
		defer ix.state.expect(nil, nil)
		if phase, _ := ix.state.get(); phase == Loading && len(s.read) > fewNotes {
			ix.state.set(Building, nil)
		}
		s.full.total = len(s.notes)
		s.full.done = len(s.notes)
		for p := range s.read {
			if isNote(p) {
				s.full.done--
			}
		}
	}
	s.parser = &parser{ix: ix, base: s.base, moved: s.moved}
	var again []string
	if len(s.read) > 0 {
		var err error
		if s.parser.words, err = ix.dictionary(ctx); err != nil {
			return err
		}
		if again, err = s.scan(ctx); err != nil {
			return err
		}
	}
	more, err := s.commit(ctx, s.changes)
	again = append(again, more...)
	if err == nil {
		// Last, so that notes that moved have taken their rows along.
		more, err = s.commit(ctx, s.gone)
		again = append(again, more...)
	}
	if err == nil && len(again) > 0 {
		err = ix.refresh(ctx, again, nil)
	}
	return err
}

// commit commits a list in parts.
func (s *survey) commit(ctx context.Context, list []*change) (again []string, err error) {
	for part := range slices.Chunk(list, batchRows) {
		more, err := s.ix.commit(ctx, part, s.full)
		if err != nil {
			return nil, err
		}
		again = append(again, more...)
	}
	return again, nil
}

// scan reads and commits notes, while others are being read.
func (s *survey) scan(ctx context.Context) (again []string, err error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan *change, 128)
	scanned := make(chan error, 1)
	go func() {
		defer close(changes)
		o := vault.ScanOptions{MaxBytes: s.ix.o.MaxBytes, WalkOptions: vault.WalkOptions{
			Keep: func(rel string, dir bool) bool { return dir && s.folders[rel] || !dir && s.read[rel] },
		}}
		scanned <- s.ix.vault.Scan(inner, s.from, o, func(f vault.File, text []byte, err error) error {
			s.ix.giveWay(inner)
			select {
			case changes <- s.parser.note(f.Path, f.Size, f.ModTime, text, err):
				return nil
			case <-inner.Done():
				return inner.Err()
			}
		})
	}()
	for {
		batch := collect(changes)
		if len(batch) == 0 {
			break
		}
		if s.full != nil {
			for _, c := range batch {
				if isNote(c.path) {
					s.full.done++
				}
			}
		}
		more, err := s.ix.commit(ctx, batch, s.full)
		if err != nil {
			cancel()
			for range changes { // until the readers are done
			}
			return nil, err
		}
		again = append(again, more...)
		s.ix.state.update(func(*state) { // which may be looking at the map
			for _, c := range batch {
				delete(s.left, c.path)
			}
		})
	}
	// What was walked but not found by the scan is gone, or no longer a file.
	return slices.AppendSeq(again, maps.Keys(s.left)), <-scanned
}

// collect takes what comes, until it is enough for a transaction.
func collect(changes <-chan *change) (batch []*change) {
	size := 0
	for c := range changes {
		batch = append(batch, c)
		if size += len(c.facts) + len(c.vector); len(batch) == batchRows || size > batchBytes {
			break
		}
	}
	return batch
}

// reconcile compares the whole vault with the index, and returns how many files
// there are.
func (ix *Index) reconcile(ctx context.Context, epoch int64, watch func(string)) (files int, err error) {
	root, err := ix.vault.FindFolder("", nil)
	if err != nil {
		return 0, errVault
	}
	m := ix.stored.Load()
	p := &progress{epoch: epoch, state: isChecked}
	if m.state == isEmpty {
		p.state = isEmpty
	}
	s := &survey{from: root, full: p, watch: watch}
	err = ix.survey(ctx, s)
	if err == nil {
		err = ix.settle(ctx)
	}
	if err == nil {
		err = ix.storeSkipped(ctx, s.skipped)
	}
	if err == nil {
		p.state, p.done = isReady, p.total
		_, err = ix.commit(ctx, nil, p)
	}
	if err == nil {
		ix.ready()
	}
	return s.files, err
}

// storeSkipped keeps what could not be walked for all processes.
func (ix *Index) storeSkipped(ctx context.Context, list []Skipped) error {
	slices.SortFunc(list, func(a, b Skipped) int { return cmp.Compare(a.Path, b.Path) })
	list = slices.CompactFunc(list, func(a, b Skipped) bool { return a.Path == b.Path })
	if err := ix.lock(ctx); err != nil {
		return err
	}
	defer ix.unlock()
	if ix.store == nil {
		return ErrNotReady
	}
	var known []Skipped
	ix.state.update(func(s *state) { known = s.folders })
	if slices.Equal(known, list) {
		return nil
	}
	err := ix.store.transaction(ctx, func() error {
		if err := ix.store.exec(ctx, "DELETE FROM problems"); err != nil {
			return err
		}
		for _, p := range list {
			if err := ix.store.exec(ctx, "INSERT INTO problems (path, reason) VALUES (?, ?)", p.Path, p.Reason); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		ix.state.update(func(s *state) { s.folders = list })
	}
	return err
}
