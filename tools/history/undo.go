package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"vault-mcp/cache/state"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/trash"
)

type undoIn struct {
	tools.VaultArg
	ID      string `json:"change_id" limits:"minLength=1,maxLength=64"`
	Partial bool   `json:"partial,omitempty" jsonschema:"take back what was not changed since, and leave the rest"`
	tools.WriteArg
}

type undoOut struct {
	Undoes string   `json:"undoes"`
	Left   []string `json:"left" jsonschema:"files that were changed since"`
	tools.Written
}

func undoChange(s Source) tools.Tool {
	return tools.Change(tools.Spec{
		Name: "undo_change", Title: "Undo a change",
		Doc:   "Takes one change of this server back, byte for byte. Files that were changed since refuse it, unless partial is set.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in undoIn) (change.Plan, undoOut, error) {
		out := undoOut{Undoes: in.ID, Left: []string{}}
		st, err := s(ctx, c.View)
		if err != nil {
			return change.Plan{}, out, err
		}
		n, err := st.Change(ctx, in.ID)
		if err != nil {
			return change.Plan{}, out, unknown(err, "list_changes", "change %q", in.ID)
		}
		if _, ok := rowOf(c.View, n); !ok {
			return change.Plan{}, out, unknown(state.ErrUnknown, "list_changes", "change %q", in.ID)
		}
		if n.Outcome != change.Applied {
			return change.Plan{}, out, fault.New(fault.InvalidInput, "The change was not made: %s.", strings.ReplaceAll(string(n.Outcome), "_", " ")).With("argument", "change_id")
		}
		if n.UndoneBy != "" {
			return change.Plan{}, out, fault.New(fault.InvalidInput, "The change was taken back already, by %s.", n.UndoneBy).With("argument", "change_id")
		}
		u := undoing{w: c.View, now: map[string]here{}, moved: func(p string) (string, error) { return st.Now(ctx, p, n.Seq) }}
		if err := u.all(ctx, n); err != nil {
			return change.Plan{}, out, err
		}
		slices.Sort(u.left)
		u.left = slices.Compact(u.left)
		out.Left = append(out.Left, slices.DeleteFunc(slices.Clone(u.left), func(p string) bool { return !c.View.Knows(p) })...)
		if len(u.left) > 0 && !in.Partial {
			return change.Plan{}, out, fault.New(fault.ConcurrentModification, "%s changed since, so nothing was taken back; partial takes back the others.", tools.Many(len(u.left), "file was", "files were")).
				With("paths", out.Left)
		}
		p := change.Plan{Edits: u.edits, Undoes: in.ID, Summary: "Take back: " + n.Summary, Warnings: u.notices}
		if len(u.edits) > 1 {
			p.Ask = []string{fmt.Sprintf("it takes back changes of %d files", len(u.edits))}
		}
		return p, out, nil
	})
}

// undoing makes the plan that takes a change back.
type undoing struct {
	w       *acl.View
	moved   func(path string) (string, error)
	now     map[string]here // what is at a path, after the edits so far
	edits   []change.Edit
	left    []string
	notices []string
}

// here is what is at a path.
type here struct {
	exists, dir bool
	content     []byte
	hash        fingerprint.Content
}

func (u *undoing) all(ctx context.Context, n state.Numbered) error {
	for _, e := range slices.Backward(n.Edits) {
		if err := ctx.Err(); err != nil {
			return err
		}
		// Where it was then must be allowed as well as where it is now. What only kept
		// links right did so beyond the caller's folders, and is put right there.
		for _, p := range []string{e.Path, e.To} {
			if p != "" && !trash.Is(p) && !e.Upkeep {
				if err := u.w.Check(acl.Write, p); err != nil {
					return err
				}
			}
		}
		ok, err := u.one(e)
		if err != nil {
			return err
		}
		if !ok {
			u.left = append(u.left, e.Path)
		}
	}
	return nil
}

// look tells what is at a path after the edits so far.
func (u *undoing) look(path string) (here, error) {
	if h, ok := u.now[path]; ok {
		return h, nil
	}
	e, b, err := u.w.Glance(path)
	if errors.Is(err, fs.ErrNotExist) {
		return here{}, nil
	}
	h := here{exists: true, dir: e.Dir, content: b}
	if err == nil && e.Regular {
		h.hash = fingerprint.OfContent(b)
		if b == nil && e.Size > 0 {
			h.hash = change.OfLarge(e)
		}
	}
	return h, err
}

// one takes back one edit; not ok if its file was changed since.
func (u *undoing) one(e change.Edit) (ok bool, err error) {
	at, err := u.moved(e.Path)
	if err != nil {
		return false, err
	}
	h, err := u.look(at)
	if err != nil {
		return false, err
	}
	switch e.Kind {
	case change.Put:
		if h.hash != e.After || e.Old == nil && e.Before != change.OfNothing {
			return false, nil
		}
		put := change.NewPut(at, h.content, e.Old)
		put.Upkeep = e.Upkeep
		u.do(put)
		u.now[at] = here{true, false, e.Old, e.Before}
	case change.Create:
		if !h.exists {
			return true, nil
		}
		if h.hash != e.After {
			return false, nil
		}
		u.do(change.Edit{Kind: change.Remove, Path: at, Before: h.hash, Old: h.content})
		u.now[at] = here{}
	case change.Mkdir:
		if h.exists && h.dir && u.empty(at) {
			u.do(change.Edit{Kind: change.Remove, Path: at, Dir: true})
			u.now[at] = here{}
		}
	case change.Move, change.Remove:
		return u.back(e)
	}
	return true, nil
}

// back takes back a move, or a removal.
func (u *undoing) back(e change.Edit) (bool, error) {
	old, err := u.look(e.Path)
	if err != nil || old.exists {
		return false, err
	}
	if e.To == "" {
		switch {
		case e.Dir:
			u.do(change.Edit{Kind: change.Mkdir, Path: e.Path})
			u.now[e.Path] = here{exists: true, dir: true}
		case e.Old == nil && e.Before != change.OfNothing:
			return false, nil // it was too large, or it is too long ago
		default:
			create := change.NewCreate(e.Path, e.Old)
			create.Mode = e.Mode
			u.do(create)
			u.now[e.Path] = here{true, false, e.Old, e.Before}
		}
		return true, nil
	}
	at, err := u.look(e.To)
	if err != nil || !at.exists || at.dir != e.Dir || at.hash != e.Before {
		return false, err
	}
	u.do(change.Edit{Kind: change.Move, Path: e.To, To: e.Path, Dir: e.Dir, Before: at.hash, After: at.hash})
	u.now[e.Path], u.now[e.To] = at, here{}
	return true, nil
}

func (u *undoing) do(e change.Edit) { u.edits = append(u.edits, e) }

// empty reports whether a folder will be empty after the edits so far.
func (u *undoing) empty(dir string) bool {
	names, err := u.w.Entries(dir)
	if err != nil {
		return false
	}
	for _, name := range names {
		if h, ok := u.now[dir+"/"+name]; !ok || h.exists {
			return false
		}
	}
	return true
}
