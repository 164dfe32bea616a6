package history

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/trash"
)

type listTrashIn struct {
	tools.VaultArg
	Limit int `json:"limit,omitempty" limits:"min=1,max=500,default=50"`
	tools.PageArg
}

type trashRow struct {
	Name   string `json:"name" jsonschema:"restore_from_trash takes it"`
	From   string `json:"from,omitempty" jsonschema:"where it was, if this server removed it"`
	Change string `json:"change_id,omitempty"`
	At     string `json:"removed_at,omitempty"`
	Size   int64  `json:"size"`
	Folder bool   `json:"folder,omitempty"`
}

type listTrashOut struct {
	Items      []trashRow `json:"items"`
	Total      int        `json:"total"`
	NextCursor *string    `json:"next_cursor"`
}

func listTrash(s Source) tools.Tool {
	return tools.Query(tools.Spec{
		Name: "list_trash", Title: "List the trash",
		Doc:    "Lists what is in the vault's own trash, and what this server moved to the system's trash that is still there.",
		Scope:  auth.Read,
		Narrow: "a lower limit",
	}, func(ctx context.Context, c *tools.Call, in listTrashIn) (listTrashOut, error) {
		out := listTrashOut{Items: []trashRow{}}
		var after string
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		all, err := inTrash(ctx, c, s)
		if err != nil {
			return out, err
		}
		out.Total = len(all)
		for _, it := range all {
			if len(out.Items) <= in.Limit && (!paged || it.row.Name > after) {
				out.Items = append(out.Items, it.row)
			}
		}
		more := false
		out.Items, more, err = tools.Page(c, out.Items, in.Limit, nil)
		if err == nil && more {
			out.NextCursor, err = c.NextCursor(out.Items[len(out.Items)-1].Name)
		}
		return out, err
	})
}

// item is one thing in a trash.
type item struct {
	row trashRow
	at  string // its path there
}

// inTrash is what the caller may know of: what is in the vault's own trash
// unless it was removed from a folder that is closed to it, by name.
func inTrash(ctx context.Context, c *tools.Call, s Source) ([]item, error) {
	st, err := s(ctx, c.View)
	if err != nil {
		return nil, err
	}
	removed, err := st.Removed(ctx)
	if err != nil {
		return nil, err
	}
	var all []item
	names, err := c.View.Entries(trash.Local)
	if err == nil {
		for _, n := range names {
			all = append(all, item{trashRow{Name: n}, trash.Local + "/" + n})
		}
	}
	for to := range removed {
		if strings.HasPrefix(to, trash.System) {
			all = append(all, item{trashRow{Name: "system:" + path.Base(to)}, to})
		}
	}
	kept := all[:0]
	for _, it := range all {
		e, _, err := c.View.Glance(it.at)
		if err != nil {
			continue
		}
		it.row.Size, it.row.Folder = e.Size, e.Dir
		if r, ok := removed[it.at]; ok {
			if !c.View.Sees(r.From) {
				continue
			}
			it.row.From, it.row.Change, it.row.At = r.From, r.Change, tools.Clock(r.At)
		} else if !c.View.Sees(it.row.Name) {
			continue // nobody knows where it was; by its name it was at a place that is closed
		}
		kept = append(kept, it)
	}
	slices.SortFunc(kept, func(a, b item) int { return strings.Compare(a.row.Name, b.row.Name) })
	return kept, nil
}

type restoreTrashIn struct {
	tools.VaultArg
	Name string       `json:"name" jsonschema:"as list_trash has it" limits:"minLength=1,maxLength=1024"`
	To   tools.Target `json:"to,omitempty" jsonschema:"where it goes; left out, where it was"`
	tools.WriteArg
}

type restoreTrashOut struct {
	Name string `json:"name"`
	Path string `json:"path"`
	tools.Written
}

func restoreFromTrash(s Source) tools.Tool {
	return tools.Change(tools.Spec{
		Name: "restore_from_trash", Title: "Restore from the trash",
		Doc:   "Moves a note or file out of the trash, to where it was or to another path. It takes the place of nothing.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in restoreTrashIn) (change.Plan, restoreTrashOut, error) {
		out := restoreTrashOut{Name: in.Name}
		all, err := inTrash(ctx, c, s)
		if err != nil {
			return change.Plan{}, out, err
		}
		i := slices.IndexFunc(all, func(it item) bool { return it.row.Name == in.Name })
		if i < 0 {
			return change.Plan{}, out, fault.New(fault.NotFound, "There is no %q in the trash; list_trash tells what is.", in.Name)
		}
		it := all[i]
		t, err := in.To.Target()
		if err != nil {
			return change.Plan{}, out, err
		}
		if in.To.Arg == "" {
			if it.row.From == "" {
				return change.Plan{}, out, fault.New(fault.InvalidInput, "Nobody knows where %q was; say where it goes.", in.Name).With("argument", "to")
			}
			if t, err = c.View.Target(ctx, it.row.From, false); err != nil {
				return change.Plan{}, out, err
			}
		}
		if t.Exists {
			return change.Plan{}, out, fault.New(fault.NoteExists, "%q exists; say another place with to.", t.Path).With("path", t.Path)
		}
		e, err := moveOut(c.View, it, t)
		out.Path = t.Path
		return change.Plan{Summary: fmt.Sprintf("Restore %s from the trash", t.Path), Edits: append(t.Folders(), e...)}, out, err
	})
}

// moveOut are the edits that move something out of a trash.
func moveOut(w *acl.View, it item, t acl.Target) ([]change.Edit, error) {
	entry, b, err := w.Glance(it.at)
	if err != nil {
		return nil, err
	}
	e := change.Edit{Kind: change.Move, Path: it.at, To: t.Path, Dir: entry.Dir}
	if !entry.Dir {
		e.Before = change.HashOf(entry, b)
		e.After = e.Before
	}
	edits := []change.Edit{e}
	if info := trash.InfoOf(it.at); info != "" {
		if _, old, err := w.Glance(info); err == nil {
			edits = append(edits, change.NewRemove(info, old))
		}
	}
	return edits, nil
}
