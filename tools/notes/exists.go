package notes

import (
	"context"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type existsIn struct {
	tools.VaultArg
	Path tools.Note `json:"path" jsonschema:"path from the vault's root, with or without .md"`
}

type existsOut struct {
	Path   string  `json:"path" jsonschema:"as spelled on disk if it exists, else as asked"`
	Exists bool    `json:"exists"`
	Type   *string `json:"type" jsonschema:"file, folder, or null if absent"`
}

func noteExists() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "note_exists",
		Title: "Check for a note",
		Doc:   "Tells whether a note or folder exists and how its path is really spelled.",
		Scope: auth.Read,
	}, func(ctx context.Context, c *tools.Call, in existsIn) (existsOut, error) {
		file, folder := "file", "folder"
		if p, err := in.Path.Path(); err == nil {
			return existsOut{p.String(), true, &file}, nil
		}
		if p, err := c.View.FindFile(ctx, in.Path.Arg); err == nil && p.IsDir() {
			return existsOut{p.String(), true, &folder}, nil
		}
		return existsOut{Path: in.Path.Arg}, nil
	})
}
