package dispatch

import (
	"context"

	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

// title finds the note that a title stands for. It comes behind what answers a
// repeated call, which may have removed the note. Which of several notes is meant a
// person says; nothing behind this stage knows of it.
func (d *Dispatcher) title(ctx context.Context, c *Call) error {
	title := c.Titled()
	if title == "" || c.View == nil {
		return nil
	}
	path := c.Asked.Chosen()
	if path != "" {
		// Before anything else, whether the caller may still read it.
		switch c.View.Judge(acl.Read, path).Verb {
		case acl.Deny:
			return c.View.Check(acl.Read, path)
		case acl.Hide, acl.Ask:
			return d.Gate.Lost(ctx, c, fault.New(fault.NoteNotFound, "No note at %q.", path))
		}
	} else {
		paths, err := c.View.Titled(ctx, title, c.Tool.Kind == tools.KindChange)
		if e := fault.Of(err); e != nil && e.Code == fault.NoteNotFound {
			c.Unnamed(e) // for the tool to answer
			return nil
		} else if err != nil {
			return err
		}
		if path, err = d.meant(ctx, c, title, paths); err != nil {
			return err
		}
	}
	c.Name(path)
	return c.Resolve(ctx)
}

// meant is which of the notes with a title a call means.
func (d *Dispatcher) meant(ctx context.Context, c *Call, title string, paths []string) (string, error) {
	switch {
	case len(paths) == 1:
		return paths[0], nil
	case len(paths) > hitl.MaxOptions, d.Gate == nil:
		return "", hitl.Ambiguous(title, paths)
	}
	view := c.View
	defer func() { c.View, c.Plan, c.Targets, c.outcome = view, change.Plan{}, hitl.Targets{}, nil }()
	return d.Gate.Choose(ctx, c, title, paths, func(path string) error {
		c.View = view.ForCall() // what the rules ask about one note they do not ask about another
		return d.try(ctx, c, path)
	})
}

// try plans a call with one of the notes that it may mean. It fails with acl_denied
// or note_not_found for one that the caller cannot mean, and with path_ambiguous
// where something else has to be asked first.
func (d *Dispatcher) try(ctx context.Context, c *Call, path string) error {
	c.Plan, c.Targets = change.Plan{}, hitl.Targets{}
	c.Name(path)
	if err := c.Resolve(ctx); err != nil {
		return err
	}
	if err := c.Missing(); err != nil {
		return err
	}
	err := d.planned(ctx, c)
	if err == nil {
		err = d.judged(ctx, c)
	}
	if c.View.AsksToRead() {
		return fault.New(fault.PathAmbiguous, "Several notes have the title, and a person has to approve what else the call reads. Make it with the path of one of them.")
	}
	return err
}

// Acts reports whether a call does something once it runs. A change has to be
// planned.
func (c *Call) Acts() bool {
	return c.Tool.Kind != tools.KindQuery && !c.DryRun() && !(c.Tool.Kind == tools.KindChange && c.Plan.Empty())
}
