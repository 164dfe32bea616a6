package metadata

import (
	"context"
	"fmt"

	"vault-mcp/cache/index"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

type renameTagIn struct {
	tools.VaultArg
	Tag string `json:"tag" jsonschema:"with or without #; tags nested in it are renamed too" limits:"minLength=1,maxLength=500"`
	New string `json:"new_tag" jsonschema:"a tag that is in use makes one tag of the two" limits:"minLength=1,maxLength=500"`
	tools.WriteArg
}

type renameTagOut struct {
	Tag     string `json:"tag" jsonschema:"without #"`
	New     string `json:"new_tag"`
	Notes   int    `json:"notes" jsonschema:"notes that change"`
	Renamed int    `json:"renamed" jsonschema:"how often the tag was there in them"`
	tools.Written
}

func renameTag() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "rename_tag",
		Title: "Rename a tag everywhere",
		Doc:   "Renames a tag, with those nested in it, in the properties and texts of all notes. Notes that have to be left out are named in warnings.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in renameTagIn) (change.Plan, renameTagOut, error) {
		var out renameTagOut
		var err error
		if out.Tag, err = note.TagName(in.Tag); err != nil {
			return change.Plan{}, out, noEdit("", err)
		}
		if out.New, err = note.TagName(in.New); err != nil {
			return change.Plan{}, out, fault.New(fault.InvalidInput, "%s.", err).With("argument", "new_tag")
		}
		used := 0
		w, err := newWide(ctx, c, func(m *index.Model) []uint32 {
			if vault.FoldName(out.Tag) != vault.FoldName(out.New) {
				for _, id := range m.Tagged(out.New, false) {
					if n, ok := m.ByID(id); ok && c.View.Sees(n.Path) {
						used++
					}
				}
			}
			// The property tag is no tag of the index, as the app no longer reads it.
			return append(m.Tagged(out.Tag, true), m.WithProperty("tag")...)
		})
		if err != nil {
			return change.Plan{}, out, err
		}
		err = w.each(ctx, func(_ string, text []byte) ([]byte, error) {
			now, n, err := note.RenameTag(text, out.Tag, out.New, note.TagsEverywhere)
			if err == nil {
				out.Renamed += n
			}
			return now, err
		})
		if used > 0 && len(w.plan.Edits) > 0 {
			w.plan.Warnings = append(w.plan.Warnings, fmt.Sprintf("#%s is a tag of %s already: from now on the two are one", out.New, counted(used)))
		}
		out.Notes = len(w.plan.Edits)
		return w.done(fmt.Sprintf("Rename the tag #%s to #%s", out.Tag, out.New)), out, err
	})
}
