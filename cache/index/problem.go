package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"modernc.org/sqlite"

	"vault-mcp/vault"
)

const (
	errnoBusy     = 5
	errnoReadOnly = 8
	errnoIO       = 10
	errnoFull     = 13
	errnoCantOpen = 14
)

// reason is what a person is told about an error of the database. It holds no
// path of the machine.
func reason(err error) string {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case errnoBusy:
			return "another process keeps the index locked"
		case errnoReadOnly:
			return "the state folder cannot be written to"
		case errnoFull:
			return "the disk with the state folder is full"
		case errnoIO:
			return "the disk with the state folder reports errors"
		case errnoCantOpen:
			return "the index cannot be opened in the state folder"
		}
	}
	switch {
	case damaged(err):
		return "the index is damaged and is being built anew"
	case errors.Is(err, fs.ErrPermission):
		return "the state folder cannot be written to"
	case errors.Is(err, fs.ErrNotExist):
		return "the state folder is gone"
	case errors.Is(err, errReplaced):
		return "the index was removed and is being built anew"
	case errors.Is(err, errVault):
		return "the vault's folder cannot be read, or is empty"
	case errors.Is(err, context.DeadlineExceeded):
		return "the index did not take in a change in time"
	}
	return "the index cannot be used"
}

var (
	// errReplaced says that the database is no longer the file at its path.
	errReplaced = errors.New("the index was removed")
	// errVault says that the vault's root cannot be walked.
	errVault = errors.New("the vault cannot be read")
)

// unread is why a file or folder is not read.
func unread(err error) string {
	if e, ok := errors.AsType[*vault.TooLargeError](err); ok {
		return fmt.Sprintf("it is larger than the %d bytes that are read", e.Max)
	}
	switch {
	case errors.Is(err, vault.ErrAway):
		return vault.ErrAway.Error()
	case errors.Is(err, vault.ErrIrregular):
		return vault.ErrIrregular.Error()
	case errors.Is(err, vault.ErrName):
		return vault.ErrName.Error()
	case errors.Is(err, fs.ErrPermission):
		return "the operating system does not let the server read it"
	}
	return unreadable
}

// unreadable is the problem of what may be readable at another time.
const unreadable = "it could not be read"

// notText is the problem of a note that is not UTF-8.
const notText = "its content is not UTF-8 text"

func mergeSkipped(a, b []Skipped) []Skipped {
	all := append(a, b...)
	slices.SortFunc(all, func(a, b Skipped) int { return cmp.Compare(a.Path, b.Path) })
	return slices.Compact(all)
}
