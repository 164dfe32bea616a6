package resources

import (
	"context"
	"errors"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

type readIn struct {
	tools.VaultArg
	Path tools.File `json:"path"`
}

// Contents is one file.
type Contents struct {
	URI  string `json:"uri"`
	MIME string `json:"mime"`
	// Data is the file; Text says that it is valid UTF-8 of a kind that holds
	// text.
	Data []byte `json:"data"`
	Text bool   `json:"text"`
}

// PayloadSize is the file's size: it was looked at before reading.
func (c Contents) PayloadSize() int { return len(c.Data) }

func read() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  Read,
		Title: "Read a resource",
		Doc:   "Behind resources/read.",
		Scope: auth.Read,
	}, func(_ context.Context, c *tools.Call, in readIn) (Contents, error) {
		p, err := in.Path.Path()
		if err != nil {
			return Contents{}, err
		}
		if p.IsDir() {
			return Contents{}, fault.New(fault.NoteNotFound, "%q is a folder.", p.String())
		}
		if p.Size() > int64(c.Budget) {
			return Contents{}, tooLarge(p.Size(), c.Budget)
		}
		content, err := c.View.Read(p, int64(c.Budget))
		if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
			return Contents{}, tooLarge(big.Size, c.Budget)
		}
		if err != nil {
			return Contents{}, err
		}
		out := Contents{URI: URI(c.View.ID, p.String()), MIME: vault.MIME(p.String()), Data: content.Bytes}
		switch vault.Kind(p.String()) {
		case vault.Note, vault.Canvas, vault.Base, vault.Other:
			out.Text = vault.Text(content.Bytes)
		}
		return out, nil
	})
}

// tooLarge is no overflow: nothing was cut, the file is looked at before it is
// read.
func tooLarge(size int64, limit int) error {
	return fault.New(fault.InvalidInput, "The resource has %d bytes; the limit is %d. Read parts of it with read_note or read_section.", size, limit).
		With("size", size).With("limit", limit)
}
