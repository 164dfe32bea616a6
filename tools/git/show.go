package git

import (
	"cmp"
	"context"
	"strings"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/git"
	"vault-mcp/tools"
)

type showIn struct {
	tools.VaultArg
	Revision string     `json:"revision,omitempty" limits:"maxLength=256,default=HEAD"`
	Path     tools.Note `json:"path,omitempty" jsonschema:"only the diff of this file"`
	tools.PartArg
}

type showOut struct {
	Commit    string      `json:"commit"`
	Parents   []string    `json:"parents"`
	Author    string      `json:"author"`
	Email     string      `json:"email"`
	When      string      `json:"date"`
	Message   string      `json:"message,omitempty"`
	Withheld  bool        `json:"message_withheld,omitempty" jsonschema:"it may name what you may not know of"`
	Files     []changeRow `json:"files"`
	FilesMore int         `json:"files_more,omitempty"`
	Diff      string      `json:"diff"`
	tools.DiffPart
	DiffCut bool `json:"diff_cut,omitempty" jsonschema:"there is more than any part gives"`
}

type changeRow struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"`
	Status string `json:"status" jsonschema:"A, M, D, R or T"`
}

func show(s tools.Repos) tools.Tool {
	return tools.Query(tools.Spec{
		Name: "git_show", Title: "Show a commit",
		Doc:    "Shows one commit: who, when, why, its files and its diff; a long one comes in parts.",
		Scope:  auth.Read,
		Narrow: "path, for one file of the commit",
	}, func(ctx context.Context, c *tools.Call, in showIn) (showOut, error) {
		out := showOut{Parents: []string{}, Files: []changeRow{}}
		r, err := s.Of(ctx, c)
		if err != nil {
			return out, err
		}
		e, only := eyes{r, c.View}, ""
		if in.Path.Arg != "" {
			if only, err = in.Path.Past(c); err != nil {
				return out, err
			}
		}
		id, err := r.Resolve(in.Revision)
		if err != nil {
			return out, tools.RepoFault(err)
		}
		commit, err := r.Commit(id)
		if err != nil {
			return out, tools.RepoFault(err)
		}
		var parent git.ID
		if len(commit.Parents) > 0 {
			parent = commit.Parents[0]
		}
		changes, err := r.Changes(ctx, parent, id)
		if err != nil {
			return out, tools.RepoFault(err)
		}
		shown := e.changes(changes, &out.Withheld)
		if len(shown) == 0 && out.Withheld {
			return out, fault.New(fault.NotFound, "There is no commit %q of the vault.", tools.Cut(in.Revision, 100))
		}
		out.Commit, out.Author, out.Email, out.When = string(id), commit.Author.Name, commit.Author.Email, tools.Clock(commit.Committer.When)
		for _, p := range commit.Parents {
			out.Parents = append(out.Parents, string(p))
		}
		if !out.Withheld {
			out.Message = strings.TrimSpace(commit.Message)
		}
		var paths []string
		for _, ch := range shown {
			row, readable := e.change(ch)
			if len(out.Files) == tools.MaxFiles {
				out.FilesMore++
			} else {
				out.Files = append(out.Files, row)
			}
			if readable && (only == "" || row.Path == only) {
				paths = append(paths, ch.Path)
				if row.From != "" {
					paths = append(paths, ch.From)
				}
			}
		}
		if len(paths) == 0 {
			return out, nil
		}
		text, more, err := diffText(ctx, r, git.DiffOptions{From: cmp.Or(parent, git.EmptyTree), To: id, Paths: paths}, tools.MaxDiff)
		if out.DiffCut = more; err == nil {
			out.Diff, out.DiffPart, err = in.PartArg.Diff(c, text)
		}
		return out, err
	})
}

// changes are those that the caller may know of; concealed is set if there are
// others.
func (e eyes) changes(all []git.Change, concealed *bool) (known []git.Change) {
	for _, c := range all {
		if e.concealed(c.Path) || c.From != "" && e.concealed(c.From) {
			*concealed = true
		}
		if _, ok := e.knows(c.Path); ok {
			known = append(known, c)
		} else if _, ok := e.knows(c.From); ok && c.Status == 'R' {
			known = append(known, git.Change{Path: c.From, Status: 'D', Old: c.Old, OldMode: c.OldMode})
		}
	}
	return known
}

// change is a row about a change whose path the caller may know; readable says
// that it may read all of its diff.
func (e eyes) change(c git.Change) (row changeRow, readable bool) {
	row.Path, readable = e.sees(c.Path)
	row.Path = strings.TrimPrefix(c.Path, e.Prefix)
	row.Status = string(rune(c.Status))
	if c.From == "" {
		return row, readable
	}
	from, ok := e.sees(c.From)
	if !ok {
		row.Status = "A"
		return row, readable
	}
	row.From = from
	return row, readable
}
