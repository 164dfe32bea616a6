package attachments

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"

	"vault-mcp/governor"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/compact"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

type getIn struct {
	tools.VaultArg
	Path     tools.File   `json:"path" jsonschema:"path from the vault's root"`
	MaxBytes int64        `json:"max_bytes,omitempty" jsonschema:"refuse a larger file" limits:"min=1,max=50000000,default=10000000"`
	FromPage int          `json:"from_page,omitempty" jsonschema:"first page of the text of a PDF" limits:"min=1"`
	Format   tools.Format `json:"format,omitempty" jsonschema:"text: a picture as such, the text of a PDF; json: the bytes as base64" limits:"default=text"`
	tools.PageArg
}

// getOut is one of picture, part and pdfText.
type getOut struct{ form any }

// Chosen is the form in which the attachment goes out.
func (o getOut) Chosen() any { return o.form }

// position is where the page of a file begins, and which file that was.
type position struct {
	Hash   string `json:"h"`
	Offset int64  `json:"o,omitempty"` // into the bytes, or into the text of Page
	Page   int    `json:"p,omitempty"` // of a PDF's text, from 1
	// What pdfinfo said, which holds as long as the hash does.
	Pages  int  `json:"n,omitempty"`
	NoCopy bool `json:"c,omitempty"`
}

// still refuses a cursor from a file that has other bytes by now.
func (at position) still(hash fingerprint.Content) error {
	if at.Hash != "" && at.Hash != hash.String() {
		return governor.Expired("The file changed since the page before; start again without a cursor.")
	}
	return nil
}

func getAttachment(x *pdfs) tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "get_attachment",
		Title:  "Get an attachment",
		Doc:    "Gets a picture to look at, or the text of a PDF by its pages; any other file, and every file with format json, comes as base64.",
		Scope:  auth.Read,
		Narrow: "format json, which gives the bytes in pages",
		Long:   true,
	}, func(ctx context.Context, c *tools.Call, in getIn) (out getOut, err error) {
		p, err := in.Path.Path()
		if err != nil {
			return out, err
		}
		if p.IsDir() || !isAttachment(p.String()) {
			return out, fault.New(fault.InvalidInput, "%q is no attachment (image, audio, video or PDF); use read_note for notes.", p.String()).With("argument", "path")
		}
		mime := vault.MIME(path.Base(p.String()))
		text := mime == pdf && in.Format == tools.FormatText
		if in.FromPage > 0 && !text {
			return out, fault.New(fault.InvalidInput, "from_page is for the text of a PDF alone.").With("argument", "from_page")
		}
		var at position
		if _, err := c.Page(in.Cursor, &at); err != nil {
			return out, err
		}
		if p.Size() > in.MaxBytes {
			return out, in.tooLarge(p.Size())
		}
		switch {
		case text:
			out.form, err = x.text(ctx, c, in, p, at)
		case seen[mime] && in.Format == tools.FormatText:
			out.form, err = look(c, p, mime)
		default:
			out.form, err = bytesOf(c, in, p, mime, at)
		}
		if big, ok := errors.AsType[*vault.TooLargeError](err); ok { // it grew meanwhile
			err = in.tooLarge(big.Size)
		}
		return out, err
	})
}

func (in getIn) tooLarge(size int64) error {
	return fault.New(fault.InvalidInput, "The file has %d bytes; max_bytes is %d.", size, in.MaxBytes).
		With("argument", "max_bytes").With("size", size)
}

// seen are the image types that models and clients show; others come as bytes.
var seen = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// facts is what there is to say about a file beside what is in it.
type facts struct {
	Path        string `json:"path"`
	MIME        string `json:"mime"`
	Size        int64  `json:"size" jsonschema:"of the whole file, in bytes"`
	ContentHash string `json:"content_hash" jsonschema:"SHA-256 of the whole file"`
}

// picture is an image for a model to see.
type picture struct {
	facts
	data []byte
}

// Picture is the image under one line that says which.
func (o picture) Picture() (caption string, _ tools.Image) {
	caption = fmt.Sprintf("%s · %s · %s · %d bytes", o.Path, o.ContentHash, o.MIME, o.Size)
	return caption, tools.Image{MIME: o.MIME, Data: o.data}
}

// frame is kept free in each answer for the fields of the protocol, in bytes.
const frame = 512

// look reads a picture, which goes into one answer or none.
func look(c *tools.Call, p vault.Path, mime string) (picture, error) {
	room := int64(c.Budget-frame-compact.StringLen(p.String()))/4*3 - 2
	over := func(size int64) error {
		return governor.Overflow(base64.StdEncoding.EncodedLen(int(size)), c.Budget, c.Tool.Narrow).With("size", size)
	}
	if p.Size() > room {
		return picture{}, over(p.Size())
	}
	content, err := c.View.Read(p, room)
	if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
		return picture{}, over(big.Size)
	}
	if err != nil {
		return picture{}, err
	}
	return picture{facts{p.String(), mime, content.Size, fingerprint.OfContent(content.Bytes).String()}, content.Bytes}, nil
}

// part is some bytes of a file.
type part struct {
	partFacts
	Content string `json:"content"`
}

type partFacts struct {
	facts
	Encoding   string  `json:"encoding"`
	Offset     int64   `json:"offset" jsonschema:"where content begins in the file, in bytes"`
	NextCursor *string `json:"next_cursor"`
}

// Facts leaves the bytes out of the text half.
func (o part) Facts() any { return o.partFacts }

// bytesOf reads as many bytes as an answer takes. All parts but the last have
// whole groups of three bytes, so that their base64 can be put together as it
// is.
func bytesOf(c *tools.Call, in getIn, p vault.Path, mime string, at position) (part, error) {
	o := part{partFacts: partFacts{
		facts: facts{p.String(), mime, in.MaxBytes, fingerprint.OfContent(nil).String()}, Encoding: "base64", Offset: at.Offset,
	}}
	// An answer that is as long as any: its numbers have the most digits.
	var err error
	if o.NextCursor, err = c.NextCursor(position{Hash: o.ContentHash, Offset: in.MaxBytes}); err != nil {
		return o, err
	}
	cost, err := c.Cost(o)
	if err != nil {
		return o, err
	}
	twice, err := c.TextCost(o.partFacts)
	if err != nil {
		return o, err
	}
	room := (c.Budget - frame - cost - twice) / 4 * 3
	if room <= 0 {
		return o, governor.Overflow(frame+cost+twice, c.Budget, "")
	}
	read, err := c.View.ReadPart(p, at.Offset, int64(room), in.MaxBytes)
	if err != nil {
		return o, err
	}
	if err := at.still(read.Hash); err != nil {
		return o, err
	}
	o.Size, o.ContentHash, o.NextCursor = read.Size, read.Hash.String(), nil
	o.Content = base64.StdEncoding.EncodeToString(read.Bytes)
	if end := at.Offset + int64(len(read.Bytes)); end < read.Size {
		o.NextCursor, err = c.NextCursor(position{Hash: o.ContentHash, Offset: end})
	}
	return o, err
}
