package attachments

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
)

// putMode says what put_attachment does where a file is, or is not.
type putMode string

// Values implements tools' enums.
func (putMode) Values() []string { return []string{"create", "overwrite", "upsert"} }

type putIn struct {
	tools.VaultArg
	Path    tools.Spot `json:"path" jsonschema:"with the extension of an image, sound, video or PDF"`
	Content string     `json:"content" jsonschema:"base64 of the whole file, which may have 10 MB" limits:"minLength=1,maxLength=14000000"`
	Mode    putMode    `json:"mode,omitempty" jsonschema:"create refuses an existing file, overwrite a missing one, upsert neither" limits:"default=create"`
	tools.VersionArg
	tools.WriteArg
}

type putOut struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`
	Size    int    `json:"size"`
	tools.Versions
	tools.Written
}

// maxPut is the largest attachment that is written, in bytes.
const maxPut = 10_000_000

func putAttachment() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "put_attachment",
		Title: "Write an attachment",
		Doc:   "Writes an image, sound, video or PDF file from base64.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in putIn) (change.Plan, putOut, error) {
		t, err := in.Path.Target.Target()
		if err != nil {
			return change.Plan{}, putOut{}, err
		}
		out := putOut{Path: t.Path, Created: !t.Exists}
		content, err := decode(in.Content)
		switch {
		case err != nil:
			return change.Plan{}, out, err
		case t.Dir:
			return change.Plan{}, out, fault.New(fault.InvalidInput, "%q is a folder.", t.Path).With("argument", "path")
		case !isAttachment(t.Path):
			return change.Plan{}, out, fault.New(fault.InvalidInput, "%q has no extension of an attachment; write_note writes text.", t.Path).With("argument", "path")
		case t.Exists && in.Mode == "create":
			return change.Plan{}, out, fault.New(fault.NoteExists, "%q exists already.", t.Path).With("path", t.Path)
		case !t.Exists && in.Mode == "overwrite":
			return change.Plan{}, out, c.Absent(ctx, t, "The mode create makes one.")
		}
		out.Size = len(content)
		if !t.Exists {
			e := change.NewCreate(t.Path, content)
			out.Versions = tools.VersionsOf(e)
			return change.Plan{Summary: fmt.Sprintf("Create %s of %d bytes", t.Path, len(content)), Edits: append(t.Folders(), e)},
				out, acl.Same(t.Path, nil, false, in.PrevHash)
		}
		old, err := c.View.ReadTarget(t)
		if err == nil {
			err = acl.Same(t.Path, old, true, in.PrevHash)
		}
		if err != nil {
			return change.Plan{}, out, tools.TooLarge(t.Path, err)
		}
		e := change.NewPut(t.Path, old, content)
		e.Whole = true
		out.Versions = tools.VersionsOf(e)
		if e.Before == e.After {
			return change.Plan{}, out, nil
		}
		return change.Plan{Summary: fmt.Sprintf("Replace the whole of %s", t.Path), Edits: []change.Edit{e}}, out, nil
	})
}

// decode reads base64 as programs write it: of either alphabet, with or without
// padding and line ends, or as a data URL.
func decode(s string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(s, "data:"); ok {
		_, s, _ = strings.Cut(rest, ",")
	}
	s = strings.NewReplacer("\r", "", "\n", "", " ", "", "-", "+", "_", "/").Replace(s)
	b, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(s, "="))
	switch {
	case err != nil:
		return nil, fault.New(fault.InvalidInput, "The content is no base64.").With("argument", "content")
	case len(b) == 0:
		return nil, fault.New(fault.InvalidInput, "The content is empty.").With("argument", "content")
	case len(b) > maxPut:
		return nil, fault.New(fault.InvalidInput, "The file has %d bytes; at most %d are written.", len(b), maxPut).With("argument", "content")
	}
	return b, nil
}
