package attachments

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"

	"vault-mcp/governor"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

type getIn struct {
	tools.VaultArg
	Path     tools.File `json:"path" jsonschema:"path from the vault's root"`
	MaxBytes int64      `json:"max_bytes,omitempty" jsonschema:"refuse a larger file" limits:"min=1,max=50000000,default=10000000"`
	tools.FormatArg
}

type getOut struct {
	Path        string `json:"path"`
	MIME        string `json:"mime"`
	Size        int64  `json:"size"`
	ContentHash string `json:"content_hash"`
	Encoding    string `json:"encoding"`
	Content     string `json:"content"`

	image []byte // set where the file goes out as a picture instead
}

// facts is everything but the bytes.
type facts struct {
	Path        string `json:"path"`
	MIME        string `json:"mime"`
	Size        int64  `json:"size"`
	ContentHash string `json:"content_hash"`
}

// Facts leaves the bytes out of the text half.
func (o getOut) Facts() any { return facts{o.Path, o.MIME, o.Size, o.ContentHash} }

// Picture is an image that a model can see, under one line that says which.
func (o getOut) Picture() (caption string, _ tools.Image, ok bool) {
	caption = fmt.Sprintf("%s · %s · %s · %d bytes", o.Path, o.ContentHash, o.MIME, o.Size)
	return caption, tools.Image{MIME: o.MIME, Data: o.image}, o.image != nil
}

// seen are the image types that models and clients show; others come as bytes.
var seen = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

func getAttachment() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "get_attachment",
		Title:  "Get an attachment",
		Doc:    "Gets an attachment: a picture to look at, any other file as base64. Use format json for the bytes of a picture.",
		Scope:  auth.Read,
		Narrow: "a smaller file; list_attachments tells sizes",
		Long:   true,
	}, func(ctx context.Context, c *tools.Call, in getIn) (getOut, error) {
		p, err := in.Path.Path()
		if err != nil {
			return getOut{}, err
		}
		if p.IsDir() || !isAttachment(p.String()) {
			return getOut{}, fault.New(fault.InvalidInput, "%q is no attachment (image, audio, video or PDF); use read_note for notes.", p.String()).With("argument", "path")
		}
		return get(c, in, p)
	})
}

func get(c *tools.Call, in getIn, p vault.Path) (getOut, error) {
	if p.Size() > in.MaxBytes {
		return getOut{}, fault.New(fault.InvalidInput, "The file has %d bytes; max_bytes is %d.", p.Size(), in.MaxBytes).
			With("argument", "max_bytes").With("size", p.Size())
	}
	if n := base64.StdEncoding.EncodedLen(int(p.Size())); n > c.Budget {
		return getOut{}, governor.Overflow(n, c.Budget, c.Tool.Narrow)
	}
	content, err := c.View.Read(p, in.MaxBytes)
	if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
		return getOut{}, governor.Overflow(int(big.Size), c.Budget, c.Tool.Narrow)
	}
	if err != nil {
		return getOut{}, err
	}
	out := getOut{
		Path: p.String(), MIME: vault.MIME(path.Base(p.String())), Size: content.Size,
		ContentHash: fingerprint.OfContent(content.Bytes).String(), Encoding: "base64",
	}
	if seen[out.MIME] && in.Format != tools.FormatJSON {
		out.image = content.Bytes
		return out, nil
	}
	out.Content = base64.StdEncoding.EncodeToString(content.Bytes)
	return out, nil
}
