// Package git reads and changes the repository that holds a vault. What it
// reads (HEAD, refs, the index, commits, blobs) it reads from the files; what
// changes somebody's repository goes through their own git program where there
// is one, so that locks, signing, identity, attributes, line ends and sparse
// checkouts are as they are used to. It knows no caller and no folder rules.
package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"vault-mcp/internal/run"
)

// Options say how repositories are worked on.
type Options struct {
	// Programs starts git. Where it finds none, what git would do otherwise than is
	// done here is refused by name.
	Programs *run.Programs
	// Hooks says that the hooks of a repository run at a commit.
	Hooks bool
	// Env looks a variable up in the environment of this process, for what git
	// may see of it; nil: it sees nothing.
	Env func(name string) string

	// at is told of each step of a change, so that a test can end there.
	at func(step string)
}

// Repo is a repository that holds a vault. It keeps no open files: each method
// reads what is there now.
type Repo struct {
	// Work is the root of the work tree and Dir its git folder. Common is where
	// objects and branches are kept: Dir, except in a linked worktree. All are real
	// absolute paths.
	Work, Dir, Common string
	// Prefix is the vault's folder below Work with a slash at its end, or "" if that
	// is the vault. Paths in this package are from Work, with slashes.
	Prefix string

	o Options
}

// ErrNone means that no repository holds the vault.
var ErrNone = errors.New("no git repository holds the vault")

// RefusedError says why a repository, or something in it, is not worked on. Nothing was
// changed.
type RefusedError struct {
	// Kind is one word for programs, such as merge, conflict, reftable, locked.
	Kind string
	// Reason is a sentence for people, and says what to do. It names no folder of
	// this machine.
	Reason string
	// whole is the same with where it is, for the log.
	whole string
}

func (e *RefusedError) Error() string { return e.whole }

// machinePath is a path of this machine: only its last name is for a caller.
type machinePath string

func refused(kind, format string, a ...any) error {
	shown := slices.Clone(a)
	for i, v := range a {
		switch v := v.(type) {
		case machinePath:
			shown[i] = filepath.Base(string(v))
		case error:
			shown[i] = withoutPath(v)
		}
	}
	return &RefusedError{kind, fmt.Sprintf(format, shown...), fmt.Sprintf(format, a...)}
}

// withoutPath is what the system said, and not of which file.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// ID is the name of an object: 40 hex digits, or "" for none.
type ID string

// Mode is the mode of an entry, as git writes it: 0o100644, 0o100755, 0o120000
// (a symbolic link), 0o160000 (a submodule); 0 for none.
type Mode uint32

// Head is what HEAD says.
type Head struct {
	// Ref is the branch, such as refs/heads/main; "" if HEAD is detached.
	Ref string
	// Commit is "" as long as the branch has none.
	Commit ID
}

// Entry is one entry of the index.
type Entry struct {
	Path string
	Mode Mode
	ID   ID
	// Stage is 0, or 1 to 3 for the base, our and their side of a conflict.
	Stage                     int
	SkipWorktree, IntentToAdd bool
}

// Change is how one path differs between two states.
type Change struct {
	// Path is its path afterwards; From is its path before if it was renamed.
	Path, From string
	// Status is A, M, D, R, T (another type) or U (a conflict).
	Status           byte
	OldMode, NewMode Mode
	Old, New         ID
}
