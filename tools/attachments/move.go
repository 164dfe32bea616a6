package attachments

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
	From       tools.File `json:"from"`
	To         tools.Spot `json:"to" jsonschema:"its new path, not a folder"`
	Overwrite  bool       `json:"overwrite,omitempty" jsonschema:"what is there goes to the trash"`
	References bool       `json:"update_references,omitempty" jsonschema:"let links in other files follow" limits:"default=true"`
	tools.VersionArg
	tools.WriteArg
}

type moveOut struct {
	From        string           `json:"from"`
	To          string           `json:"to"`
	Overwritten bool             `json:"overwritten"`
	TrashedTo   *string          `json:"trashed_dest_to"`
	Hash        string           `json:"content_hash"`
	References  tools.LinkCount  `json:"references_updated" jsonschema:"in files that you may read"`
	Left        []tools.LeftLink `json:"links_left,omitempty" jsonschema:"links that could not follow"`
	tools.Written
}

func moveAttachment() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "move_attachment",
		Title: "Move or rename an attachment",
		Doc:   "Gives any file that is no note another path; links to it and embeds of it in notes and canvases stay right.",
		Scope: auth.Read | auth.Write | auth.Delete,
	}, func(ctx context.Context, c *tools.Call, in moveIn) (change.Plan, moveOut, error) {
		var out moveOut
		var err error
		if out.From, err = noNote(&in.From, "move_note moves one"); err != nil {
			return change.Plan{}, out, err
		}
		to, err := in.To.Target.Target()
		if err != nil {
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
		if !in.References {
			f.Only()
		}
		p := change.Plan{Summary: fmt.Sprintf("Move %s to %s", out.From, out.To)}
		if out.Overwritten {
			if out.TrashedTo, err = c.Overwrite(&p, out.To); err != nil {
				return p, out, err
			}
		}
		out.References, out.Left = f.Into(c, &p)
		out.Hash = f.Hash(out.To).String()
		return p, out, nil
	})
}

// noNote is the file that an argument names, if it is neither a folder nor a
// note: what becomes of those is for other tools.
func noNote(f *tools.File, instead string) (string, error) {
	p, err := f.Path()
	switch {
	case err != nil:
		return "", err
	case p.IsDir():
		return "", fault.New(fault.InvalidInput, "%q is a folder.", p.String()).With("path", p.String())
	case vault.Kind(p.String()) == vault.Note:
		return "", fault.New(fault.InvalidInput, "%q is a note; %s.", p.String(), instead).With("path", p.String())
	}
	return p.String(), nil
}
