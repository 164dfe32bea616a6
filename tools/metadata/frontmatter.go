package metadata

import (
	"context"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault/note"
)

type frontmatterIn struct {
	tools.VaultArg
	tools.NoteArg
}

type problem struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

type frontmatterOut struct {
	Path           string    `json:"path"`
	State          string    `json:"state" jsonschema:"ok, empty, none (no properties), or invalid (no valid YAML)"`
	HasFrontmatter bool      `json:"has_frontmatter"`
	Frontmatter    any       `json:"frontmatter" jsonschema:"the properties as an object, null where they are none or invalid"`
	ContentHash    string    `json:"content_hash"`
	Problems       []problem `json:"problems,omitempty" jsonschema:"why invalid properties cannot be read"`
}

func readFrontmatter() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "read_frontmatter",
		Title: "Read a note's properties",
		Doc:   "Reads the properties (YAML frontmatter) of a note, in their order and with their types.",
		Scope: auth.Read,
	}, func(_ context.Context, c *tools.Call, in frontmatterIn) (frontmatterOut, error) {
		path, text, p, err := properties(c, in.Path)
		if err != nil {
			return frontmatterOut{}, err
		}
		out := frontmatterOut{
			Path: path, State: p.State.String(), HasFrontmatter: p.State != note.StateNone,
			ContentHash: fingerprint.OfContent(text).String(),
		}
		switch p.State {
		case note.StateOK, note.StateEmpty:
			out.Frontmatter = p.Map()
		case note.StateInvalid:
			out.Problems = []problem{{p.Problem.Line, p.Problem.Reason}}
		}
		return out, nil
	})
}
