package notes

import (
	"context"
	"fmt"
	"path"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/rename"
)

type moveFolderIn struct {
	tools.VaultArg
	From      tools.Folder `json:"from"`
	To        tools.Spot   `json:"to" jsonschema:"its new path, where nothing is yet"`
	Backlinks bool         `json:"update_backlinks,omitempty" jsonschema:"let links in other files follow" limits:"default=true"`
	tools.WriteArg
}

type moveFolderOut struct {
	From string `json:"from"`
	To   string `json:"to"`
	contents
	Backlinks tools.LinkCount  `json:"backlinks_updated" jsonschema:"in files that you may read, the moved ones included"`
	Left      []tools.LeftLink `json:"links_left,omitempty" jsonschema:"links that could not follow"`
	tools.Written
}

func moveFolder() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "move_folder",
		Title: "Move or rename a folder",
		Doc:   "Gives a folder another path with all that is in it, at once; links to all of it stay right.",
		Scope: auth.Read | auth.Write | auth.Delete,
	}, func(ctx context.Context, c *tools.Call, in moveFolderIn) (change.Plan, moveFolderOut, error) {
		var out moveFolderOut
		var err error
		if out.From, err = folderAt(&in.From, "from"); err != nil {
			return change.Plan{}, out, err
		}
		to, err := in.To.Target.Target()
		if err != nil {
			return change.Plan{}, out, err
		}
		if out.To, err = folderTo(out.From, to, in.To.Arg); err != nil {
			return change.Plan{}, out, err
		}
		if out.contents, err = contentsOf(ctx, c, out.From); err != nil {
			return change.Plan{}, out, err
		}
		f, err := c.Move(ctx, []rename.Move{{From: out.From, To: out.To, Dir: true}})
		if err != nil {
			return change.Plan{}, out, err
		}
		if !in.Backlinks {
			f.Only()
		}
		p := change.Plan{Summary: fmt.Sprintf("Move the folder %s with %s to %s", out.From, out.contents, out.To), Bound: out.state}
		if n := out.Notes + out.Others; n > 0 {
			p.Ask = []string{fmt.Sprintf("it moves %s to another folder", tools.Many(n, "file", "files"))}
		}
		out.Backlinks, out.Left = f.Into(c, &p)
		return p, out, nil
	})
}

// folderTo is where a folder goes: like Call.Destination, but a folder takes the
// place of nothing.
func folderTo(from string, to acl.Target, arg string) (string, error) {
	clean, err := vault.Clean(arg)
	switch {
	case err != nil:
		return "", err
	case to.Exists && to.Path == from && path.Base(clean) == path.Base(from):
		return "", fault.New(fault.InvalidInput, "%q is there already.", from).With("argument", "to")
	case to.Exists && to.Path == from:
		return path.Join(path.Dir(from), path.Base(clean)), nil
	case to.Exists:
		return "", fault.New(fault.NoteExists, "%q exists already; a folder is moved where nothing is.", to.Path).With("path", to.Path)
	}
	return to.Path, nil
}
