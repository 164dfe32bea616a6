package index

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"syscall"

	"modernc.org/sqlite"
)

const (
	errnoBusy     = 5
	errnoReadOnly = 8
	errnoIO       = 10
	errnoFull     = 13
	errnoCantOpen = 14
)

// Reason is what a person is told about an error that Options.Report is told,
// with what to do if that is not plain. It holds no path of the machine.
func Reason(err error) string {
	const shmSize = 4874 // of the kind errnoIO
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		if e.Code() == shmSize { // only room can be missing
			return full
		}
		switch e.Code() & 0xff {
		case errnoBusy:
			return "another process keeps the index locked"
		case errnoReadOnly:
			return readOnly
		case errnoFull:
			return full
		case errnoIO:
			return "the disk with the state folder reports errors"
		case errnoCantOpen:
			return "the index cannot be opened in the state folder"
		}
	}
	switch {
	case damaged(err):
		return "the index is damaged and is being built anew"
	case isFull(err):
		return full
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return readOnly
	case errors.Is(err, errIrregular):
		return "in the state folder a link, a folder or something else is in the place of a file of the index: remove it"
	case errors.Is(err, fs.ErrNotExist):
		return "the state folder is gone"
	case errors.Is(err, errReplaced):
		return "the index was removed and is being built anew"
	case errors.Is(err, errVault):
		return "the vault's folder cannot be read, or is empty"
	case errors.Is(err, context.DeadlineExceeded):
		return "the index did not take in a change in time"
	}
	return "the index cannot be used; the server's log says why"
}

const (
	full     = "the disk with the state folder is full: make room there, and the index goes on by itself"
	readOnly = "the state folder cannot be written to"
)

func isFull(err error) bool {
	if runtime.GOOS == "windows" {
		const diskFull, handleDiskFull = syscall.Errno(112), syscall.Errno(39)
		return errors.Is(err, diskFull) || errors.Is(err, handleDiskFull)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

var (
	// errReplaced says that the database is no longer the file at its path.
	errReplaced = errors.New("the index was removed")
	// errIrregular says that what is to be opened is no file.
	errIrregular = errors.New("it is no file")
	// errVault says that the vault's root cannot be walked.
	errVault = errors.New("the vault cannot be read")
)

func mergeSkipped(a, b []Skipped) []Skipped {
	all := append(a, b...)
	slices.SortFunc(all, func(a, b Skipped) int { return cmp.Compare(a.Path, b.Path) })
	return slices.Compact(all)
}
