package git

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/git"
	"vault-mcp/tools"
)

type commitIn struct {
	tools.VaultArg
	Message string `json:"message" jsonschema:"first line: what; below a blank line: why" limits:"minLength=1,maxLength=5000"`
	tools.WriteArg
}

type commitOut struct {
	ChangeID string `json:"change_id,omitempty"`
	DryRun   bool   `json:"dry_run,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Branch   string `json:"branch,omitempty"`
	Parent   string `json:"parent,omitempty"`
	Files    int    `json:"files" jsonschema:"staged files in the commit"`
	Summary  string `json:"summary"`
}

// intended is what is kept of a commit before the branch moves.
type intended struct {
	Tree   git.ID `json:"tree"`
	Parent git.ID `json:"parent"`
	Commit git.ID `json:"commit"`
}

func commit(s tools.Repos) tools.Tool {
	return tools.Effect(tools.EffectSpec[commitIn, commitOut]{
		Spec: tools.Spec{
			Name: "git_commit", Title: "Commit what is staged",
			Doc:   "Commits the staged changes of the repository that holds the vault; git_stage stages. A person approves each commit.",
			Scope: auth.Execute,
		},
		Floor: hitl.Always("a commit is history"),
		Targets: func(ctx context.Context, c *tools.Call, in commitIn) (hitl.Targets, error) {
			st, e, err := committable(ctx, c, s)
			if err != nil {
				return hitl.Targets{}, err
			}
			return st.confirmation(ctx, e, in.Message), nil
		},
		Begin: func(ctx context.Context, c *tools.Call, in commitIn) (func(context.Context) (commitOut, error), func(), error) {
			r, err := s.Of(ctx, c)
			if err != nil {
				return nil, nil, err
			}
			held, err := r.Hold(ctx)
			if err != nil {
				return nil, nil, tools.RepoFault(err)
			}
			return func(ctx context.Context) (commitOut, error) {
				st, err := readStaged(ctx, r)
				if err != nil {
					return commitOut{}, tools.RepoFault(err)
				}
				done, err := held.Commit(ctx, in.Message, func(tree, parent, commit git.ID) error {
					return c.Intend(ctx, intended{tree, parent, commit})
				})
				out := st.answer(in.Message)
				out.ChangeID, out.Commit = c.ChangeID(), string(done.ID)
				return out, tools.RepoFault(err)
			}, held.Release, nil
		},
		Dry: func(ctx context.Context, c *tools.Call, in commitIn) (commitOut, error) {
			st, _, err := committable(ctx, c, s)
			out := st.answer(in.Message)
			out.DryRun = true
			return out, err
		},
		Settle: func(ctx context.Context, view *acl.View, raw json.RawMessage) (done, known bool) {
			var i intended
			if json.Unmarshal(raw, &i) != nil {
				return false, false
			}
			r, err := s(ctx, view)
			if err != nil {
				return false, false
			}
			done, known, err = r.Settle(ctx, i.Tree, i.Parent, i.Commit)
			return done, known && err == nil
		},
	})
}

// committable is what is staged, if that can be committed.
func committable(ctx context.Context, c *tools.Call, s tools.Repos) (st staged, e eyes, err error) {
	r, err := s.Of(ctx, c)
	if err != nil {
		return st, e, err
	}
	if st, err = readStaged(ctx, r); err == nil {
		err = r.Ready(st.index, st.changes)
	}
	return st, eyes{r, c.View}, tools.RepoFault(err)
}

// answer is what there is to say of a commit before it is made.
func (s staged) answer(message string) commitOut {
	return commitOut{
		Branch: strings.TrimPrefix(s.head.Ref, "refs/heads/"), Parent: string(s.head.Commit), Files: len(s.changes), Summary: summaryOf(s, message),
	}
}

// confirmation is what a person approves of a commit.
func (s staged) confirmation(ctx context.Context, e eyes, message string) hitl.Targets {
	t := hitl.Targets{
		Items: s.targets(e), Summary: summaryOf(s, message),
		Undo: "It can be taken back with git itself, as long as it is not pushed.",
	}
	outside, hidden := s.beyond(e)
	if n := len(outside) + len(hidden); n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s outside of what the caller may see would be committed too; vault-mcp elicit names them.", tools.Many(n, "staged file", "staged files")))
	}
	t.Preview = func(shown func(string) bool) string {
		var b strings.Builder
		if rest := strings.TrimSpace(message); strings.Contains(rest, "\n") {
			fmt.Fprintf(&b, "%s\n\n", rest)
		}
		if shown("") && len(outside) > 0 {
			fmt.Fprintf(&b, "Outside of the notes of the vault:\n%s\n", listed(outside))
		}
		var may []git.Change
		var paths []string
		for _, c := range s.changes {
			if path, in := e.path(c.Path); in && shown(path) || !in && shown("") {
				may, paths = append(may, c), append(paths, c.Path)
			}
		}
		if len(paths) == 0 {
			return b.String()
		}
		text, cut, err := diffText(ctx, e.Repo, git.DiffOptions{Staged: true, Paths: paths}, hitl.MaxPreview)
		if err != nil || cut {
			b.WriteString(listed(may) + "\n") // named even if they cannot be shown
		}
		return b.String() + text
	}
	return t
}
