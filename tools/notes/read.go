package notes

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"vault-mcp/governor"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

type readIn struct {
	tools.VaultArg
	tools.NoteArg
	FromLine int    `json:"from_line,omitempty" jsonschema:"first line of a part, from 1" limits:"min=1"`
	Lines    int    `json:"lines,omitempty" jsonschema:"how many lines the part has; all to the end if left out" limits:"min=1"`
	At       string `json:"at,omitempty" jsonschema:"git revision: the note as it was then, also if it is gone" limits:"minLength=1,maxLength=256"`
	tools.FormatArg
}

// readFacts is what there is to say about a text beside the text.
type readFacts struct {
	Path        string `json:"path"`
	Encoding    string `json:"encoding" jsonschema:"utf-8, or base64 for a file that is no UTF-8 text"`
	ContentHash string `json:"content_hash" jsonschema:"SHA-256 of the whole file"`
	FromLine    int    `json:"from_line"`
	Lines       int    `json:"lines" jsonschema:"lines in content"`
	TotalLines  int    `json:"total_lines"`
	Size        int64  `json:"size"`
	MTime       string `json:"mtime"`
	Commit      string `json:"commit,omitempty" jsonschema:"where at was given; then mtime is its date"`
	Warning     string `json:"warning,omitempty"`
}

type readOut struct {
	readFacts
	Content string `json:"content"`
}

// Facts leaves the text out of the text half of format json.
func (o readOut) Facts() any { return o.readFacts }

// Prose is the note as it is, under one line that says which.
func (o readOut) Prose() (header, text string) {
	lines := fmt.Sprintf("%d lines", o.TotalLines)
	if o.Lines != o.TotalLines {
		lines = fmt.Sprintf("lines %d-%d of %d", o.FromLine, o.FromLine+o.Lines-1, o.TotalLines)
	}
	header = fmt.Sprintf("%s · %s · %s", o.Path, o.ContentHash, lines)
	if o.Commit != "" {
		header += fmt.Sprintf(" · at %.10s", o.Commit)
	}
	if o.Warning != "" {
		header += " · " + o.Warning
	}
	return header, o.Content
}

func readNote(repos tools.Repos) tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "read_note",
		Title:  "Read a note",
		Doc:    "Reads a note's text as it is, whole or some lines of it. For one heading of a long note use read_section.",
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
		part := in.FromLine > 1 || in.Lines > 0
		limit := int64(maxNote)
		if !part {
			limit = int64(c.Budget)
		}
		if p.Size() > limit {
			return readOut{}, governor.Overflow(int(p.Size()), int(limit), c.Tool.Narrow)
		}
		content, err := c.View.Read(p, limit)
		if err != nil {
			return readOut{}, tooLarge(err, c)
		}
		return in.cut(p.String(), content)
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
	out, err := in.cut(path, vault.Content{Bytes: content, Size: int64(len(content)), ModTime: commit.Committer.When})
	out.Commit = string(commit.ID)
	return out, err
}

// tooLarge turns a file that grew since it was looked at into the refusal that
// it would have met before.
func tooLarge(err error, c *tools.Call) error {
	if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
		return governor.Overflow(int(big.Size), int(big.Max), c.Tool.Narrow)
	}
	return err
}

// cut makes the answer from a note's bytes.
func (in readIn) cut(path string, content vault.Content) (readOut, error) {
	b := content.Bytes
	out := readOut{readFacts: readFacts{
		Path: path, Encoding: "utf-8", ContentHash: fingerprint.OfContent(b).String(),
		FromLine: 1, Size: content.Size, MTime: tools.Clock(content.ModTime),
	}}
	if !vault.Text(b) {
		out.Encoding, out.Warning = "base64", "not UTF-8 text, so here are the file's bytes as base64; it cannot be edited"
		out.Content = base64.StdEncoding.EncodeToString(b)
		return out, nil
	}
	out.TotalLines = note.CountLines(b)
	out.Lines = out.TotalLines
	if in.FromLine > 1 || in.Lines > 0 {
		from := max(in.FromLine, 1)
		if from > max(out.TotalLines, 1) {
			return out, fault.New(fault.InvalidInput, "The note has %d lines; line %d is not there.", out.TotalLines, from).
				With("argument", "from_line").With("total_lines", out.TotalLines)
		}
		b = lineRange(b, from, in.Lines)
		out.FromLine, out.Lines = from, note.CountLines(b)
	}
	out.Content = string(b)
	return out, nil
}

// lineRange is n lines from line number from on, their line ends included; all
// to the end for n = 0.
func lineRange(b []byte, from, n int) []byte {
	for ; from > 1; from-- {
		b = b[note.LineEnd(b):]
	}
	if n == 0 {
		return b
	}
	end := 0
	for ; n > 0 && end < len(b); n-- {
		end += note.LineEnd(b[end:])
	}
	return bytes.Clone(b[:end])
}
