package vault

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Place is an open folder of the vault in which entries are changed. Every
// name is that of a direct entry; no link is followed, neither on the way to
// the folder nor in it. Errors name no path of the machine. The caller has
// judged what it changes: a Place knows no rules.
type Place struct {
	v   *Vault
	rel string
	dir folder
	own *os.Root // of a Place outside a vault
}

// Entry is what is known of one entry of a Place.
type Entry struct {
	// Dir and Regular say what it is; with neither it is a link or a device.
	Dir, Regular bool
	Size         int64
	ModTime      time.Time
	// Mode are the permission bits.
	Mode fs.FileMode
	// Links is how many names the file has; 0 if that is not known.
	Links uint64
	// Device and Inode are the file's identity, where the system has one.
	Device, Inode uint64
}

// ErrUnsupported says that the file system cannot do what was asked in one step.
var ErrUnsupported = errors.New("the file system cannot do that in one step")

// Place opens the folder rel, which has to exist and to be spelled as on disk.
// The error is fs.ErrNotExist if it does not, or is no folder.
func (v *Vault) Place(rel string) (*Place, error) {
	d, err := v.openDir(rel)
	if err != nil {
		if err == errNotFolder || isAbsent(err) {
			err = fs.ErrNotExist
		}
		return nil, err
	}
	return &Place{v: v, rel: rel, dir: d}, nil
}

// Close ends the use of the Place.
func (p *Place) Close() {
	p.dir.close()
	if p.own != nil {
		p.own.Close()
	}
}

// Stat looks at an entry. It fails with fs.ErrNotExist if there is none.
func (p *Place) Stat(name string) (Entry, error) {
	e, err := p.dir.stat(name)
	if err != nil && isAbsent(err) {
		err = fs.ErrNotExist
	}
	return e, err
}

// Names lists the folder in no order.
func (p *Place) Names() ([]string, error) {
	list, err := p.dir.entries()
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names, err
}

// Read reads a regular file of at most max bytes; a larger one is
// *TooLargeError. An entry that is no file, or none, is fs.ErrNotExist.
func (p *Place) Read(name string, max int64) ([]byte, error) {
	_, b, err := p.dir.read(name, reading{max: max}, nil)
	if err == errNotRegular || err != nil && isAbsent(err) {
		err = fs.ErrNotExist
	}
	return b, err
}

// Write makes a file that must not exist, with this content, the permissions (0:
// those that the system gives a new file) and, where like is set, the extended attributes and the group of the entry
// like. The bytes are on the disk when it returns; the name is so after Sync.
func (p *Place) Write(name string, content []byte, mode fs.FileMode, like string) (err error) {
	perm := fs.FileMode(0o666)
	if mode != 0 {
		perm = 0o600 // until all of it is as it should be
	}
	f, err := p.dir.create(name, perm)
	if err != nil {
		return bare(err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = bare(e)
		}
		if err != nil {
			_ = p.dir.remove(name) // the error that matters is err
		}
	}()
	if _, err := f.Write(content); err != nil {
		return bare(err)
	}
	if like != "" {
		p.dir.inherit(f, like)
	}
	if mode == 0 {
		return bare(f.Sync())
	}
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return bare(err)
	}
	return bare(f.Sync())
}

// Swap exchanges two entries in one step. It fails with ErrUnsupported where
// the system cannot.
func (p *Place) Swap(a, b string) error { return p.dir.swap(a, b) }

// Link gives a file a second name, which must not exist. It fails with
// ErrUnsupported on file systems without hard links.
func (p *Place) Link(name, second string) error { return p.dir.link(name, second) }

// Replace gives an entry another name and drops what had it.
func (p *Place) Replace(name, as string) error { return p.dir.replace(name, as) }

// Move gives an entry a name in another folder, or in the same one, in one step
// that never takes the place of anything: it fails with fs.ErrExist then.
// Between devices it fails with ErrUnsupported.
func (p *Place) Move(name string, to *Place, as string) error {
	return p.dir.move(p, name, to, as)
}

// Remove removes a file, or a link.
func (p *Place) Remove(name string) error { return p.dir.remove(name) }

// RemoveDir removes an empty folder.
func (p *Place) RemoveDir(name string) error { return p.dir.removeDir(name) }

// Mkdir makes a folder that must not exist.
func (p *Place) Mkdir(name string) error { return p.dir.mkdir(name) }

// Sync makes sure that what was done to entries is on the disk. Systems that
// cannot do that for a folder answer nil: they order such changes themselves.
func (p *Place) Sync() error { return p.dir.sync() }

// changing is what a folder does beside being read.
type changing interface {
	stat(name string) (Entry, error)
	create(name string, perm fs.FileMode) (*os.File, error)
	// inherit gives an open file what else belongs to an entry than its
	// content, as far as it may.
	inherit(f *os.File, like string)
	swap(a, b string) error
	link(name, second string) error
	replace(name, as string) error
	move(from *Place, name string, to *Place, as string) error
	remove(name string) error
	removeDir(name string) error
	mkdir(name string) error
	sync() error
}
