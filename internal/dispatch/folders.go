package dispatch

import (
	"context"
	"fmt"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/trash"
)

// planFolders judges every path of the plan, whichever tool made it. What only
// keeps links right reaches beyond the caller's folders, and then needs a person.
func (d *Dispatcher) planFolders(ctx context.Context, c *Call) error {
	if err := d.judged(ctx, c); err != nil && !c.withhold(ctx, err) {
		return err
	}
	return nil
}

func (d *Dispatcher) judged(ctx context.Context, c *Call) error {
	outside := 0
	for i, e := range c.Plan.Edits {
		if e.Upkeep {
			if clean, err := vault.Clean(e.Path); err != nil || clean != e.Path || e.Kind != change.Put {
				return fault.New(fault.ACLDenied, "Links are kept right in files of the vault only.")
			}
			if c.View.Judge(acl.Write, e.Path).Verb != acl.Allow {
				outside++
			}
			continue
		}
		if err := judge(ctx, c.View, c.Plan.Edits[:i], e); err != nil {
			return err
		}
	}
	if outside > 0 {
		reason := fmt.Sprintf("it keeps links right in %s outside the folders that the caller may write", tools.Many(outside, "file", "files"))
		c.Plan.Ask = append([]string{reason}, c.Plan.Ask...)
	}
	if c.View == nil {
		return nil
	}
	reasons := c.View.Reasons(true)
	if c.View.AsksToRead() { // what else there is depends on what is there
		c.Plan.Ask = reasons
		return nil
	}
	c.Plan.Ask = append(reasons, c.Plan.Ask...)
	return nil
}

// judge judges the paths of one edit, which comes after others. What is in a
// trash was judged by where it was, or is by where it goes, and so is a name that
// a plan gives to something for a moment only.
func judge(ctx context.Context, w *acl.View, before []change.Edit, e change.Edit) error {
	from, to := !trash.Is(e.Path) && !change.Passing(e.Path), e.Kind == change.Move && !trash.Is(e.To) && !change.Passing(e.To)
	op := acl.Write
	if e.Kind == change.Remove || e.Kind == change.Move {
		op = acl.Delete
	}
	if from {
		if err := w.Check(op, e.Path); err != nil {
			return err
		}
		if e.Kind == change.Move { // or it could be moved to where it may be read
			if err := w.Check(acl.Read, e.Path); err != nil {
				return err
			}
		}
	}
	if to {
		if err := w.Check(acl.Write, e.To); err != nil {
			return err
		}
	}
	if !e.Dir || !from && !to {
		return nil
	}
	now := origin(before, e.Path)
	switch {
	case trash.Is(now), e.Kind == change.Remove && e.To == "": // of an empty folder
		return nil
	case to:
		return w.CheckFolder(ctx, now, e.To)
	}
	return w.CheckFolder(ctx, now, "")
}

// origin is where the folder at a path is, before some edits were made.
func origin(edits []change.Edit, p string) string {
	for i := len(edits) - 1; i >= 0; i-- {
		if e := edits[i]; e.Kind == change.Move && e.Dir && (p == e.To || strings.HasPrefix(p, e.To+"/")) {
			p = e.Path + p[len(e.To):]
		}
	}
	return p
}
