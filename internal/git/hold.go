package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	// marker is all that an index.lock of ours holds; one of git's holds an index.
	marker = "vault-mcp holds this index; if none is running, this file can be removed.\n"
	// ours is the lock that tells whether who made an index.lock still lives.
	ours = "vault-mcp.lock"
	// private begins the names of the folders in which copies of the index are
	// worked on.
	private = "vault-mcp-work-"
	// patience is how long Hold waits for others; pause how often it looks.
	patience, pause = time.Second, 20 * time.Millisecond
)

// Held is the index of a repository that nobody else can change: git itself
// refuses as long as it is held.
type Held struct {
	r *Repo
	// dir is a folder of our own in the git folder, for the copy of the index.
	dir string
	// off are the hooks of git's config.
	off  []string
	lock *flock.Flock
}

// Hold takes the lock of the index (git's own index.lock). Where another
// program has it, Hold waits a second; then the error is a *RefusedError of
// kind locked. What a killed process of ours has left is cleared away first,
// and never anything of git's.
func (r *Repo) Hold(ctx context.Context) (*Held, error) {
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lock := flock.New(filepath.Join(r.Dir, ours), flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(brief, pause); !ok {
		lock.Close()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil && brief.Err() == nil {
			return nil, fmt.Errorf("lock the repository: %w", err)
		}
		return nil, refused("locked", "Another call works on the repository: try again when it has ended.")
	}
	h := &Held{r: r, lock: lock}
	r.step("alone")
	if err := h.take(ctx, brief); err != nil {
		h.Release()
		return nil, err
	}
	r.step("held")
	return h, nil
}

// take makes index.lock. Only who has our own lock gets here, so one with our
// marker was left by a process that is gone.
func (h *Held) take(ctx, brief context.Context) error {
	h.sweep()
	dir, err := os.MkdirTemp(h.r.Dir, private)
	if err != nil {
		return fmt.Errorf("hold the index: %w", err)
	}
	h.dir = dir
	whole := filepath.Join(dir, "marker")
	if err := os.WriteFile(whole, []byte(marker), 0o644); err != nil {
		return fmt.Errorf("hold the index: %w", err)
	}
	for {
		// A link comes into being whole, so no kill leaves a lock without a marker.
		err := os.Link(whole, h.r.indexLock())
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			if err = h.takeByWriting(); err == nil {
				break
			}
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("hold the index: %w", err)
		}
		select {
		case <-time.After(pause):
		case <-brief.Done():
			if err := ctx.Err(); err != nil {
				return err
			}
			return refused("locked", "Another git program works on the repository, or has left %s: wait for it to end, or remove the file.", machinePath(h.r.indexLock()))
		}
	}
	return os.Remove(whole)
}

// takeByWriting makes index.lock on a disk that knows no links.
func (h *Held) takeByWriting() error {
	f, err := os.OpenFile(h.r.indexLock(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(marker)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// sweep clears away what a killed process of ours has left. What cannot be
// removed is in nobody's way, or refuses the hold in a moment.
func (h *Held) sweep() {
	if isOurs(h.r.indexLock()) {
		_ = os.Remove(h.r.indexLock())
	}
	names, _ := os.ReadDir(h.r.Dir)
	for _, n := range names {
		if strings.HasPrefix(n.Name(), private) {
			h.r.unlockRef(filepath.Join(h.r.Dir, n.Name()))
			_ = os.RemoveAll(filepath.Join(h.r.Dir, n.Name()))
		}
	}
}

// isOurs reports whether a lock file holds our marker.
func isOurs(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(len(marker))+1))
	return err == nil && string(text) == marker
}

// Release gives the index free. It may be called again.
func (h *Held) Release() {
	if h.lock == nil {
		return
	}
	// Only a lock of ours: somebody may have removed it and taken it anew.
	if h.dir != "" && isOurs(h.r.indexLock()) {
		_ = os.Remove(h.r.indexLock()) // else the next Hold does it
	}
	h.r.step("released")
	if h.dir != "" {
		_ = os.RemoveAll(h.dir)
	}
	_ = h.lock.Close() // which unlocks
	h.lock = nil
}

func (r *Repo) indexLock() string { return filepath.Join(r.Dir, "index.lock") }

// index is where the copy of the index is.
func (h *Held) index() string { return filepath.Join(h.dir, "index") }

// copyIndex makes a copy of the index to work on. Its time is that of the
// index: by it git knows which files may have changed right after they were
// staged and have to be read again.
func (h *Held) copyIndex() error {
	from, err := os.Open(filepath.Join(h.r.Dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // git takes an absent one for empty
	}
	if err != nil {
		return fmt.Errorf("copy the index: %w", err)
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return fmt.Errorf("copy the index: %w", err)
	}
	to, err := os.OpenFile(h.index(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return fmt.Errorf("copy the index: %w", err)
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close(), os.Chtimes(h.index(), info.ModTime(), info.ModTime())); err != nil {
		return fmt.Errorf("copy the index: %w", err)
	}
	h.r.step("copied")
	return nil
}

// install makes the copy the index, in one step.
func (h *Held) install() error {
	f, err := os.OpenFile(h.index(), os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	h.r.step("before install")
	if err == nil {
		err = os.Rename(h.index(), filepath.Join(h.r.Dir, "index"))
	}
	if err != nil {
		return fmt.Errorf("replace the index: %w", err)
	}
	h.r.step("installed")
	return nil
}

// quiet finds the hooks that git's config defines by name, which no hooks
// folder turns off. Programs before git 2.54 know none.
func (h *Held) quiet(ctx context.Context) error {
	out, err := h.r.git(ctx, call{args: []string{"config", "-z", "--name-only", "--get-regexp", `^hook\..*\.command$`}})
	if err != nil && !exits(err, 1) { // 1: there is none
		return err
	}
	h.off = nil
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if name, ok := strings.CutPrefix(string(name), "hook."); ok {
			h.off = append(h.off, strings.TrimSuffix(name, ".command"))
		}
	}
	return nil
}
