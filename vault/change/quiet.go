package change

import (
	"context"
	"time"

	"vault-mcp/internal/fault"
	"vault-mcp/vault"
)

const (
	// quiet is how long a file must not have been written before it is replaced.
	// An editor that saves in place empties the file first and then fills it: what
	// was read in between would be taken for the note, and what the editor writes
	// next would go into a file that is no longer there. So an empty file, which
	// may be about to be filled by a program that the system lets wait, has to be at
	// rest for longer.
	quiet, quietEmpty = 10 * time.Millisecond, 500 * time.Millisecond
	// restless is how long a change waits in all for files to come to rest.
	restless = 2 * time.Second
)

// stamp tells which file this program wrote last at a path, and when.
type stamp struct {
	inode uint64
	mtime time.Time
	empty bool
}

// rest waits until no file of the edits has been written just now by somebody
// else. waited says that it had to, so that the plan may be another one. A file
// that does not come to rest is concurrent_modification.
func (a *Applier) rest(ctx context.Context, edits []Edit) (waited bool, err error) {
	deadline := time.Now().Add(restless)
	for {
		path, wait := a.youngest(edits)
		if path == "" {
			return waited, nil
		}
		if time.Now().After(deadline) {
			return waited, fault.New(fault.ConcurrentModification, "%q is being written by another program; nothing was changed.", path).With("path", path)
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return waited, ctx.Err()
		}
		waited = true
	}
}

// youngest is the file of the edits that has to rest longest because somebody
// else wrote it, and for how long.
func (a *Applier) youngest(edits []Edit) (path string, wait time.Duration) {
	now := time.Now()
	a.each(edits, func(e *Edit, at stamp) {
		if own, ok := a.wrote[e.Path]; ok && own == at {
			return
		}
		need := quiet
		if at.empty {
			need = quietEmpty
		}
		// A time in the future says nothing.
		if d := now.Sub(at.mtime); d >= 0 && need-d > wait {
			path, wait = e.Path, need-d
		}
	})
	return path, wait
}

// remember notes what was written, for the next change of the same files.
func (a *Applier) remember(edits []Edit) {
	for path, s := range a.wrote {
		if time.Since(s.mtime) > quietEmpty {
			delete(a.wrote, path)
		}
	}
	if a.wrote == nil {
		a.wrote = map[string]stamp{}
	}
	a.each(edits, func(e *Edit, at stamp) { a.wrote[e.Path] = at })
}

// each calls f with every file that edits read or write, as it is on the disk.
func (a *Applier) each(edits []Edit, f func(*Edit, stamp)) {
	files := func(e *Edit) bool { return e.Kind != Mkdir && !e.Dir }
	entries(a.Disk, edits, files, func(e *Edit, is vault.Entry) {
		if is.Regular {
			f(e, stamp{is.Inode, is.ModTime, is.Size == 0})
		}
	})
}
