package notes

import (
	"context"
	"fmt"
	"strings"

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
	Path        string      `json:"path"`
	Section     string      `json:"section" jsonschema:"title of the heading, or ^ and the block id"`
	ContentHash string      `json:"content_hash" jsonschema:"SHA-256 of the whole note"`
	FromLine    int         `json:"from_line"`
	Lines       int         `json:"lines"`
	TotalLines  int         `json:"total_lines" jsonschema:"of the note"`
	Rest        *tools.Rest `json:"rest,omitempty" jsonschema:"what the soft budget left out: read_note gives it with from_line and lines"`
}

type sectionOut struct {
	sectionFacts
	Content string `json:"content"`
}

// Facts leaves the text out of the text half of format json.
func (o sectionOut) Facts() any { return o.sectionFacts }

// Prose is the section as it is, under one line that says which.
func (o sectionOut) Prose() (header, text string) {
	lines := tools.Part{FromLine: o.FromLine, Lines: o.Lines, TotalLines: o.TotalLines, Rest: o.Rest}
	return fmt.Sprintf("%s#%s · %s · %s", o.Path, o.Section, o.ContentHash, lines.String("read_note", "headings further down are shorter")), o.Content
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
		content, err := readWhole(c, p)
		if err != nil {
			return sectionOut{}, err
		}
		if !vault.Text(content.Bytes) {
			return sectionOut{}, fault.New(fault.InvalidInput, "%q is no UTF-8 text, so it has no sections; read_note gives its bytes.", p.String()).With("argument", "path")
		}
		n := note.Scan(content.Bytes)
		name, span, err := in.find(content.Bytes, n)
		if err != nil {
			return sectionOut{}, err
		}
		first := n.Pos(span.Start).Line
		lines := tools.PartArg{FromLine: first, Lines: note.CountLines(span.Of(content.Bytes))}
		text, part, err := lines.Cut(c, content.Bytes, false, func() []int { return startsOf(n) })
		if err != nil {
			return sectionOut{}, err
		}
		return sectionOut{sectionFacts{
			Path: p.String(), Section: name, ContentHash: fingerprint.OfContent(content.Bytes).String(),
			FromLine: first, Lines: part.Lines, TotalLines: part.TotalLines, Rest: part.Rest,
		}, string(text)}, nil
	})
}

// find is the part of the note that the arguments name, and its name.
func (in sectionIn) find(text []byte, n *note.Note) (string, note.Span, error) {
	switch {
	case in.Block != "" && len(in.Heading) > 0:
		return "", note.Span{}, fault.New(fault.InvalidInput, "Give either a heading or a block, not both.").With("argument", "block")
	case in.Block != "":
		return in.findBlock(n)
	case len(in.Heading) == 0 && in.Line == 0:
		return "", note.Span{}, fault.New(fault.InvalidInput, "Name a heading or a block; details list the headings.").
			With("argument", "heading").With("headings", headings(text, n.Headings))
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
			With("argument", "heading").With("headings", headings(text, n.Headings))
	}
	return "", note.Span{}, fault.New(fault.InvalidInput, "%d headings have that title; name the ones above it too, or its line.", len(found)).
		With("argument", "heading").With("candidates", headings(text, found))
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
