package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

const (
	// maxSmall bounds files of one line, maxConfig a config, and maxTable the
	// index and packed-refs, in bytes.
	maxSmall  = 64 << 10
	maxConfig = 4 << 20
	maxTable  = 1 << 28
)

// readFile is the content of a regular file of at most max bytes. Anything else
// of its name is an error: a pipe would never end.
func readFile(path string, max int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readOpen(f, info, max)
}

// readSame is readFile of the very file that was looked at before, and of none that
// a link has led to since.
func readSame(path string, was fs.FileInfo, max int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || !os.SameFile(info, was) {
		return nil, errors.Join(err, fmt.Errorf("%s is another file by now", path))
	}
	return readOpen(f, was, max)
}

func readOpen(f *os.File, info fs.FileInfo, max int64) ([]byte, error) {
	b := make([]byte, 0, min(info.Size(), max)+1)
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > max:
			return nil, fmt.Errorf("%s has more than %d bytes", f.Name(), max)
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}

// absent reports that there is no such file, and nothing else: one that cannot be
// read is there. A file where the path has a folder means so too.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
