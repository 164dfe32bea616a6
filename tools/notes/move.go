package notes

import (
	"context"
	"fmt"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/rename"
)

type moveIn struct {
	tools.VaultArg
	tools.FromArg
	To        tools.Target `json:"to" jsonschema:"its new path, not a folder"`
	Overwrite bool         `json:"overwrite,omitempty" jsonschema:"what is there goes to the trash"`
	Backlinks bool         `json:"update_backlinks,omitempty" jsonschema:"let links in other files follow" limits:"default=true"`
	tools.VersionArg
	tools.WriteArg
}

type moveOut struct {
	From        string           `json:"from"`
	To          string           `json:"to"`
	Overwritten bool             `json:"overwritten"`
	TrashedTo   *string          `json:"trashed_dest_to"`
	Hash        string           `json:"content_hash"`
	Backlinks   tools.LinkCount  `json:"backlinks_updated" jsonschema:"in files that you may read, the moved one included"`
	Left        []tools.LeftLink `json:"links_left,omitempty" jsonschema:"links that could not follow"`
	tools.Written
}

func moveNote() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "move_note",
		Title: "Move or rename a note",
		Doc:   "Gives a note, canvas or base another path; links to it, in it and in canvases stay right, each in its own style.",
		Scope: auth.Read | auth.Write | auth.Delete,
	}, func(ctx context.Context, c *tools.Call, in moveIn) (change.Plan, moveOut, error) {
		from, err := in.From.Path()
		if err != nil {
			return change.Plan{}, moveOut{}, err
		}
		to, err := in.To.Target()
		if err != nil {
			return change.Plan{}, moveOut{}, err
		}
		out := moveOut{From: from.String()}
		if err := movable(out.From); err != nil {
			return change.Plan{}, out, err
		}
		if out.To, out.Overwritten, err = c.Destination(ctx, out.From, to, in.To.Arg, in.Overwrite); err != nil {
			return change.Plan{}, out, err
		}
		if err := c.Expect(out.From, in.PrevHash); err != nil {
			return change.Plan{}, out, err
		}
		f, err := c.Move(ctx, []rename.Move{{From: out.From, To: out.To, Over: out.Overwritten}})
		if err != nil {
			return change.Plan{}, out, err
		}
		if !in.Backlinks {
			f.Only()
		}
		p := change.Plan{Summary: fmt.Sprintf("Move %s to %s", out.From, out.To)}
		if out.Overwritten {
			if out.TrashedTo, err = c.Overwrite(&p, out.To); err != nil {
				return p, out, err
			}
		}
		out.Backlinks, out.Left = f.Into(c, &p)
		out.Hash = f.Hash(out.To).String()
		return p, out, nil
	})
}

// movable refuses what the tools of attachments move.
func movable(path string) error {
	switch vault.Kind(path) {
	case vault.Note, vault.Canvas, vault.Base:
		return nil
	}
	return fault.New(fault.InvalidInput, "%q is no note; move_attachment moves others.", path).With("argument", "from")
}
