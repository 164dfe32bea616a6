package notes

import (
	"context"
	"fmt"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

// writeMode says what write_note does where a file is, or is not.
type writeMode string

// Values implements tools' enums.
func (writeMode) Values() []string { return []string{"create", "overwrite", "upsert"} }

type writeIn struct {
	tools.VaultArg
	Path    tools.Target `json:"path" jsonschema:"path from the vault's root; .md is added where no extension is"`
	Content string       `json:"content" jsonschema:"the whole text, properties included" limits:"maxLength=16000000"`
	Mode    writeMode    `json:"mode,omitempty" jsonschema:"create refuses an existing note, overwrite a missing one, upsert neither" limits:"default=create"`
	tools.VersionArg
	tools.WriteArg
}

type writeOut struct {
	Path     string `json:"path"`
	Created  bool   `json:"created"`
	ModeUsed string `json:"mode_used"`
	tools.Versions
	Bytes int `json:"bytes_written"`
	tools.Written
}

func writeNote() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "write_note",
		Title: "Write a note",
		Doc:   "Makes a note with this text, or replaces the whole text of one. To change a part, use patch_note; to add, append_note.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in writeIn) (change.Plan, writeOut, error) {
		t, err := in.Path.Target()
		if err != nil {
			return change.Plan{}, writeOut{}, err
		}
		return planWrite(ctx, c, t, []byte(in.Content), in)
	})
}

// planWrite is the plan that gives a note a content.
func planWrite(ctx context.Context, c *tools.Call, t acl.Target, content []byte, in writeIn) (change.Plan, writeOut, error) {
	if t.Dir {
		return change.Plan{}, writeOut{}, fault.New(fault.InvalidInput, "%q is a folder.", t.Path).With("argument", "path")
	}
	if !t.Exists {
		return create(ctx, c, t, content, in)
	}
	if in.Mode == "create" {
		return change.Plan{}, writeOut{}, fault.New(fault.NoteExists, "%q exists already.", t.Path).With("path", t.Path)
	}
	old, err := c.Text(ctx, t, in.PrevHash)
	if err != nil {
		return change.Plan{}, writeOut{}, err
	}
	e := change.NewPut(t.Path, old, content)
	e.Whole = true
	out := writeOut{Path: t.Path, ModeUsed: "overwrite", Versions: tools.VersionsOf(e), Bytes: len(content)}
	if e.Before == e.After {
		return change.Plan{}, out, nil
	}
	return change.Plan{Summary: fmt.Sprintf("Replace the whole of %s", t.Path), Edits: []change.Edit{e}}, out, nil
}

// create is the plan of a new note.
func create(ctx context.Context, c *tools.Call, t acl.Target, content []byte, in writeIn) (change.Plan, writeOut, error) {
	if in.Mode == "overwrite" {
		return change.Plan{}, writeOut{}, c.Absent(ctx, t, "The mode create makes one.")
	}
	if err := acl.Same(t.Path, nil, false, in.PrevHash); err != nil {
		return change.Plan{}, writeOut{}, err
	}
	e := change.NewCreate(t.Path, content)
	return change.Plan{Summary: "Create " + t.Path, Edits: append(t.Folders(), e)},
		writeOut{Path: t.Path, Created: true, ModeUsed: "create", Versions: tools.VersionsOf(e), Bytes: len(content)}, nil
}
