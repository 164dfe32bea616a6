package notes

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"vault-mcp/governor"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

type readIn struct {
	tools.VaultArg
	tools.NoteArg
	tools.PartArg
	View view   `json:"view,omitempty" jsonschema:"outline: instead of the text its headings and block ids, with line and size" limits:"default=text"`
	At   string `json:"at,omitempty" jsonschema:"git revision: the note as it was then, also if it is gone" limits:"minLength=1,maxLength=256"`
	tools.FormatArg
}

// view is what of a note is read.
type view string

// Values lists the views for the schema.
func (view) Values() []string { return []string{"text", viewOutline} }

const viewOutline = "outline"

// readFacts is what there is to say about a text beside the text.
type readFacts struct {
	Path        string `json:"path"`
	Encoding    string `json:"encoding" jsonschema:"utf-8, or base64 for a file that is no UTF-8 text"`
	ContentHash string `json:"content_hash" jsonschema:"SHA-256 of the whole file"`
	tools.Part
	Outline []outlineRow `json:"outline,omitzero" jsonschema:"with view outline: headings and blocks by line, for read_section"`
	Size    int64        `json:"size"`
	MTime   string       `json:"mtime"`
	Commit  string       `json:"commit,omitempty" jsonschema:"where at was given; then mtime is its date"`
	Warning string       `json:"warning,omitempty"`
}

type readOut struct {
	readFacts
	Content string `json:"content"`
}

// Facts leaves the text out of the text half of format json.
func (o readOut) Facts() any { return o.readFacts }

// Prose is the note as it is, under one line that says which; or its outline.
func (o readOut) Prose() (header, text string) {
	lines, text := "", o.Content
	if o.Outline == nil {
		lines = o.Part.String("read_note", "read_note view=outline lists the headings for read_section")
	} else {
		lines = o.outlineHeader()
		text = outlineText(o.Outline)
	}
	header = fmt.Sprintf("%s · %s · %s", o.Path, o.ContentHash, lines)
	if o.Commit != "" {
		header += fmt.Sprintf(" · at %.10s", o.Commit)
	}
	if o.Warning != "" {
		header += " · " + o.Warning
	}
	return header, text
}

func readNote(repos tools.Repos) tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "read_note",
		Title:  "Read a note",
		Doc:    "Reads a note's text as it is, whole or some lines of it; a long one comes in parts. With view outline it lists the headings, each of which read_section reads alone.",
		Scope:  auth.Read,
		Narrow: "from_line and lines, or read_section for one heading",
		Long:   true,
	}, func(ctx context.Context, c *tools.Call, in readIn) (readOut, error) {
		if in.At != "" {
			return in.past(ctx, c, repos)
		}
		p, err := in.Path.Path()
		if err != nil {
			return readOut{}, err
		}
		content, err := readWhole(c, p)
		if err != nil {
			return readOut{}, err
		}
		return in.cut(c, p.String(), content)
	})
}

// past is the note as it was at a revision.
func (in readIn) past(ctx context.Context, c *tools.Call, repos tools.Repos) (readOut, error) {
	path, err := in.Path.Past(c)
	if err != nil {
		return readOut{}, err
	}
	content, commit, err := repos.FileAt(ctx, c, path, in.At, maxNote)
	if err != nil {
		return readOut{}, err
	}
	out, err := in.cut(c, path, vault.Content{Bytes: content, Size: int64(len(content)), ModTime: commit.Committer.When})
	out.Commit = string(commit.ID)
	return out, err
}

// readWhole reads a note, or refuses one that no tool reads.
func readWhole(c *tools.Call, p vault.Path) (vault.Content, error) {
	content, err := c.View.Read(p, maxNote)
	if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
		return content, governor.Overflow(int(big.Size), int(big.Max), c.Tool.Narrow)
	}
	return content, err
}

// cut makes the answer from a note's bytes.
func (in readIn) cut(c *tools.Call, path string, content vault.Content) (readOut, error) {
	b := content.Bytes
	out := readOut{readFacts: readFacts{
		Path: path, Encoding: "utf-8", ContentHash: fingerprint.OfContent(b).String(),
		Part: tools.Part{FromLine: 1}, Size: content.Size, MTime: tools.Clock(content.ModTime),
	}}
	if !vault.Text(b) {
		out.Encoding, out.Warning = "base64", "not UTF-8 text, so here are the file's bytes as base64; it cannot be edited"
		out.Content = base64.StdEncoding.EncodeToString(b)
		return out, nil
	}
	if in.View == viewOutline {
		err := in.outline(c, &out, b)
		return out, err
	}
	part, at, err := in.PartArg.Cut(c, b, false, func() []int { return startsOf(note.Scan(b)) })
	out.Part, out.Content = at, string(part)
	return out, err
}
