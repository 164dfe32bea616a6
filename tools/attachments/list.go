package attachments

import (
	"context"
	"errors"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

type listIn struct {
	tools.VaultArg
	Folder     tools.Folder     `json:"folder,omitempty" jsonschema:"folder to list; the root if left out"`
	Extensions tools.Extensions `json:"extensions,omitempty" jsonschema:"only these, such as png" limits:"maxItems=20,minLength=1,maxLength=20"`
	Limit      int              `json:"limit,omitempty" limits:"min=1,max=1000,default=200"`
	tools.PageArg
}

type row struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"`
	MTime string `json:"mtime"`
	MIME  string `json:"mime"`
}

type listOut struct {
	Folder           string          `json:"folder"`
	AttachmentFolder string          `json:"attachment_folder" jsonschema:"where Obsidian puts new ones; / is the root, ./ the note's own folder"`
	Attachments      []row           `json:"attachments"`
	TotalReturned    int             `json:"total_returned"`
	NextCursor       *string         `json:"next_cursor"`
	Warnings         []tools.Warning `json:"warnings,omitempty" jsonschema:"what could not be looked at"`
}

// errEnough ends a walk whose page is full.
var errEnough = errors.New("enough")

func listAttachments() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "list_attachments",
		Title:  "List attachments",
		Doc:    "Lists images, sound, video and PDF files with size and type, in the order of paths.",
		Scope:  auth.Read,
		Narrow: "a lower limit or one folder",
	}, func(ctx context.Context, c *tools.Call, in listIn) (listOut, error) {
		folder, err := in.Folder.Path()
		if err != nil {
			return listOut{}, err
		}
		out := listOut{
			Folder: folder.String(), AttachmentFolder: c.View.Settings().AttachmentFolder, Attachments: []row{},
		}
		var after string
		if _, err := c.Page(in.Cursor, &after); err != nil {
			return out, err
		}
		wanted := in.Extensions.Accept(isAttachment)
		accept := func(name string) bool { return isAttachment(name) && wanted(name) }
		ws := c.NewWarnings(false) // each page comes by folders of its own
		o := vault.WalkOptions{Accept: accept, After: after, Problem: ws.Fail}
		err = c.View.Walk(ctx, folder, o, func(f vault.File) error {
			if len(out.Attachments) > in.Limit {
				return errEnough
			}
			out.Attachments = append(out.Attachments, row{f.Path, f.Size, tools.Clock(f.ModTime), vault.MIME(f.Path)})
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return out, err
		}
		more := false
		if out.Attachments, more, err = tools.Page(c, out.Attachments, in.Limit, ws.List()); err != nil {
			return out, err
		}
		if more {
			last := out.Attachments[len(out.Attachments)-1].Path
			ws.Upto(last)
			out.NextCursor, err = c.NextCursor(last)
		}
		out.TotalReturned, out.Warnings = len(out.Attachments), ws.List()
		return out, err
	})
}
