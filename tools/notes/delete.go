package notes

import (
	"context"
	"fmt"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
)

type deleteIn struct {
	tools.VaultArg
	tools.TargetArg
	Permanent bool `json:"permanent,omitempty" jsonschema:"not to the trash"`
	tools.VersionArg
	tools.WriteArg
}

type deleteOut struct {
	Path      string  `json:"path"`
	Permanent bool    `json:"permanent"`
	TrashedTo *string `json:"trashed_to"`
	PrevHash  string  `json:"prev_hash"`
	tools.Written
}

func deleteNote() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "delete_note",
		Title: "Delete a note",
		Doc:   "Removes a note to the trash that the vault's settings name. Links to it are left as they are.",
		Scope: auth.Read | auth.Delete,
	}, func(ctx context.Context, c *tools.Call, in deleteIn) (change.Plan, deleteOut, error) {
		t, err := in.Path.Target()
		if err != nil {
			return change.Plan{}, deleteOut{}, err
		}
		switch {
		case !t.Exists:
			return change.Plan{}, deleteOut{}, c.Absent(ctx, t, "")
		case t.Dir:
			return change.Plan{}, deleteOut{}, fault.New(fault.InvalidInput, "%q is a folder; delete_folder removes one.", t.Path).With("argument", "path")
		case vault.Kind(t.Path) != vault.Note:
			return change.Plan{}, deleteOut{}, fault.New(fault.InvalidInput, "%q is no note; delete_attachment removes others.", t.Path).With("argument", "path")
		}
		edits, e, where, err := c.Discard(t.Path, in.Permanent)
		if err == nil {
			err = acl.Same(t.Path, e.Old, true, in.PrevHash)
		}
		if err != nil {
			return change.Plan{}, deleteOut{}, err
		}
		out := deleteOut{Path: t.Path, Permanent: where == "", PrevHash: e.Before.String()}
		p := change.Plan{Edits: edits, Summary: fmt.Sprintf("Delete %s for good", t.Path)}
		if where != "" {
			out.TrashedTo = &where
			p.Summary = fmt.Sprintf("Move %s to the trash", t.Path)
		}
		return p, out, nil
	})
}
