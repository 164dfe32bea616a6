package history

import (
	"context"
	"fmt"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

type diffIn struct {
	tools.VaultArg
	tools.NoteArg
	ID int64 `json:"against" jsonschema:"snapshot_id of the older version" limits:"min=1"`
}

type diffOut struct {
	Path      string `json:"path"`
	Hash      string `json:"content_hash"`
	Identical bool   `json:"identical"`
	Diff      string `json:"diff" jsonschema:"unified, from the version to the note as it is"`
}

func diffNote(s Source) tools.Tool {
	return tools.Query(tools.Spec{
		Name: "diff_note", Title: "Compare a note with a version",
		Doc:    "Tells how a note differs from one of its versions, as a unified diff.",
		Scope:  auth.Read,
		Narrow: "read_snapshot and read_section read parts",
	}, func(ctx context.Context, c *tools.Call, in diffIn) (diffOut, error) {
		p, err := in.Path.Path()
		if err != nil {
			return diffOut{}, err
		}
		of, old, at, err := version(ctx, c, s, in.ID)
		if err != nil {
			return diffOut{}, err
		}
		if of != p.String() {
			return diffOut{}, otherNote(in.ID, of, p.String())
		}
		now, err := c.View.Read(p, change.MaxImage)
		if err != nil {
			return diffOut{}, err
		}
		out := diffOut{Path: p.String(), Hash: hashOf(now.Bytes), Identical: string(old) == string(now.Bytes)}
		out.Diff, err = tools.UnifiedDiff(fmt.Sprintf("%s (%s)", p, clock(at)), old, p.String(), now.Bytes)
		return out, err
	})
}

func hashOf(b []byte) string { return fingerprint.OfContent(b).String() }
