package git

import (
	"context"
	"fmt"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

type restoreIn struct {
	tools.VaultArg
	tools.TargetArg
	Revision string `json:"revision,omitempty" jsonschema:"a commit, branch or tag; HEAD if left out" limits:"maxLength=256,default=HEAD"`
	tools.VersionArg
	tools.WriteArg
}

type restoreOut struct {
	Path     string  `json:"path"`
	Commit   string  `json:"restored_from"`
	Hash     string  `json:"content_hash"`
	PrevHash *string `json:"prev_hash"`
	tools.Written
}

func restore(s tools.Repos) tools.Tool {
	return tools.Change(tools.Spec{
		Name: "git_restore", Title: "Restore a file from a commit",
		Doc:   "Gives a file the content that it had at a revision, or makes it again if it is gone. What is staged stays.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in restoreIn) (change.Plan, restoreOut, error) {
		var out restoreOut
		t, err := in.Path.Target()
		if err != nil {
			return change.Plan{}, out, err
		}
		if t.Dir {
			return change.Plan{}, out, fault.New(fault.InvalidInput, "%q is a folder: its files are restored one by one.", t.Path).With("argument", "path")
		}
		if !c.View.Sees(t.Path) {
			return change.Plan{}, out, fault.New(fault.NoteNotFound, "No note or file at %q.", in.Path.Arg).With("closest", []string{})
		}
		content, commit, err := s.FileAt(ctx, c, t.Path, in.Revision, change.MaxImage)
		if err != nil {
			return change.Plan{}, out, err
		}
		out.Path, out.Commit, out.Hash = t.Path, string(commit.ID), fingerprint.OfContent(content).String()
		p, prev, err := tools.Restore(c, t, content, in.PrevHash)
		out.PrevHash = prev
		p.Summary = fmt.Sprintf("Restore %s as it was at %.10s of %s", t.Path, commit.ID, tools.Clock(commit.Committer.When))
		return p, out, err
	})
}
