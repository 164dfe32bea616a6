//go:build linux || darwin

package vault

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// newFolder are the permissions of a new folder, before the umask.
const newFolder = 0o777

func again(do func() error) error {
	for {
		if err := do(); err != unix.EINTR {
			return err
		}
	}
}

func (d *fdFolder) stat(name string) (Entry, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	runtime.KeepAlive(d)
	typ := st.Mode & unix.S_IFMT
	return Entry{
		Dir: typ == unix.S_IFDIR, Regular: typ == unix.S_IFREG, Size: st.Size, ModTime: time.Unix(st.Mtim.Unix()),
		Mode: fs.FileMode(st.Mode & 0o777), Links: uint64(st.Nlink), Device: uint64(st.Dev), Inode: st.Ino,
	}, err
}

func (d *fdFolder) create(name string, perm fs.FileMode) (*os.File, error) {
	var fd int
	err := again(func() (err error) {
		fd, err = unix.Openat(d.fd, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(perm))
		return err
	})
	runtime.KeepAlive(d)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d *fdFolder) inherit(f *os.File, like string) {
	fd, err := openat(d.fd, like, unix.O_NONBLOCK)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st, own unix.Stat_t
	if unix.Fstat(fd, &st) == nil && unix.Fstat(int(f.Fd()), &own) == nil && (st.Gid != own.Gid || st.Uid != own.Uid) {
		if unix.Fchown(int(f.Fd()), int(st.Uid), int(st.Gid)) != nil {
			_ = unix.Fchown(int(f.Fd()), -1, int(st.Gid))
		}
	}
	if n, err := unix.Flistxattr(fd, nil); err != nil || n == 0 {
		return // most have none
	}
	names := make([]byte, 16<<10)
	n, err := unix.Flistxattr(fd, names)
	if err != nil {
		return
	}
	value := make([]byte, 64<<10)
	for _, name := range splitNames(names[:n]) {
		if m, err := unix.Fgetxattr(fd, name, value); err == nil {
			_ = unix.Fsetxattr(int(f.Fd()), name, value[:m], 0) // those of the system are refused
		}
	}
}

func splitNames(b []byte) (names []string) {
	for len(b) > 0 {
		i := slices.Index(b, 0)
		if i < 0 {
			break
		}
		names = append(names, string(b[:i]))
		b = b[i+1:]
	}
	return names
}

// oneStep says of an error that the file system lacks what was asked for.
func oneStep(err error) error {
	switch err {
	case unix.EINVAL, unix.ENOSYS, unix.ENOTSUP, unix.EXDEV, unix.EPERM, unix.EMLINK:
		return ErrUnsupported
	case unix.EEXIST, unix.ENOTEMPTY:
		return fs.ErrExist
	}
	return err
}

func (d *fdFolder) swap(a, b string) error {
	err := again(func() error { return renameSwap(d.fd, a, b) })
	runtime.KeepAlive(d)
	return oneStep(err)
}

func (d *fdFolder) link(name, second string) error {
	err := again(func() error { return unix.Linkat(d.fd, name, d.fd, second, 0) })
	runtime.KeepAlive(d)
	return oneStep(err)
}

func (d *fdFolder) replace(name, as string) error {
	err := again(func() error { return unix.Renameat(d.fd, name, d.fd, as) })
	runtime.KeepAlive(d)
	return err
}

func (d *fdFolder) move(_ *Place, name string, to *Place, as string) error {
	t := to.dir.(*fdFolder)
	err := oneStep(again(func() error { return renameNew(d.fd, name, t.fd, as) }))
	if errors.Is(err, ErrUnsupported) {
		err = d.moveInSteps(name, t, as)
	}
	runtime.KeepAlive(d)
	runtime.KeepAlive(t)
	return err
}

// moveInSteps is for file systems whose rename cannot be told to take the place
// of nothing. A file takes its new name by a link, which never does; a folder
// cannot, so there a name that appears within the step is the named residual
// (and then only an empty folder can be taken the place of).
func (d *fdFolder) moveInSteps(name string, t *fdFolder, as string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(t.fd, as, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil {
		return fs.ErrExist
	}
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		err := oneStep(again(func() error { return unix.Linkat(d.fd, name, t.fd, as, 0) }))
		if err == nil {
			return again(func() error { return unix.Unlinkat(d.fd, name, 0) })
		}
		if !errors.Is(err, ErrUnsupported) {
			return err
		}
	}
	switch err := again(func() error { return unix.Renameat(d.fd, name, t.fd, as) }); err {
	case unix.EXDEV:
		return ErrUnsupported
	case unix.EEXIST, unix.ENOTEMPTY:
		return fs.ErrExist
	default:
		return err
	}
}

func (d *fdFolder) remove(name string) error {
	err := again(func() error { return unix.Unlinkat(d.fd, name, 0) })
	runtime.KeepAlive(d)
	return err
}

func (d *fdFolder) removeDir(name string) error {
	err := again(func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) })
	runtime.KeepAlive(d)
	return err
}

func (d *fdFolder) mkdir(name string) error {
	err := again(func() error { return unix.Mkdirat(d.fd, name, newFolder) })
	runtime.KeepAlive(d)
	if err == unix.EEXIST {
		return fs.ErrExist
	}
	return err
}

func (d *fdFolder) sync() error {
	err := again(func() error { return unix.Fsync(d.fd) })
	runtime.KeepAlive(d)
	if err == unix.EINVAL || err == unix.ENOTSUP {
		return nil
	}
	return err
}
