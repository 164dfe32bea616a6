package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	treeMode      Mode = 0o40000
	fileMode      Mode = 0o100644
	execMode      Mode = 0o100755
	linkMode      Mode = 0o120000
	submoduleMode Mode = 0o160000
	typeBits      Mode = 0o170000
)

// maxTreeFiles bounds the files of one tree: the same folder many times over could
// make any number of a few bytes.
const maxTreeFiles = 2_000_000

// treeEntry is one line of a tree.
type treeEntry struct {
	name string
	mode Mode
	id   oid
}

// nextEntry reads the first line of a tree's data and returns what follows.
func nextEntry(b []byte) (e treeEntry, rest []byte, err error) {
	bad := errors.New("a folder of the repository cannot be read: an entry of it is cut short")
	mode, rest, ok := bytes.Cut(b, []byte{' '})
	if !ok {
		return e, nil, bad
	}
	name, rest, ok := bytes.Cut(rest, []byte{0})
	if !ok || len(rest) < 20 || len(name) == 0 || bytes.IndexByte(name, '/') >= 0 {
		return e, nil, bad
	}
	m, err := strconv.ParseUint(string(mode), 8, 32)
	if err != nil {
		return e, nil, bad
	}
	return treeEntry{string(name), canonical(Mode(m)), oid(rest[:20])}, rest[20:], nil
}

// canonical is a mode as git reads it: old trees have others of the same meaning.
func canonical(m Mode) Mode {
	switch m & typeBits {
	case fileMode & typeBits:
		if m&0o100 != 0 {
			return execMode
		}
		return fileMode
	case linkMode, treeMode:
		return m & typeBits
	}
	return submoduleMode
}

// tree reads a tree's data.
func (o *objects) tree(id oid) ([]byte, error) {
	if id == emptyTree {
		return nil, nil // it need not be there
	}
	return o.get(id, plumbing.TreeObject, maxObject)
}

// emptyTree is the name of a tree without entries.
var emptyTree, _ = parseOID("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

// walk calls file for all that is not a folder in a tree, in the order of the
// index.
type walk struct {
	ctx context.Context
	o   *objects
	// skip, if given, is asked about each folder; its path ends with a slash.
	skip func(path string, id oid) bool
	file func(path string, e treeEntry) error

	seen int
}

// tree walks a tree whose path, with a slash at its end, is prefix.
func (w *walk) tree(id oid, prefix string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if len(prefix) > 1<<16 {
		return errors.New("folders of the repository are too deep")
	}
	b, err := w.o.tree(id)
	if err != nil {
		return err
	}
	for len(b) > 0 {
		var e treeEntry
		if e, b, err = nextEntry(b); err != nil {
			return err
		}
		if w.seen++; w.seen > maxTreeFiles {
			return fmt.Errorf("the repository has more than %d files", maxTreeFiles)
		}
		path := prefix + e.name
		if e.mode != treeMode {
			err = w.file(path, e)
		} else if w.skip == nil || !w.skip(path+"/", e.id) {
			err = w.tree(e.id, path+"/")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chain is the way to a path in a tree: the tree itself, then what each name of
// the path is, as far as there is something. Where it meets a folder of another
// chain to the same path, the rest is the same and is not read.
func (o *objects) chain(root oid, path string, like []treeEntry) ([]treeEntry, error) {
	at := treeEntry{mode: treeMode, id: root}
	names := strings.Split(path, "/")
	var way []treeEntry
	for i := 0; ; i++ {
		if i < len(like) && like[i].id == at.id && like[i].mode == at.mode {
			return append(way, like[i:]...), nil
		}
		way = append(way, at)
		if i == len(names) || at.mode != treeMode {
			return way, nil
		}
		b, err := o.tree(at.id)
		if err != nil {
			return nil, err
		}
		found := false
		for len(b) > 0 && !found {
			if at, b, err = nextEntry(b); err != nil {
				return nil, err
			}
			found = at.name == names[i]
		}
		if !found {
			return way, nil
		}
	}
}

// end is what a chain leads to for a path; its mode is 0 if there is nothing.
func end(way []treeEntry, path string) treeEntry {
	if len(way) == strings.Count(path, "/")+2 {
		return way[len(way)-1]
	}
	return treeEntry{}
}
