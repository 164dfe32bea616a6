package vault

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"
)

// The steps below look before they act: os.Root cannot do better.

func (d *rootFolder) stat(name string) (Entry, error) {
	n, err := d.lstat(name)
	if err != nil {
		return Entry{}, err
	}
	return Entry{Dir: n.isDir(), Regular: n.isRegular(), Size: n.size, ModTime: n.mtime, Mode: n.info.Mode().Perm()}, nil
}

func (d *rootFolder) create(name string, perm fs.FileMode) (*os.File, error) {
	return d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

func (d *rootFolder) inherit(*os.File, string) {}

func (d *rootFolder) swap(string, string) error { return ErrUnsupported }

func (d *rootFolder) link(name, second string) error {
	err := patiently(func() error { return d.root.Link(name, second) })
	if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return ErrUnsupported
	}
	return bare(err)
}

func (d *rootFolder) replace(name, as string) error {
	return bare(patiently(func() error { return d.root.Rename(name, as) }))
}

func (d *rootFolder) move(from *Place, name string, to *Place, as string) error {
	if _, err := to.dir.lstat(as); err == nil {
		return fs.ErrExist
	}
	return bare(patiently(func() error { return from.v.root.Rename(join(from.rel, name), join(to.rel, as)) }))
}

func (d *rootFolder) remove(name string) error {
	return bare(patiently(func() error { return d.root.Remove(name) }))
}

func (d *rootFolder) removeDir(name string) error { return d.remove(name) }

func (d *rootFolder) mkdir(name string) error { return bare(d.root.Mkdir(name, 0o777)) }

func (d *rootFolder) sync() error { return nil }

// sharing is what Windows answers while another program, an editor or a virus
// scanner, has the file open (ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION).
var sharing = []syscall.Errno{32, 33}

// patiently tries for up to a second and a half while another program has the
// file open.
func patiently(do func() error) error {
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		err := do()
		if err == nil || runtime.GOOS != "windows" || pause > time.Second || !inUse(err) {
			return err
		}
		time.Sleep(pause)
	}
}

func inUse(err error) bool {
	for _, e := range sharing {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
