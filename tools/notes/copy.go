package notes

import (
	"context"
	"fmt"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

type copyIn struct {
	tools.VaultArg
	tools.FromArg
	To        tools.Target `json:"to" jsonschema:"path of the copy"`
	Overwrite bool         `json:"overwrite,omitempty" jsonschema:"what is there goes to the trash"`
	tools.VersionArg
	tools.WriteArg
}

type copyOut struct {
	From        string  `json:"from"`
	To          string  `json:"to"`
	Overwritten bool    `json:"overwritten"`
	TrashedTo   *string `json:"trashed_dest_to"`
	Hash        string  `json:"content_hash"`
	tools.Written
}

func copyNote() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "copy_note",
		Title: "Copy a note",
		Doc:   "Copies a note or another file, byte for byte. Links to it and in it are left as they are.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in copyIn) (change.Plan, copyOut, error) {
		from, err := in.From.Path()
		if err != nil {
			return change.Plan{}, copyOut{}, err
		}
		to, err := in.To.Target()
		if err != nil {
			return change.Plan{}, copyOut{}, err
		}
		out := copyOut{From: from.String()}
		if out.To, out.Overwritten, err = c.Destination(ctx, out.From, to, in.To.Arg, in.Overwrite); err != nil {
			return change.Plan{}, out, err
		}
		if to.Exists && to.Path == out.From {
			return change.Plan{}, out, fault.New(fault.InvalidInput, "%q is the note itself.", out.To).With("argument", "to")
		}
		content, err := c.View.Read(from, change.MaxImage)
		if err == nil {
			err = c.Expect(out.From, in.PrevHash)
		}
		if err != nil {
			return change.Plan{}, out, tools.TooLarge(out.From, err)
		}
		entry, _, err := c.View.Glance(out.From)
		if err != nil {
			return change.Plan{}, out, err
		}
		p := change.Plan{Summary: fmt.Sprintf("Copy %s to %s", out.From, out.To), Edits: to.Folders()}
		if out.Overwritten {
			if out.TrashedTo, err = c.Overwrite(&p, out.To); err != nil {
				return p, out, err
			}
		}
		e := change.NewCreate(out.To, content.Bytes)
		e.Mode = entry.Mode
		p.Edits, out.Hash = append(p.Edits, e), e.After.String()
		return p, out, nil
	})
}
