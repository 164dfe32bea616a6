package metadata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/hitl"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

// noEdit is what a caller is told about an edit of a note that cannot be made.
func noEdit(path string, err error) error {
	if e, ok := errors.AsType[*note.PropertyError](err); ok {
		f := fault.New(fault.InvalidInput, "The properties of %q cannot be changed: %s.", path, e).With("path", path).With("reason", e.Reason)
		if e.Key != "" {
			f = f.With("key", tools.Cut(e.Key, longest))
		}
		if e.Line > 0 {
			f = f.With("line", e.Line)
		}
		return f
	}
	if e, ok := errors.AsType[*note.SpoilError](err); ok {
		return fault.New(fault.InvalidInput, "%q stays as it is: %s.", path, e.Harm).With("path", path).With("reason", e.Harm)
	}
	if e, ok := errors.AsType[*note.TagNameError](err); ok {
		return fault.New(fault.InvalidInput, "%s.", e).With("argument", "tag")
	}
	return err
}

// noValue is what a caller is told about a value that cannot be written.
func noValue(argument string, err error) error {
	return fault.New(fault.InvalidInput, "The argument %q cannot be written: %s.", argument, err).With("argument", argument)
}

// sound refuses a note whose properties cannot be read.
func sound(path string, text []byte) error {
	if p := note.ParseProperties(text); p.State == note.StateInvalid {
		return broken(path, *p.Problem)
	}
	return nil
}

// wide is one edit of all the notes that need it. Those that the caller may not
// read are as if they were not there; those that cannot be edited are named in
// the plan's warnings.
type wide struct {
	call  *tools.Call
	plan  change.Plan
	warns *tools.Warnings
	paths []string
}

// newWide finds the notes of which the index says that they need the edit.
func newWide(ctx context.Context, c *tools.Call, which func(*index.Model) []uint32) (*wide, error) {
	w := &wide{call: c, plan: change.Plan{Searched: true}, warns: c.NewWarnings(false)}
	err := c.View.Model(ctx, func(m *index.Model) error {
		w.warns.Model(m, func(p string) bool { return vault.Kind(p) == vault.Note })
		for _, id := range which(m) {
			if n, ok := m.ByID(id); ok && c.View.Sees(n.Path) {
				w.paths = append(w.paths, strings.Clone(n.Path))
			}
		}
		return nil
	})
	slices.Sort(w.paths)
	w.paths = slices.Compact(w.paths)
	return w, err
}

// each edits the notes in the order of their paths. An error of edit leaves its
// note out.
func (w *wide) each(ctx context.Context, edit func(path string, text []byte) ([]byte, error)) error {
	for _, path := range w.paths {
		t, err := w.call.View.Target(ctx, path, false)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && !t.Exists {
			continue // deleted meanwhile
		}
		var p change.Plan
		if err == nil {
			p, _, err = w.call.Edit(ctx, t, "", "", func(text []byte) ([]byte, error) {
				if err := sound(path, text); err != nil {
					return nil, err
				}
				return edit(path, text)
			})
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			w.leave(path, err)
			continue
		}
		w.plan.Edits = append(w.plan.Edits, p.Edits...)
	}
	return nil
}

// leave names a note that is not edited.
func (w *wide) leave(path string, err error) {
	line, reason := 0, ""
	if e, ok := errors.AsType[*note.PropertyError](err); ok {
		line, reason = e.Line, e.Reason
	} else if e, ok := errors.AsType[*note.SpoilError](err); ok {
		reason = e.Harm
	} else if e, ok := errors.AsType[*fault.Error](err); ok {
		reason = e.Message
		if e.Code == fault.ACLDenied {
			reason = "the folder rules do not let it be written"
		}
	}
	w.warns.Add(path, line, cmp.Or(reason, vault.Reason(err)))
}

// done completes the plan.
func (w *wide) done(summary string) change.Plan {
	for _, warning := range w.warns.List() {
		at := warning.Path
		if warning.Line > 0 {
			at = fmt.Sprintf("%s, line %d", at, warning.Line)
		}
		if at != "" {
			at += ": "
		}
		w.plan.Warnings = append(w.plan.Warnings, at+warning.Reason)
	}
	if n := len(w.plan.Edits); n > 0 {
		w.plan.Summary = fmt.Sprintf("%s in %s", summary, counted(n))
		w.plan.Ask = hitl.Widely(n)
	}
	return w.plan
}

func counted(notes int) string { return tools.Many(notes, "note", "notes") }
