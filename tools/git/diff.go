package git

import (
	"context"
	"slices"
	"strings"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/git"
	"vault-mcp/tools"
)

type diffIn struct {
	tools.VaultArg
	Path   tools.Note `json:"path,omitempty" jsonschema:"one file; all of the vault if left out"`
	Staged bool       `json:"staged,omitempty" jsonschema:"what git_commit would commit; else what is not staged yet"`
	tools.PartArg
	tools.PageArg
}

type diffOut struct {
	Staged     bool       `json:"staged"`
	Files      []diffFile `json:"files"`
	NextCursor *string    `json:"next_cursor"`
}

type diffFile struct {
	changeRow
	Added   int    `json:"lines_added"`
	Removed int    `json:"lines_removed"`
	Binary  bool   `json:"binary,omitempty"`
	Diff    string `json:"diff,omitempty"`
	tools.DiffPart
	Cut int64 `json:"diff_cut_bytes,omitempty" jsonschema:"what is not here; path gives all of it, in parts"`
}

// maxFileDiff is how much of one file's diff a list of several shows, in bytes.
const maxFileDiff = 20_000

func diff(s tools.Repos) tools.Tool {
	return tools.Query(tools.Spec{
		Name: "git_diff", Title: "Compare with the repository",
		Doc:    "Tells how the files of the vault differ from what is staged, or with staged how that differs from the last commit. A long diff of one file comes in parts, all others page with next_cursor.",
		Scope:  auth.Read,
		Narrow: "path, for one file",
	}, func(ctx context.Context, c *tools.Call, in diffIn) (diffOut, error) {
		out := diffOut{Staged: in.Staged, Files: []diffFile{}}
		r, err := s.Of(ctx, c)
		if err != nil {
			return out, err
		}
		var after string
		if _, err := c.Page(in.Cursor, &after); err != nil {
			return out, err
		}
		e, o := eyes{r, c.View}, git.DiffOptions{Staged: in.Staged, MaxFile: maxFileDiff}
		most := min(c.Budget/3, c.Soft.Chars()/2) // it is in both halves
		var paths []string
		if in.Path.Arg != "" {
			path, err := in.Path.Past(c)
			if err != nil {
				return out, err
			}
			paths, o.MaxFile, most = []string{r.Prefix + path}, 0, tools.MaxDiff
		} else if in.FromLine > 0 || in.Lines > 0 {
			return out, fault.New(fault.InvalidInput, "from_line and lines are for the diff of one file; name it with path.").With("argument", "path")
		} else if paths, err = e.differing(ctx, in.Staged); err != nil {
			return out, err
		}
		from, _ := slices.BinarySearch(paths, after+"\x00")
		if paths = paths[from:]; len(paths) == 0 {
			return out, nil
		}
		next := ""
		if len(paths) > maxDiffs {
			paths, next = paths[:maxDiffs], paths[maxDiffs-1]
		}
		o.Paths = paths
		d, err := r.Diff(ctx, o, int64(most))
		if err != nil {
			return out, tools.RepoFault(err)
		}
		for i, f := range d.Files {
			if i > 0 && f.Text == "" && f.Cut > 0 { // there is room on the next page
				next = d.Files[i-1].Path
				break
			}
			row, _ := e.change(f.Change)
			file := diffFile{row, f.Added, f.Removed, f.Binary, f.Text, tools.DiffPart{}, f.Cut}
			if in.Path.Arg != "" {
				if file.Diff, file.DiffPart, err = in.PartArg.Diff(c, f.Text); err != nil {
					return out, err
				}
			}
			out.Files = append(out.Files, file)
		}
		if next != "" {
			out.NextCursor, err = c.NextCursor(next)
		}
		return out, err
	})
}

// maxDiffs is how many files one answer compares.
const maxDiffs = 100

// differing are the files, in order, that are not as the index has them, or with
// staged not as HEAD has them, as far as the caller may read them.
func (e eyes) differing(ctx context.Context, staged bool) (paths []string, err error) {
	st, err := e.Status(ctx)
	if err != nil {
		return nil, tools.RepoFault(err)
	}
	for _, p := range st.Paths {
		how := p.Work
		if staged {
			how = p.Staged
		}
		if p.Untracked || how == '.' && p.Conflict == "" {
			continue
		}
		for _, path := range []string{p.Path, p.From} {
			if _, ok := e.sees(path); ok && path != "" {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// diffText is the text of a diff, at most max bytes of it.
func diffText(ctx context.Context, r *git.Repo, o git.DiffOptions, max int) (text string, cut bool, err error) {
	d, err := r.Diff(ctx, o, int64(max))
	if err != nil {
		return "", false, tools.RepoFault(err)
	}
	var b strings.Builder
	for _, f := range d.Files {
		b.WriteString(f.Text)
		cut = cut || f.Cut > 0
	}
	return b.String(), cut || d.More, nil
}
