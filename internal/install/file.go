package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vault-mcp/cache"
)

// BackupSuffix is what the name of a backup ends with. There is one for each file:
// its text before the last change here that was not a change of an entry made
// here.
const BackupSuffix = ".vault-mcp-backup"

// File is a client's file as it was read.
type File struct {
	Path string
	Text []byte
	// Exists is false if there is no such file yet.
	Exists bool

	real string // where a link leads
	info fs.FileInfo
}

// ErrChanged is a file that somebody else has changed since it was read.
var ErrChanged = errors.New("the file was changed by another program just now, and is left as it is: try again")

// Open reads a file. It need not exist.
func Open(path string) (*File, error) {
	f := &File{Path: path, real: path}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%q is a link that leads nowhere: make its target, or take the link away", path)
	}
	if err != nil {
		return nil, err
	}
	f.real, f.Exists = real, true
	if f.info, err = os.Stat(real); err != nil {
		return nil, err
	}
	if !f.info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no file", path)
	}
	f.Text, err = os.ReadFile(real)
	return f, err
}

// unchanged sees that the file is still as it was read.
func (f *File) unchanged() error {
	now, err := Open(f.Path)
	if err != nil {
		return err
	}
	if now.Exists != f.Exists || now.real != f.real || !bytes.Equal(now.Text, f.Text) {
		return ErrChanged
	}
	return nil
}

// Write puts another text into the file: a reader sees the old or the new. Its mode
// stays; a new file is for this account alone.
func (f *File) Write(text []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.real), 0o755); err != nil {
		return err
	}
	return f.put(f.real, text, f.unchanged)
}

// put writes to a path beside or of the file, with its mode, if sure still says so
// when all is ready.
func (f *File) put(path string, text []byte, sure func() error) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(text)
	if f.Exists {
		err = errors.Join(err, temp.Chmod(f.info.Mode().Perm()), keepOwner(temp, f.info))
	}
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = sure()
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return err
	}
	return cache.SyncFolder(dir)
}

// Backup is where the file's backup is.
func (f *File) Backup() string { return f.Path + BackupSuffix }

// Keep makes the backup.
func (f *File) Keep() error {
	return f.put(f.Backup(), f.Text, func() error { return nil })
}

// Install writes the entry into the file, after a backup of what was there.
func (f *File) Install(w Wanted) (Outcome, error) {
	text, outcome, err := w.Put(f.Text)
	if err != nil || outcome == Current {
		return outcome, err
	}
	if _, ok := f.before(w); !ok && f.Exists {
		if err := f.Keep(); err != nil {
			return "", fmt.Errorf("no backup, so nothing was changed: %w", err)
		}
	}
	return outcome, f.Write(text)
}

// Without is what the file becomes when the entry is taken out; nil is no file at
// all.
func (f *File) Without(w Wanted) ([]byte, Outcome, error) {
	text, outcome, err := w.Take(f.Text)
	if err != nil || outcome == Absent {
		return f.Text, outcome, err
	}
	if before, ok := f.before(w); ok {
		return before, Restored, nil
	}
	return text, outcome, nil
}

// Uninstall takes back what Install did. If nothing else has changed since, the file
// is again what it was, with the older entry if it had one, or gone if there was none;
// else the entry is taken out.
func (f *File) Uninstall(w Wanted) (Outcome, error) {
	text, outcome, err := f.Without(w)
	switch {
	case err != nil || outcome == Absent:
		return outcome, err
	case outcome == Removed:
		if err := f.Keep(); err != nil {
			return "", fmt.Errorf("no backup, so nothing was changed: %w", err)
		}
		return outcome, f.Write(text)
	case text == nil:
		if err := f.unchanged(); err != nil {
			return "", err
		}
		return outcome, os.Remove(f.real)
	}
	if err := f.Write(text); err != nil {
		return "", err
	}
	return outcome, os.Remove(f.Backup())
}

// before is the file's text before the entry came, or before an older one was
// brought up to date; nil if there was no file. It
// is false if anything else has changed since, or nothing tells.
func (f *File) before(w Wanted) ([]byte, bool) {
	e, err := Find(w.Client, f.Text, w.Name)
	if err != nil || e == nil {
		return nil, false
	}
	vault, ok := Serves(*e)
	if !ok {
		return nil, false
	}
	w.Command, w.Vault, w.Force = e.Command, vault, true
	made := func(from []byte) bool {
		text, outcome, err := w.Put(from)
		return err == nil && (outcome == Added || outcome == Updated) && bytes.Equal(text, f.Text)
	}
	if backup, err := os.ReadFile(f.Backup()); err == nil && made(backup) {
		return backup, true
	}
	return nil, f.real == f.Path && made(nil)
}
