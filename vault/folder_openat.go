//go:build linux || darwin

package vault

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// fdFolder is a folder by its descriptor: the kernel opens one name in it and
// refuses a link, in a single step that nothing can get between.
type fdFolder struct {
	f    *os.File // nil until the folder is listed, for all but the vault's own
	fd   int
	path string // real path, for the listing alone: some file systems need it to tell types
	// rooted is set if f was opened by a Root: such a file looks at each entry
	// that it lists, as at as many files.
	rooted bool
	// listed is set once the descriptor's position is no longer the start.
	listed bool
}

// openFolder opens the folder of root itself, whose real path is path.
func openFolder(root *os.Root, path string) (folder, error) {
	f, err := root.OpenFile(".", os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, bare(err)
	}
	return &fdFolder{f: f, fd: int(f.Fd()), path: path, rooted: true}, nil
}

func openat(fd int, name string, flags int) (int, error) {
	for {
		n, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0)
		if err != unix.EINTR {
			return n, err
		}
	}
}

func nodeOfStat(st *unix.Stat_t) node {
	n := node{
		size:  st.Size,
		mtime: countable(time.Unix(st.Mtim.Unix())),
		away:  isAwayStat(st),
		dev:   uint64(st.Dev),
		ino:   st.Ino,
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		n.typ = fs.ModeDir
	case unix.S_IFLNK:
		n.typ = fs.ModeSymlink
	default:
		n.typ = fs.ModeIrregular
	}
	return n
}

func (d *fdFolder) self() (node, error) { return d.fstat(d.fd) }

func (d *fdFolder) fstat(fd int) (node, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	for err == unix.EINTR {
		err = unix.Fstat(fd, &st)
	}
	runtime.KeepAlive(d)
	return nodeOfStat(&st), err
}

func (d *fdFolder) lstat(name string) (node, error) {
	var st unix.Stat_t
	err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	for err == unix.EINTR {
		err = unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	runtime.KeepAlive(d)
	return nodeOfStat(&st), err
}

func (d *fdFolder) created(name string) time.Time { return createdAt(d.fd, name) }

func (d *fdFolder) readlink(name string) (string, error) {
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(d.fd, name, buf)
	runtime.KeepAlive(d)
	if err != nil {
		return "", err
	}
	if n == len(buf) {
		return "", unix.ENAMETOOLONG
	}
	return string(buf[:n]), nil
}

func (d *fdFolder) openDir(name string) (folder, error) {
	fd, err := openat(d.fd, name, unix.O_DIRECTORY)
	runtime.KeepAlive(d)
	switch err {
	case nil:
	case unix.ELOOP, unix.ENOTDIR:
		return nil, errNotFolder
	default:
		return nil, err
	}
	path := d.path + "/" + name
	return &fdFolder{fd: fd, path: path}, nil
}

func (d *fdFolder) read(name string, how reading, buf []byte) (node, []byte, error) {
	fd, err := openat(d.fd, name, unix.O_NONBLOCK)
	switch err {
	case nil:
	case unix.ELOOP, unix.ENXIO:
		return node{}, nil, errNotRegular // a link; a socket
	default:
		return node{}, nil, err
	}
	defer unix.Close(fd)
	n, err := d.fstat(fd)
	if err != nil {
		return node{}, nil, err
	}
	if err := how.admit(n); err != nil {
		return n, nil, err
	}
	b, err := take(how, fdReader(fd), n.size, buf)
	if errors.Is(err, unix.EDEADLK) {
		err = ErrAway // how macOS refuses to fetch a file
	}
	return n, b, err
}

func (d *fdFolder) entries() ([]fs.DirEntry, error) {
	if d.rooted {
		fd, err := openat(d.fd, ".", unix.O_DIRECTORY)
		if err != nil {
			return nil, bare(err)
		}
		d.f.Close()
		d.f, d.fd, d.rooted = nil, fd, false
	}
	if d.listed {
		if _, err := d.f.Seek(0, io.SeekStart); err != nil {
			return nil, bare(err)
		}
	}
	if d.f == nil {
		d.f = os.NewFile(uintptr(d.fd), d.path)
	}
	d.listed = true
	list, err := d.f.ReadDir(-1)
	return list, bare(err)
}

func (d *fdFolder) close() {
	if d.f == nil {
		_ = unix.Close(d.fd) // only read from
		return
	}
	d.f.Close()
}

// fdReader reads a descriptor.
type fdReader int

func (fd fdReader) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(fd), b)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}
