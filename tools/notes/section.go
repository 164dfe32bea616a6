package notes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"vault-mcp/governor"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

type sectionIn struct {
	tools.VaultArg
	tools.NoteArg
	Heading []string `json:"heading,omitempty" jsonschema:"title of the section, or the titles that lead to it, outermost first" limits:"maxItems=6,maxLength=1000"`
	Line    int      `json:"line,omitempty" jsonschema:"line of the heading, where the same title is there twice" limits:"min=1"`
	Block   string   `json:"block,omitempty" jsonschema:"block id, instead of a heading" limits:"maxLength=200"`
	tools.FormatArg
}

// sectionFacts is what there is to say about a section beside its text.
type sectionFacts struct {
	Path        string `json:"path"`
	Section     string `json:"section" jsonschema:"title of the heading, or ^ and the block id"`
	ContentHash string `json:"content_hash" jsonschema:"SHA-256 of the whole note"`
	FromLine    int    `json:"from_line"`
	Lines       int    `json:"lines"`
	TotalLines  int    `json:"total_lines"`
}

type sectionOut struct {
	sectionFacts
	Content string `json:"content"`
}

// Facts leaves the text out of the text half of format json.
func (o sectionOut) Facts() any { return o.sectionFacts }

// Prose is the section as it is, under one line that says which.
func (o sectionOut) Prose() (header, text string) {
	return fmt.Sprintf("%s#%s · %s · lines %d-%d of %d", o.Path, o.Section, o.ContentHash,
		o.FromLine, o.FromLine+o.Lines-1, o.TotalLines), o.Content
}

func readSection() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "read_section",
		Title:  "Read a section",
		Doc:    "Reads one heading of a note with what is below it, or one block by its id. A wrong name is answered with the note's headings.",
		Scope:  auth.Read,
		Narrow: "a heading further down",
		Long:   true,
	}, func(_ context.Context, c *tools.Call, in sectionIn) (sectionOut, error) {
		p, err := in.Path.Path()
		if err != nil {
			return sectionOut{}, err
		}
		content, err := c.View.Read(p, maxNote)
		if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
			return sectionOut{}, governor.Overflow(int(big.Size), int(big.Max), c.Tool.Narrow)
		}
		if err != nil {
			return sectionOut{}, err
		}
		if !vault.Text(content.Bytes) {
			return sectionOut{}, fault.New(fault.InvalidInput, "%q is no UTF-8 text, so it has no sections; read_note gives its bytes.", p.String()).With("argument", "path")
		}
		n := note.Scan(content.Bytes)
		name, span, err := in.find(n)
		if err != nil {
			return sectionOut{}, err
		}
		text := string(span.Of(content.Bytes))
		return sectionOut{sectionFacts{
			Path: p.String(), Section: name, ContentHash: fingerprint.OfContent(content.Bytes).String(),
			FromLine: n.Pos(span.Start).Line, Lines: note.CountLines([]byte(text)), TotalLines: note.CountLines(content.Bytes),
		}, text}, nil
	})
}

// find is the part of the note that the arguments name, and its name.
func (in sectionIn) find(n *note.Note) (string, note.Span, error) {
	switch {
	case in.Block != "" && len(in.Heading) > 0:
		return "", note.Span{}, fault.New(fault.InvalidInput, "Give either a heading or a block, not both.").With("argument", "block")
	case in.Block != "":
		return in.findBlock(n)
	case len(in.Heading) == 0 && in.Line == 0:
		return "", note.Span{}, fault.New(fault.InvalidInput, "Name a heading or a block; details list the headings.").
			With("argument", "heading").With("headings", outline(n.Headings))
	}
	found := n.Headings
	if len(in.Heading) > 0 {
		if found = n.FindSection(in.Heading); found == nil {
			// As in a link: A#B is B below A.
			found = n.FindSection(strings.Split(strings.Join(in.Heading, "#"), "#"))
		}
	}
	if in.Line > 0 {
		found = at(found, in.Line)
	}
	switch len(found) {
	case 1:
		return found[0].Text, found[0].Section, nil
	case 0:
		return "", note.Span{}, fault.New(fault.NotFound, "The note has no heading %.200q.", strings.Join(in.Heading, " > ")).
			With("argument", "heading").With("headings", outline(n.Headings))
	}
	return "", note.Span{}, fault.New(fault.InvalidInput, "%d headings have that title; name the ones above it too, or its line.", len(found)).
		With("argument", "heading").With("candidates", outline(found))
}

func (in sectionIn) findBlock(n *note.Note) (string, note.Span, error) {
	found := n.FindBlock(in.Block)
	switch len(found) {
	case 1:
		return "^" + found[0].ID, found[0].Span, nil
	case 0:
		ids := []string{}
		for _, b := range n.Blocks[:min(len(n.Blocks), maxOutline)] {
			ids = append(ids, tools.Cut(b.ID, maxTitle))
		}
		return "", note.Span{}, fault.New(fault.NotFound, "The note has no block %.200q.", in.Block).With("argument", "block").With("blocks", ids)
	}
	lines := []int{}
	for _, b := range found {
		lines = append(lines, b.Line)
	}
	return "", note.Span{}, fault.New(fault.InvalidInput, "%d blocks have the id %.200q; read their lines with read_note.", len(found), in.Block).
		With("argument", "block").With("lines", lines)
}

func at(hs []note.Heading, line int) []note.Heading {
	for i := range hs {
		if hs[i].Line == line {
			return hs[i : i+1]
		}
	}
	return nil
}

// maxOutline bounds the headings that a refusal lists, maxTitle each of their
// titles, in bytes.
const (
	maxOutline = 60
	maxTitle   = 100
)

type outlineRow struct {
	Line  int    `json:"line"`
	Level int    `json:"level"`
	Title string `json:"title"`
	Lines int    `json:"lines"`
	Bytes int    `json:"bytes"`
}

func outline(hs []note.Heading) []outlineRow {
	rows := []outlineRow{}
	for _, h := range hs[:min(len(hs), maxOutline)] {
		rows = append(rows, outlineRow{h.Line, h.Level, tools.Cut(h.Text, maxTitle), h.SectionLines, h.Section.Len()})
	}
	return rows
}
