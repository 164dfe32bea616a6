package notes

import (
	"context"
	"fmt"
	"slices"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

type deleteFolderIn struct {
	tools.VaultArg
	Path      tools.Folder `json:"path"`
	Permanent bool         `json:"permanent,omitempty" jsonschema:"not to the trash"`
	tools.WriteArg
}

type deleteFolderOut struct {
	Path      string  `json:"path"`
	Permanent bool    `json:"permanent"`
	TrashedTo *string `json:"trashed_to"`
	contents
	tools.Written
}

func deleteFolder() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "delete_folder",
		Title: "Delete a folder",
		Doc:   "Removes a folder with all that is in it to the trash that the vault's settings name. Links to it are left as they are.",
		Scope: auth.Read | auth.Delete,
	}, func(ctx context.Context, c *tools.Call, in deleteFolderIn) (change.Plan, deleteFolderOut, error) {
		var out deleteFolderOut
		var err error
		if out.Path, err = folderAt(&in.Path, "path"); err != nil {
			return change.Plan{}, out, err
		}
		if out.contents, err = contentsOf(ctx, c, out.Path); err != nil {
			return change.Plan{}, out, err
		}
		p := change.Plan{Bound: out.state}
		e := change.Edit{Kind: change.Remove, Path: out.Path, Dir: true}
		edits, where, err := c.View.Discard(e, in.Permanent, c.Began)
		if err != nil {
			return p, out, err
		}
		if where != "" {
			out.TrashedTo, p.Edits = &where, edits
			p.Summary = fmt.Sprintf("Move the folder %s with %s to the trash", out.Path, out.contents)
			return p, out, nil
		}
		out.Permanent = true
		if err := c.View.CheckFolder(ctx, out.Path, ""); err != nil {
			return p, out, err // before its files are named one by one
		}
		g := gone{c: c, ctx: ctx, root: out.Path}
		if err := g.folder(out.Path); err != nil {
			return p, out, err
		}
		p.Edits, p.Summary = g.edits, fmt.Sprintf("Delete the folder %s with %s for good", out.Path, out.contents)
		return p, out, nil
	})
}

// maxGone is how many bytes a folder may have that is deleted for good: they are
// kept, so that the deletion can be taken back.
const maxGone = 256 << 20

// gone are the edits that remove a folder for good, the deepest first.
type gone struct {
	c     *tools.Call
	ctx   context.Context
	root  string
	edits []change.Edit
	size  int64
}

func (g *gone) folder(dir string) error {
	names, err := g.c.View.Entries(dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		entry, old, err := g.c.View.Glance(dir + "/" + name)
		switch {
		case err != nil:
			return err
		case name[0] == '.' && (entry.Dir || name != ".DS_Store"):
			return g.refuse("hidden files that are no part of the vault")
		case entry.Dir:
			err = g.folder(dir + "/" + name)
		case !entry.Regular:
			return g.refuse("links or devices")
		default:
			if g.size += entry.Size; g.size > maxGone {
				return g.refuse(fmt.Sprintf("more than %d bytes", maxGone))
			}
			e := change.NewRemove(dir+"/"+name, old)
			e.Before = change.HashOf(entry, old)
			g.edits = append(g.edits, e)
		}
		if err != nil {
			return err
		}
	}
	g.edits = append(g.edits, change.Edit{Kind: change.Remove, Path: dir, Dir: true})
	return nil
}

func (g *gone) refuse(what string) error {
	return fault.New(fault.InvalidInput, "In the folder %q are %s, so it is not deleted for good; without permanent it goes to the trash.", g.root, what).
		With("argument", "permanent")
}
