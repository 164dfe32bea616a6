package links

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/link"
	"vault-mcp/vault/note"
	"vault-mcp/vault/rename"
)

type pruneIn struct {
	tools.VaultArg
	tools.TargetArg
	Unresolved bool `json:"remove_unresolved,omitempty" jsonschema:"links that lead to no file" limits:"default=true"`
	Duplicates bool `json:"remove_duplicates,omitempty" jsonschema:"links to what an earlier one leads to" limits:"default=true"`
	tools.VersionArg
	tools.WriteArg
}

type pruneOut struct {
	Path    string      `json:"path"`
	Count   int         `json:"removed_count"`
	Removed []prunedRow `json:"removed" jsonschema:"the first 200"`
	tools.Versions
	tools.Written
}

type prunedRow struct {
	Target string `json:"target"`
	Line   int    `json:"line"`
	Reason string `json:"reason" jsonschema:"unresolved or duplicate"`
	Gone   bool   `json:"line_removed,omitempty" jsonschema:"a list item that was nothing but the link"`
}

// maxPruned is how many removed links an answer lists.
const maxPruned = 200

func pruneHub() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "prune_hub_links",
		Title: "Prune a hub's links",
		Doc:   "Takes dead and repeated links out of the text of one note: their words stay, but for list items that are nothing else. Embeds, tasks, headings and properties stay as they are.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in pruneIn) (change.Plan, pruneOut, error) {
		out := pruneOut{Removed: []prunedRow{}}
		t, err := in.Path.Note(c)
		if err != nil {
			return change.Plan{}, out, err
		}
		text, err := c.Text(ctx, t, in.PrevHash)
		if err != nil {
			return change.Plan{}, out, err
		}
		var paths *link.Index
		// Over all files: that a link leads to one which the caller may not know of
		// does not make it a dead one.
		_, err = c.Renamed(ctx, nil, func(v *acl.Whole) (*rename.Result, error) {
			paths = v.Paths()
			return &rename.Result{}, nil
		})
		if err != nil {
			return change.Plan{}, out, err
		}
		rows, pruned := prune(text, useless(text, t.Path, paths, in))
		e := change.NewPut(t.Path, text, pruned)
		out.Path, out.Versions, out.Count = t.Path, tools.VersionsOf(e), len(rows)
		out.Removed = append(out.Removed, rows[:min(len(rows), maxPruned)]...)
		if bytes.Equal(text, pruned) {
			return change.Plan{Searched: true}, out, nil
		}
		what := tools.Many(len(rows), "link", "links")
		return change.Plan{
			Summary: fmt.Sprintf("Take %s out of %s", what, t.Path), Edits: []change.Edit{e}, Searched: true,
			Ask: []string{fmt.Sprintf("it takes %s out of %q", what, t.Path)},
		}, out, nil
	})
}

// dead is a link to be taken out, and why.
type dead struct {
	note.Link
	reason string
}

// useless finds the links to be taken out, in the order of the text. Links of the
// note to itself are none of them.
func useless(text []byte, path string, paths *link.Index, in pruneIn) (all []dead) {
	seen := map[string]bool{}
	for _, l := range note.Scan(text).Inline().Links {
		if l.External || l.Embed || l.Target == "" || l.Form != note.FormWiki && l.Form != note.FormMarkdown {
			continue
		}
		to, ok := paths.Resolve(path, l.Target, nil)
		to += "\x00" + note.FoldHeading(l.Subpath)
		switch {
		case !ok && in.Unresolved:
			all = append(all, dead{l, "unresolved"})
		case ok && in.Duplicates && seen[to]:
			all = append(all, dead{l, "duplicate"})
		}
		seen[to] = seen[to] || ok
	}
	return all
}

// prune takes links out, the last first. One that cannot be taken out without
// the text around it meaning something else stays.
func prune(text []byte, links []dead) (rows []prunedRow, pruned []byte) {
	pruned = text
	for _, l := range slices.Backward(links) {
		row := prunedRow{Target: tools.Cut(l.Target+l.Subpath, maxText), Line: l.Line, Reason: l.reason}
		if line, ok := wholeItem(pruned, l.Span); ok {
			if without := slices.Concat(pruned[:line.Start], pruned[line.End:]); sameBut(pruned, without, l.Span) {
				row.Gone = true
				rows, pruned = append(rows, row), without
				continue
			}
		}
		words := l.TextSpan.Of(pruned)
		if len(words) == 0 {
			words = []byte(l.Display())
		}
		if without := slices.Concat(pruned[:l.Span.Start], words, pruned[l.Span.End:]); sameBut(pruned, without, l.Span) {
			rows, pruned = append(rows, row), without
		}
	}
	slices.Reverse(rows)
	return rows, pruned
}

// wholeItem is the line of a list item that is nothing but the link.
func wholeItem(text []byte, at note.Span) (line note.Span, ok bool) {
	line.Start = bytes.LastIndexByte(text[:at.Start], '\n') + 1
	line.End = len(text)
	if i := bytes.IndexByte(text[at.End:], '\n'); i >= 0 {
		line.End = at.End + i + 1
	}
	before := string(text[line.Start:at.Start])
	marker := strings.TrimLeft(before, " \t")
	rest := bytes.TrimSpace(text[at.End:line.End])
	next, _, _ := bytes.Cut(text[line.End:], []byte("\n"))
	indent := len(next) - len(bytes.TrimLeft(next, " \t"))
	alone := len(bytes.TrimSpace(next)) == 0 || indent <= len(before)-len(marker) // nothing hangs on it
	return line, alone && len(rest) == 0 && (marker == "- " || marker == "* " || marker == "+ ")
}

// sameBut reports whether a text without a link has all that it had with it:
// the other links, headings, blocks, tasks, tags and tables.
func sameBut(was, is []byte, gone note.Span) bool {
	a, b := note.Scan(was), note.Scan(is)
	if len(a.Headings) != len(b.Headings) || len(a.Blocks) != len(b.Blocks) {
		return false
	}
	for i := range a.Headings {
		if a.Headings[i].Text != b.Headings[i].Text || a.Headings[i].Level != b.Headings[i].Level {
			return false
		}
	}
	for i := range a.Blocks {
		if a.Blocks[i].ID != b.Blocks[i].ID {
			return false
		}
	}
	x, y := a.Inline(), b.Inline()
	others := slices.DeleteFunc(slices.Clone(x.Links), func(l note.Link) bool { return l.Span == gone })
	if len(others) != len(y.Links) || len(x.Tags) != len(y.Tags) || len(x.Tasks) != len(y.Tasks) || len(x.Tables) != len(y.Tables) {
		return false
	}
	for i, l := range others {
		if l.Target != y.Links[i].Target || l.Subpath != y.Links[i].Subpath || l.Form != y.Links[i].Form || l.Embed != y.Links[i].Embed {
			return false
		}
	}
	for i := range x.Tasks {
		if x.Tasks[i].Status != y.Tasks[i].Status {
			return false
		}
	}
	for i := range x.Tables {
		if x.Tables[i].Rows() != y.Tables[i].Rows() || len(x.Tables[i].Header()) != len(y.Tables[i].Header()) {
			return false
		}
	}
	return true
}
