package tools

import (
	"context"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
)

// Note is the target of a change that tells its caller what is in the note:
// reading it must be allowed too. Any other file is refused, as what a note's
// properties, tags, tasks and tables are would be damage in it.
func (t *Target) Note(c *Call) (acl.Target, error) {
	at, err := t.Target()
	if err != nil {
		return at, err
	}
	if err := c.View.Check(acl.Read, at.Path); err != nil {
		return at, err
	}
	if !at.Dir && vault.Kind(at.Path) != vault.Note {
		return at, fault.New(fault.InvalidInput, "%q is no note.", at.Path).With("argument", "path").With("path", at.Path)
	}
	return at, nil
}

// EditNote is Edit of such a target. If nothing changes, the plan says nothing.
func (c *Call) EditNote(ctx context.Context, t *Target, prev, summary string, f func(text []byte) ([]byte, error)) (change.Plan, change.Edit, error) {
	at, err := t.Note(c)
	if err != nil {
		return change.Plan{}, change.Edit{}, err
	}
	p, e, err := c.Edit(ctx, at, prev, summary, f)
	if p.Empty() {
		p.Summary = ""
	}
	return p, e, err
}

// Targets names several files that a change is about. One that may not be
// written does not refuse the call: the tool answers for each by itself.
type Targets []Target

func (ts Targets) resolve(ctx context.Context, w *acl.View) error {
	for i := range ts {
		if err := ctx.Err(); err != nil {
			return err
		}
		ts[i].at, ts[i].err = w.Target(ctx, ts[i].Arg, true)
	}
	return nil
}
