package links

import (
	"context"
	"fmt"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
	"vault-mcp/vault/rename"
)

type renameHeadingIn struct {
	tools.VaultArg
	tools.TargetArg
	Heading []string `json:"heading" jsonschema:"its title, or the titles that lead to it, outermost first" limits:"minItems=1,maxItems=10"`
	Line    int      `json:"line,omitempty" jsonschema:"line of the heading, where the same title is there twice" limits:"min=1"`
	To      string   `json:"to" jsonschema:"new title, without #" limits:"minLength=1,maxLength=1000"`
	tools.VersionArg
	tools.WriteArg
}

type renameHeadingOut struct {
	Path string `json:"path"`
	From string `json:"from"`
	To   string `json:"to"`
	Line int    `json:"line"`
	tools.Versions
	Links tools.LinkCount  `json:"links_updated" jsonschema:"in files that you may read, the note included"`
	Left  []tools.LeftLink `json:"links_left,omitempty" jsonschema:"links that could not follow"`
	tools.Written
}

func renameHeading() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "rename_heading",
		Title: "Rename a heading",
		Doc:   "Gives a heading of a note another title; links to it in all notes follow. Its level stays.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in renameHeadingIn) (change.Plan, renameHeadingOut, error) {
		out := renameHeadingOut{To: strings.TrimSpace(in.To)}
		t, err := in.Path.Note(c)
		if err != nil {
			return change.Plan{}, out, err
		}
		text, err := c.Text(ctx, t, in.PrevHash)
		if err != nil {
			return change.Plan{}, out, err
		}
		h, err := theHeading(note.Scan(text), in)
		if err != nil {
			return change.Plan{}, out, err
		}
		out.Path, out.From, out.Line = t.Path, h.Text, h.Line
		e := change.NewPut(t.Path, text, text)
		out.Versions = tools.VersionsOf(e)
		if h.Text == out.To {
			return change.Plan{}, out, nil
		}
		f, err := c.Renamed(ctx, []string{t.Path}, func(v *acl.Whole) (*rename.Result, error) { return rename.Heading(v, t.Path, h.Line, out.To) })
		if err != nil {
			return change.Plan{}, out, err
		}
		for _, e := range f.Edits {
			if e.Path != t.Path {
				continue
			}
			out.Versions = tools.VersionsOf(e)
			if e.Before != change.NewPut(t.Path, text, nil).Before {
				return change.Plan{}, out, fault.New(fault.ConcurrentModification, "%q is being written just now; nothing was changed.", t.Path).With("path", t.Path)
			}
		}
		p := change.Plan{Summary: fmt.Sprintf("Rename the heading %q of %s to %q", tools.Cut(h.Text, 100), t.Path, tools.Cut(out.To, 100))}
		out.Links, out.Left = f.Into(c, &p)
		return p, out, nil
	})
}

// theHeading is the one heading that the arguments name.
func theHeading(n *note.Note, in renameHeadingIn) (note.Heading, error) {
	found := n.FindSection(in.Heading)
	var lines []int
	for _, h := range found {
		if h.Line == in.Line {
			return h, nil
		}
		lines = append(lines, h.Line)
	}
	name := tools.Cut(strings.Join(in.Heading, " > "), 200)
	switch {
	case len(found) == 0:
		headings := []string{}
		for _, p := range n.Paths()[:min(len(n.Paths()), 100)] {
			headings = append(headings, strings.Join(p.Path, " > "))
		}
		return note.Heading{}, fault.New(fault.NotFound, "The note has no heading %q.", name).With("headings", headings)
	case in.Line > 0:
		return note.Heading{}, fault.New(fault.InvalidInput, "No heading %q starts in line %d.", name, in.Line).With("argument", "line").With("lines", lines)
	case len(found) > 1:
		return note.Heading{}, fault.New(fault.InvalidInput, "%d headings are called %q; line says which.", len(found), name).With("argument", "line").With("lines", lines)
	}
	return found[0], nil
}
