package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/text/unicode/norm"
)

// hasProgram decides which way a repository is worked on: by the git program where
// there is one, else alone. Alone, what git would do otherwise is refused by name.
func (r *Repo) hasProgram() bool { return r.o.Programs != nil && r.o.Programs.Has("git") }

// alone works on a repository without the git program. It lives for one call.
type alone struct {
	r  *Repo
	o  *objects
	ix *Index

	options []option
	// compose says that git stores names in their composed form; fold that names which differ in case are one file, modes that the mode
	// of a file says whether it is executable, links that links are made as such.
	compose, fold, modes, links, sparse bool
	// autocrlf and safecrlf are about line ends, "" if they do nothing.
	autocrlf string
	safecrlf bool

	// rules are the attributes of each file of them that was read, exclude the two
	// lists of ignored files that are not in a folder.
	rules   map[string][]attributeLine
	exclude [][]pattern
	tries   int
}

// alone reads the settings that say what a file is in git. close must follow.
func (r *Repo) alone(ix *Index) (*alone, error) {
	a := &alone{r: r, ix: ix, rules: map[string][]attributeLine{}}
	var err error
	if a.options, err = r.config(); err != nil {
		return nil, err
	}
	for name, to := range map[string]*bool{"core.precomposeunicode": &a.compose, "core.ignorecase": &a.fold, "core.filemode": &a.modes, "core.symlinks": &a.links, "core.sparsecheckout": &a.sparse} {
		if *to, err = a.on(name, to == &a.modes || to == &a.links); err != nil {
			return nil, err
		}
	}
	a.compose = a.compose && runtime.GOOS == "darwin" // elsewhere git does not read it
	if a.autocrlf, err = a.choice("core.autocrlf"); err != nil {
		return nil, err
	}
	safe, err := a.choice("core.safecrlf")
	if err != nil {
		return nil, err
	}
	a.safecrlf = safe != "" && safe != "warn"
	if tree, err := a.choice("attr.tree"); err != nil || tree != "" {
		return nil, errors.Join(err, refused("attributes", "The config takes attributes from attr.tree, which needs the git program."))
	}
	a.o, err = r.objects()
	return a, err
}

func (a *alone) close() { a.o.close() }

// writable refuses what a change would do otherwise than git.
func (a *alone) writable() error {
	switch shared, err := a.choice("core.sharedrepository"); {
	case err != nil:
		return err
	case shared != "" && shared != "umask" && shared != "0":
		return refused("shared", "The repository is shared between accounts (core.sharedRepository), which needs the git program.")
	}
	return nil
}

// content is what git would store for a file of the work tree: its text, or where
// a link leads. Where git would convert it, that is refused.
func (a *alone) content(path string, info fs.FileInfo) ([]byte, error) {
	full := filepath.Join(a.r.Work, filepath.FromSlash(path))
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(full)
		return []byte(to), err
	}
	if info.Size() > maxObject {
		return nil, refused("large", "%s has %d bytes; without the git program at most %d are read.", path, info.Size(), maxObject)
	}
	b, err := readSame(full, info, maxObject)
	if err != nil {
		return nil, refused("unreadable", "%s cannot be read: %v.", path, err)
	}
	if at := a.ix.At(path); len(at) > 0 && at[0].Mode == linkMode && !a.links {
		return b, nil
	}
	return b, a.unconverted(path, b)
}

// modeOf is the mode that git would give a file, which known is the entry of.
func (a *alone) modeOf(info fs.FileInfo, known []Entry) Mode {
	before := Mode(0)
	for _, e := range known {
		if e.Stage == 0 || e.Stage == 2 {
			before = e.Mode
		}
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return linkMode
	case !a.links && before == linkMode:
		return linkMode
	case !a.modes && before&typeBits == fileMode&typeBits:
		return before
	case a.modes && info.Mode()&0o100 != 0:
		return execMode
	}
	return fileMode
}

// idOf is the name of a file's content.
func idOf(content []byte) ID {
	return oid(plumbing.ComputeHash(plumbing.BlobObject, content)).id()
}

// have reports whether the repository has an object.
func (a *alone) have(id oid) (bool, error) {
	_, _, err := a.o.size(id)
	if e, ok := errors.AsType[*RefusedError](err); ok && e.Kind == "missing" {
		return false, nil
	}
	return err == nil, err
}

// sameFolded refuses a new path that git would store in another form: in that of a
// known one that differs in case alone, or composed.
func (a *alone) sameFolded(path string) error {
	if a.compose && !norm.NFC.IsNormalString(path) {
		return refused("unicode", "git would store the name of %s in another form (core.precomposeUnicode): name it in its composed form.", path)
	}
	if !a.fold || len(a.ix.At(path)) > 0 {
		return nil
	}
	for _, e := range a.ix.Entries {
		if strings.EqualFold(e.Path, path) {
			return refused("case", "git knows %s in other letters, and core.ignoreCase takes them for one: name it as git does.", path)
		}
	}
	return nil
}

// reader is alone for what only looks.
func (r *Repo) reader(ctx context.Context) (*alone, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ix, err := r.Index()
	if err != nil {
		return nil, err
	}
	return r.alone(ix)
}
