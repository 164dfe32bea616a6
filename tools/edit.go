package tools

import (
	"bytes"
	"context"
	"errors"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
)

// Absent is the answer where a change is about a file that is not there, with the
// names that the caller may have meant; hint says what else can be done, or "".
func (c *Call) Absent(ctx context.Context, t acl.Target, hint string) error {
	closest := []string{}
	_, err := c.View.FindNote(ctx, t.Path)
	if e, ok := errors.AsType[*fault.Error](err); ok {
		if names, ok := e.Details["closest"].([]string); ok {
			closest = names
		}
	}
	if hint != "" {
		hint = " " + hint
	}
	return fault.New(fault.NoteNotFound, "No note or file at %q.%s", t.Path, hint).With("path", t.Path).With("closest", closest)
}

// Text reads the existing note of a target to be changed, if it is in the
// version prev; "" is any. What is no text is refused: nobody could see what a
// change of it loses.
func (c *Call) Text(ctx context.Context, t acl.Target, prev string) ([]byte, error) {
	switch {
	case !t.Exists:
		return nil, c.Absent(ctx, t, "")
	case t.Dir:
		return nil, fault.New(fault.InvalidInput, "%q is a folder.", t.Path).With("argument", "path")
	}
	old, err := c.View.ReadTarget(t)
	if err != nil {
		return nil, err
	}
	if !vault.Text(old) {
		return nil, fault.New(fault.InvalidInput, "%q is no UTF-8 text, so it is not rewritten.", t.Path).With("path", t.Path)
	}
	return old, acl.Same(t.Path, old, true, prev)
}

// Edit is the plan that changes the text of one existing note by f, with a
// summary; without an edit if f changes nothing. The edit is returned as well,
// for its hashes.
func (c *Call) Edit(ctx context.Context, t acl.Target, prev, summary string, f func(text []byte) ([]byte, error)) (change.Plan, change.Edit, error) {
	old, err := c.Text(ctx, t, prev)
	if err != nil {
		return change.Plan{}, change.Edit{}, err
	}
	if err := ctx.Err(); err != nil {
		return change.Plan{}, change.Edit{}, err
	}
	text, err := f(old)
	if err != nil {
		return change.Plan{}, change.Edit{}, err
	}
	e := change.NewPut(t.Path, old, text)
	p := change.Plan{Summary: summary}
	if !bytes.Equal(old, text) {
		p.Edits = []change.Edit{e}
	}
	return p, e, nil
}

// Versions are the hashes of a note before and after a change, in an answer.
type Versions struct {
	Hash     string  `json:"content_hash"`
	PrevHash *string `json:"prev_hash"`
}

// VersionsOf are those of an edit; nothing was there before a new file.
func VersionsOf(e change.Edit) Versions {
	v := Versions{Hash: e.After.String()}
	if prev := e.Before.String(); prev != "" {
		v.PrevHash = &prev
	}
	return v
}
