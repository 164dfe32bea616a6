package git

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/git"
	"vault-mcp/tools"
)

type stageIn struct {
	tools.VaultArg
	Paths tools.Places `json:"paths" jsonschema:"files of the vault, also such as are gone" limits:"minItems=1,maxItems=200"`
	tools.WriteArg
}

type stageOut struct {
	ChangeID string   `json:"change_id,omitempty"`
	DryRun   bool     `json:"dry_run,omitempty"`
	Paths    []string `json:"paths"`
	Total    int      `json:"staged" jsonschema:"files of the repository that are staged afterwards"`
}

func stage(s tools.Repos) tools.Tool {
	return staging(s, "git_stage", "Stage files", "Stages files of the vault for git_commit as they are now, those that are gone too.", (*git.Repo).Stage)
}

func unstage(s tools.Repos) tools.Tool {
	return staging(s, "git_unstage", "Unstage files", "Takes files out of what git_commit would commit; the files themselves stay as they are.", (*git.Repo).Unstage)
}

// begun is what is kept of a change of the staging area before it is made.
type begun struct {
	Index []byte `json:"index"` // what was staged before
}

// staging is a tool that changes what is staged of some files.
func staging(s tools.Repos, name, title, doc string, act func(*git.Repo, context.Context, []string) error) tools.Tool {
	answer := func(ctx context.Context, c *tools.Call, e eyes, in stageIn) (stageOut, error) {
		st, err := readStaged(ctx, e.Repo)
		out := stageOut{ChangeID: c.ChangeID(), DryRun: c.DryRun(), Paths: in.Paths.Paths()}
		for _, ch := range st.changes {
			if _, ok := e.knows(ch.Path); ok {
				out.Total++
			}
		}
		return out, tools.RepoFault(err)
	}
	return tools.Effect(tools.EffectSpec[stageIn, stageOut]{
		Spec: tools.Spec{Name: name, Title: title, Doc: doc, Scope: auth.Write},
		Targets: func(ctx context.Context, c *tools.Call, in stageIn) (hitl.Targets, error) {
			t := hitl.Targets{
				Summary: fmt.Sprintf("%s: %s", title, tools.Many(len(in.Paths), "file", "files")),
				Undo:    "It can be taken back with git_stage and git_unstage.",
			}
			r, err := s.Of(ctx, c)
			if err != nil || len(c.View.Asked()) == 0 {
				return t, err // where no rule asks, nobody has to read the files for it
			}
			ix, err := r.Index()
			if err != nil {
				return t, tools.RepoFault(err)
			}
			for _, p := range in.Paths.Paths() {
				f, content, err := c.View.Glance(p)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return t, err
				}
				t.Items = append(t.Items, hitl.Target{Name: p, State: fmt.Appendf(nil, "%v %d %x %v", err == nil, f.Size, fingerprint.OfContent(content), ix.At(r.Prefix+p))})
			}
			return t, nil
		},
		Run: func(ctx context.Context, c *tools.Call, in stageIn) (stageOut, error) {
			r, err := s.Of(ctx, c)
			if err != nil {
				return stageOut{}, err
			}
			ix, err := r.Index()
			if err != nil {
				return stageOut{}, tools.RepoFault(err)
			}
			sum := ix.Sum()
			if err := c.Intend(ctx, begun{sum[:]}); err != nil {
				return stageOut{}, err
			}
			paths := in.Paths.Paths()
			for i := range paths {
				paths[i] = r.Prefix + paths[i]
			}
			if err := act(r, ctx, paths); err != nil {
				return stageOut{}, tools.RepoFault(err)
			}
			return answer(ctx, c, eyes{r, c.View}, in)
		},
		Dry: func(ctx context.Context, c *tools.Call, in stageIn) (stageOut, error) {
			r, err := s.Of(ctx, c)
			if err != nil {
				return stageOut{}, err
			}
			return answer(ctx, c, eyes{r, c.View}, in)
		},
		Settle: func(ctx context.Context, view *acl.View, raw json.RawMessage) (done, known bool) {
			var b begun
			r, err := s(ctx, view)
			if err != nil || json.Unmarshal(raw, &b) != nil {
				return false, false
			}
			ix, err := r.Index()
			if err != nil {
				return false, false
			}
			sum := ix.Sum()
			return false, bytes.Equal(sum[:], b.Index) // otherwise somebody else may have staged
		},
	})
}
