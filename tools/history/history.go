// Package history holds the tools for what was: the changes that this program
// made, the versions of notes, and the way back.
package history

import (
	"context"
	"errors"
	"fmt"

	"vault-mcp/cache/state"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

// Source is the state of a vault.
type Source func(context.Context, *acl.View) (*state.Store, error)

// Tools are the domain's tools in the order of the docs.
func Tools(s Source, repos tools.Repos) tools.Domain {
	return tools.Domain{Name: "history", Tools: []tools.Tool{
		listChanges(s), readChange(s), undoChange(s),
		snapshotNote(s), listSnapshots(s), readSnapshot(s), restoreNote(s), diffNote(s, repos),
		listTrash(s), restoreFromTrash(s),
	}}
}

// unknown is the answer where the state has nothing with an id; list is the tool
// that tells what there is.
func unknown(err error, list, format string, args ...any) error {
	if e, ok := errors.AsType[*state.EffectError](err); ok {
		return fault.New(fault.InvalidInput, "That was %s, which changed no notes: it is not taken back here. vault-mcp audit tells of it.", e.Tool).With("tool", e.Tool)
	}
	switch {
	case errors.Is(err, state.ErrUnknown):
		return fault.New(fault.NotFound, "There is no %s; %s tells those there are.", fmt.Sprintf(format, args...), list)
	case errors.Is(err, state.ErrNoContent):
		return fault.New(fault.NotFound, "The content of %s is no longer kept.", fmt.Sprintf(format, args...))
	}
	return err
}

// otherNote is the answer to a version of another note than the one that is meant.
func otherNote(id int64, of, path string) error {
	return fault.New(fault.InvalidInput, "The snapshot %d is of %q, not of %q.", id, of, path)
}
