package vault

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// folder is one open folder. What it opens is a direct entry of it and never
// the target of a link, even if the entry is swapped meanwhile. Errors name no
// path. lstat, readlink, openDir and read may be called at the same time.
type folder interface {
	// self is the folder itself.
	self() (node, error)
	// lstat looks at an entry without following a link.
	lstat(name string) (node, error)
	// created is when an entry was made; zero if that is not known.
	created(name string) time.Time
	// readlink is the target of a link.
	readlink(name string) (string, error)
	// openDir opens an entry that is a real folder.
	openDir(name string) (folder, error)
	// read reads an entry that is a regular file into buf, or into a new
	// buffer if buf is too small. With an error the node may be zero.
	read(name string, how reading, buf []byte) (node, []byte, error)
	// entries lists the folder in no order. What could be listed before an
	// error is returned with it.
	entries() ([]fs.DirEntry, error)
	close()
	changing
}

// reading says what of a file may be read.
type reading struct {
	max   int64 // bytes; a larger file is *TooLargeError
	want  *node // if set, which file it has to be; another is ErrChanged
	local bool  // a file whose content would have to be fetched is ErrAway
	part  *span // if set, the bytes to keep; else all
}

// admit judges an open file before its content is read.
func (how reading) admit(n node) error {
	switch {
	case !n.isRegular():
		return errNotRegular
	case how.want != nil && !n.same(*how.want):
		return ErrChanged
	case how.local && n.away:
		return ErrAway
	}
	return nil
}

var (
	// errNotRegular says that an entry is no file: a link, a folder, a pipe.
	errNotRegular = errors.New("not a regular file")
	// errNotFolder says that an entry is no folder, or no longer.
	errNotFolder = errors.New("not a folder")
)

// ErrChanged is in the chain of an error that says that a file was replaced by
// another between being found and being read. Finding it again may help.
var ErrChanged = errors.New("another file took its place")

// ErrAway is in the chain of an error that says that a cloud service holds the
// content of a file, so that it is not on this device.
var ErrAway = errors.New("the content is in the cloud and not on this device")

// isAbsent reports whether err says that nothing has that name.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(absentErrors, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// take reads what is to be kept of an admitted file that has size bytes.
func take[R io.Reader](how reading, r R, size int64, buf []byte) ([]byte, error) {
	if how.part != nil {
		return how.part.fill(r, size, how.max)
	}
	return fill(r, size, how.max, buf)
}

// maxRead is the most bytes to ask for at once; some systems refuse 2 GiB.
const maxRead = 1 << 30

// fill reads r to its end into buf, or into a new buffer if buf is too small.
// size is how much is expected. More than max bytes are *TooLargeError, if
// size says so without reading any.
func fill[R io.Reader](r R, size, max int64, buf []byte) ([]byte, error) {
	if size > max {
		return nil, &TooLargeError{Size: size, Max: max}
	}
	// One byte more than expected, so that a single read also sees the end.
	buf = slices.Grow(buf[:0], int(size)+1)
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, cap(buf))
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), len(buf)+maxRead)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > max {
			return nil, &TooLargeError{Size: int64(len(buf)), Max: max}
		}
		switch {
		case err == io.EOF, err == nil && int64(len(buf)) == size && len(buf) < cap(buf):
			return buf, nil
		case err != nil:
			return nil, err
		}
	}
}

// rootFolder is a folder on any system, by os.Root. That follows links which
// stay inside it, so each entry is looked at before and after it is opened.
type rootFolder struct {
	root *os.Root
	// between, if set, runs after an entry was looked at and before it is
	// opened: where tests put something else in its place.
	between func(name string)
}

// openRootFolder opens the folder of root itself.
func openRootFolder(root *os.Root, _ string) (folder, error) {
	r, err := root.OpenRoot(".")
	if err != nil {
		return nil, bare(err)
	}
	return &rootFolder{root: r}, nil
}

func nodeOf(info fs.FileInfo) node {
	return node{typ: info.Mode().Type(), size: info.Size(), mtime: countable(info.ModTime()), away: isAway(info), info: info}
}

func (d *rootFolder) self() (node, error) {
	info, err := d.root.Stat(".")
	if err != nil {
		return node{}, bare(err)
	}
	return nodeOf(info), nil
}

func (d *rootFolder) lstat(name string) (node, error) {
	// Windows would take a:b for a stream of a, and NUL for a device.
	if !filepath.IsLocal(name) {
		return node{}, fs.ErrNotExist
	}
	info, err := d.root.Lstat(name)
	if err != nil {
		return node{}, bare(err)
	}
	return nodeOf(info), nil
}

func (d *rootFolder) created(name string) time.Time {
	info, err := d.root.Lstat(name)
	if err != nil {
		return time.Time{}
	}
	return createdOf(info)
}

func (d *rootFolder) readlink(name string) (string, error) {
	target, err := d.root.Readlink(name)
	return target, bare(err)
}

func (d *rootFolder) openDir(name string) (folder, error) {
	before, err := d.lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.isDir() {
		return nil, errNotFolder
	}
	if d.between != nil {
		d.between(name)
	}
	r, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, d.swapped(name, before, err, errNotFolder)
	}
	child := &rootFolder{r, d.between}
	opened, err := child.self()
	if err == nil && !opened.same(before) {
		err = errNotFolder
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return child, nil
}

func (d *rootFolder) read(name string, how reading, buf []byte) (node, []byte, error) {
	before, err := d.lstat(name)
	if err != nil {
		return node{}, nil, err
	}
	if !before.isRegular() {
		return node{}, nil, errNotRegular
	}
	if d.between != nil {
		d.between(name)
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return node{}, nil, d.swapped(name, before, err, errNotRegular)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return node{}, nil, bare(err)
	}
	opened := nodeOf(info)
	if !opened.same(before) {
		return node{}, nil, errNotRegular
	}
	if err := how.admit(opened); err != nil {
		return opened, nil, err
	}
	b, err := take(how, f, opened.size, buf)
	return opened, b, bare(err)
}

// swapped is err, or instead if the entry is no longer what it was before: a
// link that leaves the folder, for example, has errors of its own.
func (d *rootFolder) swapped(name string, before node, err, instead error) error {
	if now, e := d.lstat(name); e == nil && !now.same(before) {
		return instead
	}
	return bare(err)
}

func (d *rootFolder) entries() ([]fs.DirEntry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	return list, bare(err)
}

func (d *rootFolder) close() { d.root.Close() }

// countable is a time, or the nearest that can be counted in nanoseconds since
// 1970, as orders and the index do. A file may be said to be of any year.
func countable(t time.Time) time.Time {
	if first := time.Unix(0, math.MinInt64); t.Before(first) {
		return first
	}
	if last := time.Unix(0, math.MaxInt64); t.After(last) {
		return last
	}
	return t
}
