package git

import (
	"context"
	"slices"
	"strings"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/git"
	"vault-mcp/tools"
)

type statusIn struct {
	tools.VaultArg
	Limit int `json:"limit,omitempty" limits:"min=1,max=1000,default=200"`
	tools.PageArg
}

type statusOut struct {
	Branch     string       `json:"branch" jsonschema:"empty for a detached HEAD"`
	Head       string       `json:"head" jsonschema:"empty as long as there is no commit"`
	Upstream   string       `json:"upstream,omitempty"`
	Ahead      int          `json:"ahead,omitempty"`
	Behind     int          `json:"behind,omitempty"`
	Busy       string       `json:"in_progress,omitempty" jsonschema:"merge, rebase and the like"`
	Clean      bool         `json:"clean"`
	Files      []fileStatus `json:"files"`
	Total      int          `json:"total"`
	Elsewhere  int          `json:"staged_outside,omitempty" jsonschema:"staged files outside the vault or in dot folders"`
	NextCursor *string      `json:"next_cursor"`
}

type fileStatus struct {
	Path     string `json:"path"`
	From     string `json:"from,omitempty"`
	Staged   string `json:"staged,omitempty" jsonschema:"A, M, D, R, C or T"`
	Work     string `json:"unstaged,omitempty" jsonschema:"M, D or T; ? for a file that git does not know"`
	Conflict string `json:"conflict,omitempty"`
}

func status(s tools.Repos) tools.Tool {
	return tools.Query(tools.Spec{
		Name: "git_status", Title: "Status of the repository",
		Doc:    "Tells the branch, and what is staged, changed, new or in conflict in the vault.",
		Scope:  auth.Read,
		Narrow: "a lower limit",
	}, func(ctx context.Context, c *tools.Call, in statusIn) (statusOut, error) {
		out := statusOut{Files: []fileStatus{}}
		var after string
		if _, err := c.Page(in.Cursor, &after); err != nil {
			return out, err
		}
		r, err := s.Of(ctx, c)
		if err != nil {
			return out, err
		}
		e := eyes{r, c.View}
		st, err := r.Status(ctx)
		if err != nil {
			return out, tools.RepoFault(err)
		}
		out.Branch, out.Head, out.Upstream = strings.TrimPrefix(st.Head.Ref, "refs/heads/"), string(st.Head.Commit), st.Upstream
		out.Ahead, out.Behind, out.Busy = st.Ahead, st.Behind, r.Busy()
		for _, p := range st.Paths {
			row, ok := e.row(p)
			switch {
			case ok:
				out.Files = append(out.Files, row)
			case p.Staged != '.':
				if _, in := e.path(p.Path); !in {
					out.Elsewhere++
				}
			}
		}
		out.Total = len(out.Files)
		out.Clean = out.Total == 0 && out.Elsewhere == 0
		slices.SortStableFunc(out.Files, func(a, b fileStatus) int { return strings.Compare(a.Path, b.Path) })
		from, _ := slices.BinarySearchFunc(out.Files, after+"\x00", func(f fileStatus, p string) int { return strings.Compare(f.Path, p) })
		more := false
		out.Files, more, err = tools.Page(c, out.Files[from:], in.Limit, nil)
		if err == nil && more {
			out.NextCursor, err = c.NextCursor(out.Files[len(out.Files)-1].Path)
		}
		return out, err
	})
}

// row is a file as its caller may know of it: one that was renamed from where the
// caller may not look was added.
func (e eyes) row(p git.PathStatus) (f fileStatus, ok bool) {
	if f.Path, ok = e.knows(p.Path); !ok {
		if f.Path, ok = e.knows(p.From); ok && p.Staged == 'R' {
			f.Staged = "D" // and it is gone to where the caller may not look
			return f, true
		}
		return f, false
	}
	f.Conflict = p.Conflict
	f.Staged, f.Work = letter(p.Staged), letter(p.Work)
	if p.Untracked {
		f.Staged, f.Work = "", "?"
	}
	if p.From != "" {
		from, known := e.knows(p.From)
		switch {
		case known:
			f.From = from
		case p.Staged == 'R' || p.Staged == 'C':
			f.Staged = "A"
		}
	}
	return f, true
}

func letter(b byte) string {
	if b == '.' || b == 0 {
		return ""
	}
	return string(rune(b))
}
