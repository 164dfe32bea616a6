package attachments

import (
	"context"
	"fmt"
	"path"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/rename"
)

type deleteIn struct {
	tools.VaultArg
	Path      tools.File `json:"path"`
	Permanent bool       `json:"permanent,omitempty" jsonschema:"not to the trash"`
	tools.VersionArg
	tools.WriteArg
}

type deleteOut struct {
	Path       string   `json:"path"`
	Permanent  bool     `json:"permanent"`
	TrashedTo  *string  `json:"trashed_to"`
	PrevHash   string   `json:"prev_hash"`
	Size       int64    `json:"size"`
	References []string `json:"references" jsonschema:"the first 200 files that link to it or embed it, of those that you may read"`
	tools.Written
}

// maxReferences is how many files an answer lists.
const maxReferences = 200

func deleteAttachment() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "delete_attachment",
		Title: "Delete an attachment",
		Doc:   "Removes any file that is no note to the trash that the vault's settings name, and tells which files refer to it. Those are left as they are.",
		Scope: auth.Read | auth.Delete,
	}, func(ctx context.Context, c *tools.Call, in deleteIn) (change.Plan, deleteOut, error) {
		out := deleteOut{References: []string{}}
		var err error
		if out.Path, err = noNote(&in.Path, "delete_note removes one"); err != nil {
			return change.Plan{}, out, err
		}
		edits, e, where, err := c.Discard(out.Path, in.Permanent)
		if err == nil {
			err = c.Expect(out.Path, in.PrevHash)
		}
		if err != nil {
			return change.Plan{}, out, err
		}
		file, _ := in.Path.Path() // noNote has asked
		out.Size, out.Permanent, out.PrevHash = file.Size(), where == "", e.Before.String()
		p := change.Plan{Edits: edits, Summary: fmt.Sprintf("Delete %s for good", out.Path)}
		if where != "" {
			out.TrashedTo = &where
			p.Summary = fmt.Sprintf("Move %s to the trash", out.Path)
		}
		return p, out, refer(ctx, c, &p, &out)
	})
}

// refer tells which files refer to one that will be gone: those whose links would
// follow it to another name.
func refer(ctx context.Context, c *tools.Call, p *change.Plan, out *deleteOut) error {
	ext := path.Ext(out.Path)
	if vault.CheckNew("x"+ext) != nil {
		ext = ".bin" // only an old name may be like that
	}
	elsewhere := path.Join(path.Dir(out.Path), change.NewID()+ext)
	f, err := c.Move(ctx, []rename.Move{{From: out.Path, To: elsewhere}})
	if err != nil {
		return err
	}
	links, hidden := 0, 0
	for _, file := range f.Report.Files {
		if !c.View.Sees(file.Path) {
			hidden += file.Links
			continue
		}
		links += file.Links
		if len(out.References) < maxReferences {
			out.References = append(out.References, file.Path)
		}
	}
	if links > 0 {
		p.Summary += "; " + tools.Many(links, "link to it leads", "links to it lead") + " nowhere then"
	}
	if hidden > 0 {
		p.Aside = tools.Many(hidden, "link", "links") + " to it in files that the caller may not read."
	}
	return nil
}
