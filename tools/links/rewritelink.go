package links

import (
	"context"
	"fmt"
	"slices"

	"vault-mcp/cache/index"
	"vault-mcp/hitl"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/rename"
)

type rewriteLinkIn struct {
	tools.VaultArg
	From   string       `json:"from_target" jsonschema:"file that the links lead to now, or what links say that lead nowhere" limits:"minLength=1,maxLength=1024"`
	To     string       `json:"to_target" jsonschema:"file that they will lead to" limits:"minLength=1,maxLength=1024"`
	Folder tools.Folder `json:"folder,omitempty" jsonschema:"only links in files below it"`
	Embeds bool         `json:"include_embeds,omitempty" limits:"default=true"`
	tools.WriteArg
}

type rewriteLinkOut struct {
	From    string           `json:"from_target"`
	To      string           `json:"to_target"`
	Notes   int              `json:"notes_changed"`
	Links   int              `json:"links_rewritten"`
	Changes []rewritten      `json:"changes" jsonschema:"the first 200"`
	Left    []tools.LeftLink `json:"links_left,omitempty" jsonschema:"links that could not be rewritten"`
	tools.Written
}

type rewritten struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// maxRewritten is how many files an answer lists.
const maxRewritten = 200

func rewriteLink() tools.Tool {
	t := tools.Change(tools.Spec{
		Name:  "rewrite_link",
		Title: "Rewrite links",
		Doc:   "Makes all links and embeds of one target lead to another file, each in its own style; display texts and headings stay.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in rewriteLinkIn) (change.Plan, rewriteLinkOut, error) {
		out := rewriteLinkOut{Changes: []rewritten{}}
		folder, err := in.Folder.Path()
		if err != nil {
			return change.Plan{}, out, err
		}
		var ok bool
		if out.From, _, err = targetOf(ctx, c, in.From); err != nil {
			return change.Plan{}, out, err
		}
		if out.To, ok, err = targetOf(ctx, c, in.To); err == nil && !ok {
			err = fault.New(fault.NoteNotFound, "No note or file at %q.", in.To).With("argument", "to_target")
		}
		if err != nil {
			return change.Plan{}, out, err
		}
		f, err := c.Renamed(ctx, []string{out.From, out.To}, func(v *acl.Whole) (*rename.Result, error) {
			return rename.Links(v, out.From, out.To, in.Embeds, c.View.Settings())
		})
		if err != nil {
			return change.Plan{}, out, err
		}
		// These links are what is asked for, so nothing is done in files that the
		// caller does not know: to it those links do not exist.
		below := tools.InFolder(folder.String())
		mine := func(path string) bool { return below(path) && c.View.Sees(path) }
		f.Edits = slices.DeleteFunc(f.Edits, func(e change.Edit) bool { return !mine(e.Path) })
		f.Report.Files = slices.DeleteFunc(f.Report.Files, func(n rename.Count) bool { return !mine(n.Path) })
		f.Report.Left = slices.DeleteFunc(f.Report.Left, func(l rename.Place) bool { return !mine(l.Path) })
		for _, n := range f.Report.Files {
			out.Notes++
			out.Links += n.Links
			if len(out.Changes) < maxRewritten {
				out.Changes = append(out.Changes, rewritten{n.Path, n.Links})
			}
		}
		p := change.Plan{Summary: fmt.Sprintf("Make links to %s lead to %s", tools.Cut(out.From, 200), out.To)}
		_, out.Left = f.Into(c, &p)
		if p.Empty() {
			p.Summary = ""
		}
		return p, out, nil
	})
	t.Floor = hitl.Always("it rewrites what links of the vault lead to")
	return t
}

// targetOf is the file that a target names, by its path or as a link would; else
// the target as it is.
func targetOf(ctx context.Context, c *tools.Call, target string) (path string, ok bool, err error) {
	p, err := c.View.FindNote(ctx, target)
	switch e := fault.Of(err); {
	case err == nil:
		return p.String(), true, nil
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case e.Code == fault.ACLDenied:
		return "", false, err
	}
	path = target
	err = c.View.Model(ctx, func(m *index.Model) error {
		if to, found := c.View.Resolve(m.Paths(), "", target); found {
			path, ok = to, true
		}
		return nil
	})
	return path, ok, err
}
