package git

import (
	"context"
	"io/fs"
	"strings"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/git"
	"vault-mcp/tools"
)

type logIn struct {
	tools.VaultArg
	Path     tools.Note `json:"path,omitempty" jsonschema:"only commits that changed this file, also before it was renamed"`
	Revision string     `json:"revision,omitempty" jsonschema:"where to begin" limits:"maxLength=256,default=HEAD"`
	Limit    int        `json:"limit,omitempty" limits:"min=1,max=100,default=20"`
	tools.PageArg
}

type logOut struct {
	Commits    []commitRow `json:"commits"`
	NextCursor *string     `json:"next_cursor"`
}

type commitRow struct {
	ID      string `json:"commit"`
	Subject string `json:"subject,omitempty"`
	Author  string `json:"author"`
	When    string `json:"date"`
	Path    string `json:"path,omitempty" jsonschema:"what the file was called then"`
}

// logPlace is where a page of the log ends: how many commits were looked at from
// one on. History from a commit does not change.
type logPlace struct {
	From git.ID `json:"from"`
	Seen int    `json:"seen"`
}

func log(s tools.Repos) tools.Tool {
	return tools.Query(tools.Spec{
		Name: "git_log", Title: "List commits",
		Doc:    "Lists the commits that changed the vault, or one file of it, the newest first.",
		Scope:  auth.Read,
		Narrow: "a lower limit",
	}, func(ctx context.Context, c *tools.Call, in logIn) (logOut, error) {
		out := logOut{Commits: []commitRow{}}
		r, err := s.Of(ctx, c)
		if err != nil {
			return out, err
		}
		e := eyes{r, c.View}
		o := git.LogOptions{}
		if in.Path.Arg != "" {
			path, err := in.Path.Past(c)
			if err != nil {
				return out, err
			}
			o.Path = r.Prefix + path
		}
		var at logPlace
		more, err := c.Page(in.Cursor, &at)
		if err != nil {
			return out, err
		}
		if !more {
			if at.From, err = r.Resolve(in.Revision); err != nil {
				return out, tools.RepoFault(err)
			}
		}
		o.From = at.From
		room, err := c.Room(nil)
		if err != nil {
			return out, err
		}
		seen := 0
		err = r.Log(ctx, o, func(l git.Logged) error {
			if seen++; seen <= at.Seen {
				return nil
			}
			x, err := e.examine(l)
			if err != nil || !x.shown {
				return err
			}
			row := commitRow{ID: string(l.ID), Author: l.Author.Name, When: tools.Clock(l.Committer.When), Path: x.path}
			if !x.withheld {
				row.Subject = tools.Cut(l.Subject(), maxSubject)
			}
			fits := len(out.Commits) < in.Limit
			if fits {
				if fits, err = room.Takes(row); err != nil {
					return err
				}
			}
			if !fits {
				if out.NextCursor, err = c.NextCursor(logPlace{at.From, seen - 1}); err == nil {
					err = fs.SkipAll
				}
				return err
			}
			out.Commits = append(out.Commits, row)
			return nil
		})
		return out, tools.RepoFault(err)
	})
}

// maxSubject is how much of a commit's first line a list shows, in bytes.
const maxSubject = 200

// examined is what a caller may know of a commit.
type examined struct {
	shown bool
	// path is what the file was called that the log is about.
	path string
	// withheld says that the message is not shown: the commit is also about what the
	// caller may not know of, which its message may name.
	withheld bool
}

func (e eyes) examine(l git.Logged) (x examined, err error) {
	x.shown = true
	if l.Change.Path != "" {
		if x.path, x.shown = e.sees(l.Change.Path); !x.shown {
			return x, nil
		}
	}
	if e.Prefix == "" && e.view.Rules().Len() == 0 {
		return x, nil
	}
	changes, err := l.Changes()
	if err != nil {
		return x, err
	}
	known := false
	for _, c := range changes {
		for _, p := range []string{c.Path, c.From} {
			switch {
			case p == "":
			case e.concealed(p):
				x.withheld = true
			default:
				known = true
			}
		}
	}
	x.shown = known || x.path != ""
	return x, nil
}

// concealed reports whether a caller may not know of a path of the repository:
// outside of the vault, or hidden by the rules.
func (e eyes) concealed(p string) bool {
	path, in := strings.CutPrefix(p, e.Prefix)
	return !in || !e.view.Knows(path)
}
