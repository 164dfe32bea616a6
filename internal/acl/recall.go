package acl

import (
	"context"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/rename"
)

// Recall is a memory of changes: for moves that are just the way back of one, it
// gives what a file held before that change, by its path and what it holds now;
// otherwise it is nil.
type Recall func(ctx context.Context, moves []rename.Move) func(path string, now fingerprint.Content) ([]byte, bool)

// Recalls gives the view a memory of changes.
func (w *View) Recalls(r Recall) { w.recall = r }

var _ rename.Rememberer = (*Whole)(nil)

// Back implements rename.Rememberer.
func (a *Whole) Back(moves []rename.Move) func(path string, text []byte) ([]byte, bool) {
	if a.view.recall == nil {
		return nil
	}
	before := a.view.recall(a.ctx, moves)
	if before == nil {
		return nil
	}
	return func(path string, text []byte) ([]byte, bool) { return before(path, fingerprint.OfContent(text)) }
}
