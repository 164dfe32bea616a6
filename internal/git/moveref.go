package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vault-mcp/cache"
)

// lockedRef is the file in a folder of ours that says which lock of a ref is ours:
// its path and what it holds.
const lockedRef = "ref"

// moveRef sets a ref, or HEAD where it is detached, from one commit to another as
// git does: under its lock, and only if it is still there.
func (h *Held) moveRef(ref string, from, to ID) (err error) {
	path := filepath.Join(h.r.refFolder(ref), filepath.FromSlash(ref))
	lock := path + ".lock"
	text := string(to) + "\n"
	if err := os.WriteFile(filepath.Join(h.dir, lockedRef), []byte(lock+"\x00"+text), 0o600); err != nil {
		return fmt.Errorf("lock the branch: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("lock the branch: %w", err)
	}
	// Written whole before it has the name: after a kill it is known as ours.
	whole := filepath.Join(h.dir, "new-ref")
	if err := writeSynced(whole, text, os.O_EXCL); err != nil {
		return fmt.Errorf("lock the branch: %w", err)
	}
	if err = os.Link(whole, lock); err != nil && !errors.Is(err, fs.ErrExist) { // a disk without links
		err = writeSynced(lock, text, os.O_EXCL)
	}
	if errors.Is(err, fs.ErrExist) {
		return refused("locked", "Another git program works on the branch, or has left %s: wait for it to end, or remove the file.", machinePath(lock))
	}
	if err != nil {
		return fmt.Errorf("lock the branch: %w", err)
	}
	done := false
	defer func() {
		if !done {
			_ = os.Remove(lock)
		}
	}()
	h.r.step("ref locked")
	target, now, err := h.r.rawRef(ref)
	switch {
	case err != nil:
		return err
	case target != "":
		return refused("branch", "The branch %s stands for another one, which needs the git program.", ref)
	case now != from:
		return refused("moved", "The branch has moved meanwhile.")
	}
	_ = removeEmpty(path) // what a deleted branch below has left
	if err := os.Rename(lock, path); err != nil {
		return fmt.Errorf("move the branch: %w", err)
	}
	done = true
	_ = cache.SyncFolder(filepath.Dir(path)) // it moved, whatever goes wrong after
	h.r.step("ref moved")
	return nil
}

func writeSynced(path, text string, how int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// removeEmpty removes a folder if it holds nothing but such folders.
func removeEmpty(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return err
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if !e.IsDir() {
			return fs.ErrExist
		}
		if err := removeEmpty(filepath.Join(path, e.Name())); err != nil {
			return err
		}
	}
	return errors.Join(err, os.Remove(path))
}

// unlockRef removes the lock of a ref that a killed process of ours has left, of
// which dir is the folder: only if it holds what ours would.
func (r *Repo) unlockRef(dir string) {
	b, err := readFile(filepath.Join(dir, lockedRef), maxSmall)
	lock, text, ok := strings.Cut(string(b), "\x00")
	if err != nil || !ok || !strings.HasSuffix(lock, ".lock") || !within(lock, r.Dir) && !within(lock, r.Common) {
		return
	}
	if now, err := readFile(lock, maxSmall); err == nil && string(now) == text {
		_ = os.Remove(lock)
	}
}

// free refuses a new branch that cannot be beside one that is packed.
func (r *Repo) free(ref string) error {
	var in string
	err := r.packedRefs(func(name string, _ ID) {
		if strings.HasPrefix(name, ref+"/") || strings.HasPrefix(ref, name+"/") {
			in = name
		}
	})
	if err == nil && in != "" {
		err = refused("branch", "The branch %s cannot be made beside %s.", ref, in)
	}
	return err
}

// noteMove writes a line to the log of a ref, where git would.
func (a *alone) noteMove(ref string, c Committed, who, message string) error {
	path := filepath.Join(a.r.refFolder(ref), "logs", filepath.FromSlash(ref))
	o, set, err := a.option("core.logallrefupdates")
	if err != nil {
		return err
	}
	old := c.Parent
	if old == "" {
		old = noID
	}
	how := os.O_WRONLY | os.O_APPEND
	if !set || o.isTrue() || strings.EqualFold(o.value, "always") {
		how |= os.O_CREATE
		_ = removeEmpty(path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, how, 0o666)
	if how&os.O_CREATE == 0 && absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s %s\t%s\n", old, c.ID, who, strings.Join(strings.Fields(message), " "))
	return errors.Join(err, f.Close())
}
