package change

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"vault-mcp/internal/fault"
	"vault-mcp/vault"
)

// DriftError says that the vault is no longer as it was when the plan was made.
// Nothing was written and nothing spent.
type DriftError struct {
	// Paths are the files at which it differs.
	Paths []string
	// Plan is the plan as it would be now.
	Plan Plan
}

func (e *DriftError) Error() string {
	return fmt.Sprintf("the vault has changed since the plan was made: %s", strings.Join(e.Paths, ", "))
}

// modified is the fault of a file that something else wrote while the plan was
// being applied.
func modified(path string) error {
	return fault.New(fault.ConcurrentModification, "%q was changed by another program while the change was being made; nothing of it was kept.", path).
		With("path", path)
}

// taken is the fault of a name that has come to exist.
func taken(path string) error {
	return fault.New(fault.ConcurrentModification, "%q came to exist while the change was being made; nothing was changed.", path).With("path", path)
}

// failed says for people why a file could not be written.
func failed(path string, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	why := "the system refused it"
	switch {
	case errors.Is(err, errMarked):
		why = "the file is marked read-only"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		why = "the disk is full"
	case errors.Is(err, syscall.EROFS):
		why = "the file system is read-only"
	case errors.Is(err, fs.ErrPermission):
		why = "this account may not write there"
	case errors.Is(err, fs.ErrNotExist):
		why = "its folder is gone"
	case errors.Is(err, fs.ErrExist):
		return taken(path)
	}
	return fault.New(fault.WriteFailed, "%q could not be written: %s. Nothing was changed.", path, why).With("path", path).Because(err)
}

// errMarked is the error of a file that nobody may write, as its permissions say.
// A new file in its place would be a way round that.
var errMarked = errors.New("the file is marked read-only")

// marked is errMarked for such a file.
func marked(e vault.Entry) error {
	if e.Regular && e.Mode&0o222 == 0 {
		return errMarked
	}
	return nil
}

// indeterminate is the fault of a change of which something may be left.
func indeterminate(r *Record, cause error) error {
	return fault.New(fault.IndeterminateOutcome, "The change failed and could not be taken back everywhere: look at %s.", strings.Join(r.Foreign, ", ")).
		With("change_id", r.ID).With("paths", r.Foreign).Because(cause)
}
