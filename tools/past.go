package tools

import (
	"fmt"
	"strconv"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/vault/change"
)

// Version is the id of a snapshot, also sent as a number, or a revision of git.
// Digits alone are an id.
type Version string

// Snapshot is the id, if it is one.
func (v Version) Snapshot() (id int64, ok bool) {
	id, err := strconv.ParseInt(string(v), 10, 64)
	return id, err == nil && id > 0
}

// Past is the path under which versions of a note are kept: that of the file if
// it is there, else the path as it was given, if the caller may read it.
func (n *Note) Past(c *Call) (string, error) {
	p, err := n.Path()
	if err == nil {
		return p.String(), nil
	}
	if fault.Of(err).Code != fault.NoteNotFound {
		return "", err
	}
	path, err := NotePath(n.Arg)
	if err == nil && !c.View.Sees(path) {
		err = fault.New(fault.NoteNotFound, "No note or file at %q.", n.Arg).With("closest", []string{})
	}
	return path, err
}

// Restore plans to give a file a content that it had before, or to make it again.
// prev is the version that it has now; nil if it is gone.
func Restore(c *Call, t acl.Target, content []byte, prevHash string) (p change.Plan, prev *string, err error) {
	p.Ask = []string{fmt.Sprintf("it restores %q", t.Path)}
	if !t.Exists {
		if err := acl.Same(t.Path, nil, false, prevHash); err != nil {
			return change.Plan{}, nil, err
		}
		p.Edits = append(t.Folders(), change.NewCreate(t.Path, content))
		return p, nil, nil
	}
	old, err := c.View.ReadTarget(t)
	if err == nil {
		err = acl.Same(t.Path, old, true, prevHash)
	}
	if err != nil {
		return change.Plan{}, nil, err
	}
	e := change.NewPut(t.Path, old, content)
	e.Whole = true
	prev = new(e.Before.String())
	if e.Before != e.After {
		p.Edits = []change.Edit{e}
	}
	return p, prev, nil
}
