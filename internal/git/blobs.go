package git

import (
	"context"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing"
)

// Blob reads the content of a file, at most max bytes; more is ErrTooLarge, and
// found out before it is read.
func (r *Repo) Blob(id ID, max int64) ([]byte, error) {
	o, err := r.objects()
	if err != nil {
		return nil, err
	}
	defer o.close()
	at, err := wantOID(id)
	if err != nil {
		return nil, err
	}
	return o.blob(at, max)
}

func (o *objects) blob(id oid, max int64) ([]byte, error) {
	kind, size, err := o.size(id)
	if err != nil {
		return nil, err
	}
	if kind == plumbing.BlobObject && size > max {
		return nil, tooLarge(size, max)
	}
	return o.get(id, plumbing.BlobObject, max)
}

// File finds the file that a commit has at a path. None is fs.ErrNotExist; so is a
// folder.
func (r *Repo) File(ctx context.Context, commit ID, path string) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	o, err := r.objects()
	if err != nil {
		return Entry{}, err
	}
	defer o.close()
	root, err := o.treeOf(commit)
	if err != nil {
		return Entry{}, err
	}
	way, err := o.chain(root, path, nil)
	if err != nil {
		return Entry{}, err
	}
	e := end(way, path)
	if e.mode == 0 || e.mode == treeMode {
		return Entry{}, &fs.PathError{Op: "find", Path: path, Err: fs.ErrNotExist}
	}
	return Entry{Path: path, Mode: e.mode, ID: e.id.id()}, nil
}
