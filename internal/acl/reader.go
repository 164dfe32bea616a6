package acl

import (
	"context"

	"vault-mcp/vault"
)

// Reader reads files one after the other by the paths that the index has for
// them, faster than by looking up each as something that a person typed. It is
// for one goroutine, and has to be closed.
type Reader struct {
	view  *View
	files *vault.Reader
}

// Reader makes a Reader, which opens nothing yet.
func (w *View) Reader() *Reader { return &Reader{w, w.vault.Reader()} }

// Close ends the use of the Reader.
func (r *Reader) Close() { r.files.Close() }

// Read is FindFile and View.Read in one for a path that is spelled as on disk
// and leads through no link; another is note_not_found. The bytes are valid until
// the next call.
func (r *Reader) Read(ctx context.Context, path string, limit int64) (vault.Content, error) {
	if r.view.Sees(path) {
		return r.files.Read(path, limit)
	}
	p, err := r.view.FindFile(ctx, path) // which knows what to say
	if err != nil {
		return vault.Content{}, err
	}
	return r.view.Read(p, limit)
}
