package resources

import (
	"context"
	"encoding/base64"
	"errors"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/compact"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/uri"
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

// PayloadSize is what the file takes as JSON.
func (c Contents) PayloadSize() int {
	if c.Text {
		return compact.StringLen(string(c.Data))
	}
	return base64.StdEncoding.EncodedLen(len(c.Data))
}

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
		if size := leastSize(p); size > int64(c.Budget) {
			return Contents{}, tooLarge(size, c.Budget)
		}
		content, err := c.View.Read(p, int64(c.Budget))
		if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
			return Contents{}, tooLarge(big.Size, c.Budget)
		}
		if err != nil {
			return Contents{}, err
		}
		out := Contents{URI: uri.Of(c.View.ID, p.String()), MIME: vault.MIME(p.String()), Data: content.Bytes}
		switch vault.Kind(p.String()) {
		case vault.Note, vault.Canvas, vault.Base, vault.Other:
			out.Text = vault.Text(content.Bytes)
		}
		if size := out.PayloadSize(); size > c.Budget {
			return Contents{}, tooLarge(int64(size), c.Budget)
		}
		return out, nil
	})
}

// leastSize is what a file takes at least, by a look at it.
func leastSize(p vault.Path) int64 {
	switch vault.Kind(p.String()) {
	case vault.Note, vault.Canvas, vault.Base, vault.Other:
		return p.Size()
	}
	return int64(base64.StdEncoding.EncodedLen(int(p.Size())))
}

// tooLarge is no overflow: nothing was cut, the file is looked at before it is
// read.
func tooLarge(size int64, limit int) error {
	return fault.New(fault.InvalidInput, "The resource has %d bytes; the limit is %d. Read parts of it with read_note or read_section.", size, limit).
		With("size", size).With("limit", limit)
}
