package notes

import (
	"context"
	"slices"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

type appendIn struct {
	tools.VaultArg
	tools.TargetArg
	Content string `json:"content" limits:"minLength=1,maxLength=16000000"`
	Create  bool   `json:"create_if_missing,omitempty"`
	Newline bool   `json:"ensure_newline,omitempty" jsonschema:"begin on a line of its own" limits:"default=true"`
	tools.VersionArg
	tools.WriteArg
}

type appendOut struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`
	tools.Versions
	Bytes int `json:"bytes_written" jsonschema:"of the whole note"`
	tools.Written
}

func appendNote() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "append_note",
		Title: "Append to a note",
		Doc:   "Adds text at the end of a note, in the note's own line ends.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in appendIn) (change.Plan, appendOut, error) {
		t, err := in.Path.Target()
		if err != nil {
			return change.Plan{}, appendOut{}, err
		}
		switch {
		case !t.Exists && !in.Create:
			return change.Plan{}, appendOut{}, c.Absent(ctx, t, "create_if_missing makes one.")
		case !t.Exists:
			if err := acl.Same(t.Path, nil, false, in.PrevHash); err != nil {
				return change.Plan{}, appendOut{}, err
			}
			e := change.NewCreate(t.Path, []byte(in.Content))
			return change.Plan{Summary: "Create " + t.Path, Edits: append(t.Folders(), e)},
				appendOut{Path: t.Path, Created: true, Versions: tools.VersionsOf(e), Bytes: len(in.Content)}, nil
		}
		p, e, err := c.Edit(ctx, t, in.PrevHash, "Append to "+t.Path, func(text []byte) ([]byte, error) {
			if !in.Newline {
				return slices.Concat(text, []byte(in.Content)), nil
			}
			edited, err := note.Append(text, in.Content, false)
			return edited.Text, err
		})
		return p, appendOut{Path: t.Path, Versions: tools.VersionsOf(e), Bytes: len(e.Content)}, err
	})
}
