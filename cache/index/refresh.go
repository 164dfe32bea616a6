package index

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
)

// attempts is how often files are read that others write meanwhile.
const attempts = 8

// refresh reads some files again, and folders with all below them. w, if there
// is one, is told which folders are gone and which are new.
func (ix *Index) refresh(ctx context.Context, paths []string, w *watcher) error {
	for range attempts {
		if len(paths) == 0 {
			return nil
		}
		again, err := ix.look(ctx, paths, w)
		if err != nil {
			return err
		}
		paths = again
	}
	return nil // the last writer tells the index itself
}

// look reads files once and returns those that must be read again.
func (ix *Index) look(ctx context.Context, paths []string, w *watcher) (again []string, err error) {
	words, err := ix.dictionary(ctx)
	if err != nil {
		return nil, err
	}
	ix.mu.RLock()
	l := &lookAt{ix: ix, moved: map[fingerprint.Content]source{}}
	l.parser = &parser{ix: ix, base: ix.model.rev, words: words, moved: l.moved}
	ix.mu.RUnlock()
	began := time.Now()
	l.findAll(slices.Compact(slices.Sorted(slices.Values(paths))))
	if w != nil {
		for _, p := range l.absent {
			w.drop(p)
		}
		for _, p := range l.files {
			if w.watches(p.String()) { // it was a folder
				w.drop(p.String())
			}
		}
	}
	for _, p := range l.folders {
		var watch func(string)
		if w != nil {
			w.drop(p.String())
			watch = w.add
			w.add(p.String())
		}
		if err := ix.survey(ctx, &survey{from: p, watch: watch, moved: l.moved}); err != nil && !isGone(err) {
			return nil, err
		}
	}
	l.read()
	for part := range slices.Chunk(slices.Concat(l.changes, l.gone), batchRows) {
		more, err := ix.commit(ctx, part, nil)
		if err != nil {
			return nil, err
		}
		again = append(again, more...)
	}
	if w == nil {
		var read []string
		for _, p := range l.files {
			if !slices.Contains(again, p.String()) {
				read = append(read, p.String())
			}
		}
		ix.coming.wasRead(read, began)
	}
	return again, nil
}

// lookAt is one look at some paths.
type lookAt struct {
	ix      *Index
	parser  *parser
	moved   map[fingerprint.Content]source
	folders []vault.Path
	files   []vault.Path
	absent  []string
	changes []*change
	gone    []*change
}

// findAll sorts paths by what is there.
func (l *lookAt) findAll(paths []string) {
	found, failed := make([]vault.Path, len(paths)), make([]error, len(paths))
	each(len(paths), func(i int) { found[i], failed[i] = l.ix.vault.Find(paths[i], nil) })
	for i, path := range paths {
		l.sort(path, found[i], failed[i])
	}
}

func (l *lookAt) sort(path string, p vault.Path, err error) {
	switch {
	case err != nil && isGone(err):
		l.remove(path)
		l.absent = append(l.absent, path)
	case err != nil:
		if isRead(path) && l.row(path) {
			l.changes = append(l.changes, &change{path: path, base: l.parser.base, problem: vault.Reason(err)})
		}
	case p.IsDir():
		l.folders = append(l.folders, p)
		l.removeAt(p.String()) // a file that was there before
	default:
		l.files = append(l.files, p)
		l.removeBelow(p.String()) // what was in a folder of that name
	}
	if err == nil && p.String() != path { // it was found by another spelling, or through a link
		l.remove(path)
	}
}

// isGone reports whether an error of package vault says that nothing is there.
func isGone(err error) bool {
	switch fault.Of(err).Code {
	case fault.NoteNotFound, fault.PathInvalid, fault.InvalidInput:
		return true
	}
	return errors.Is(err, vault.ErrChanged)
}

func (l *lookAt) row(path string) bool {
	l.ix.mu.RLock()
	defer l.ix.mu.RUnlock()
	_, ok := l.ix.model.byPath[path]
	return ok
}

// remove takes out what the index has at a path and below it.
func (l *lookAt) remove(path string) {
	l.removeAt(path)
	l.removeBelow(path)
}

func (l *lookAt) removeAt(path string) {
	l.ix.mu.RLock()
	defer l.ix.mu.RUnlock()
	if id, ok := l.ix.model.byPath[path]; ok {
		l.drop(id)
	}
}

func (l *lookAt) removeBelow(path string) {
	l.ix.mu.RLock()
	defer l.ix.mu.RUnlock()
	m := l.ix.model
	for _, o := range []*order{&m.notes, &m.others} {
		for _, id := range o.from(m, path+"/") {
			if !within(m.entries[id].path, path) {
				break
			}
			l.drop(id)
		}
	}
}

// drop takes out a row. The model must be locked.
func (l *lookAt) drop(id uint32) {
	e := &l.ix.model.entries[id]
	l.gone = append(l.gone, &change{path: e.path, base: l.parser.base, gone: true})
	if e.read() && e.problem == "" {
		l.moved[e.hash] = source{id, e.path}
	}
}

// read reads the files that are there, on all processors.
func (l *lookAt) read() {
	changes := make([]*change, len(l.files))
	each(len(changes), func(i int) { changes[i] = l.file(l.files[i]) })
	for i, c := range changes {
		if c == nil {
			l.remove(l.files[i].String())
			continue
		}
		l.changes = append(l.changes, c)
	}
}

// each calls f with 0 to n-1, on all processors.
func each(n int, f func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				f(int(i - 1))
			}
		})
	}
	all.Wait()
}

// file reads one file; nil if it is gone by now. It runs beside others.
func (l *lookAt) file(p vault.Path) *change {
	path := p.String()
	if !isRead(path) {
		return l.parser.other(vault.File{Path: path, Size: p.Size(), ModTime: p.ModTime()})
	}
	content, err := l.ix.vault.Read(p, l.ix.o.MaxBytes)
	if err != nil && isGone(err) {
		return nil
	}
	if err != nil {
		return l.parser.note(path, p.Size(), p.ModTime(), nil, err)
	}
	return l.parser.note(path, content.Size, content.ModTime, content.Bytes, nil)
}
