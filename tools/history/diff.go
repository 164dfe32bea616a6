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
	Against tools.Version `json:"against" jsonschema:"the older version: a snapshot_id, or a git revision" limits:"minLength=1,maxLength=256"`
	tools.PartArg
}

type diffOut struct {
	Path      string `json:"path"`
	Hash      string `json:"content_hash"`
	Identical bool   `json:"identical"`
	Diff      string `json:"diff" jsonschema:"unified, from the version to the note as it is"`
	tools.DiffPart
}

func diffNote(s Source, repos tools.Repos) tools.Tool {
	return tools.Query(tools.Spec{
		Name: "diff_note", Title: "Compare a note with a version",
		Doc:    "Tells how a note differs from one of its versions, as a unified diff; a long one comes in parts.",
		Scope:  auth.Read,
		Narrow: "read_snapshot and read_section read parts",
	}, func(ctx context.Context, c *tools.Call, in diffIn) (diffOut, error) {
		p, err := in.Path.Path()
		if err != nil {
			return diffOut{}, err
		}
		old, label, err := in.before(ctx, c, s, repos, p.String())
		if err != nil {
			return diffOut{}, err
		}
		now, err := c.View.Read(p, change.MaxImage)
		if err != nil {
			return diffOut{}, err
		}
		out := diffOut{Path: p.String(), Hash: hashOf(now.Bytes), Identical: string(old) == string(now.Bytes)}
		diff, err := tools.UnifiedDiff(label, old, p.String(), now.Bytes)
		if err == nil {
			out.Diff, out.DiffPart, err = in.PartArg.Diff(c, diff)
		}
		return out, err
	})
}

// before is the older version, and how the diff names it.
func (in diffIn) before(ctx context.Context, c *tools.Call, s Source, repos tools.Repos, path string) (old []byte, label string, err error) {
	id, ok := in.Against.Snapshot()
	if !ok {
		old, commit, err := repos.FileAt(ctx, c, path, string(in.Against), change.MaxImage)
		return old, fmt.Sprintf("%s (%.10s)", path, commit.ID), err
	}
	of, old, at, err := snapshot(ctx, c, s, id)
	if err == nil && of != path {
		err = otherNote(id, of, path)
	}
	return old, fmt.Sprintf("%s (%s)", path, tools.Clock(at)), err
}

func hashOf(b []byte) string { return fingerprint.OfContent(b).String() }
