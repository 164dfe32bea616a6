package notes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

// operation is what patch_note does.
type operation string

// Values implements tools' enums.
func (operation) Values() []string { return []string{"append", "prepend", "replace"} }

// part is a part of a note that has no name of its own.
type part string

// Values implements tools' enums.
func (part) Values() []string { return []string{"preamble", "document"} }

type patchIn struct {
	tools.VaultArg
	tools.TargetArg
	Operation operation `json:"operation"`
	Heading   []string  `json:"target_heading,omitempty" jsonschema:"title of the section, or the titles that lead to it, outermost first" limits:"maxItems=10"`
	Line      int       `json:"line,omitempty" jsonschema:"line of the heading, where the same title is there twice" limits:"min=1"`
	Block     string    `json:"block,omitempty" jsonschema:"block id, instead of a heading" limits:"maxLength=200"`
	Part      part      `json:"part,omitempty" jsonschema:"instead of both: preamble is what stands above the first heading, document everything below the properties"`
	Content   string    `json:"content" limits:"maxLength=16000000"`
	Create    bool      `json:"create_heading,omitempty" jsonschema:"make a missing heading"`
	tools.VersionArg
	tools.WriteArg
}

type patchOut struct {
	Path         string `json:"path"`
	Operation    string `json:"operation"`
	LinesRemoved int    `json:"lines_removed"`
	BytesRemoved int    `json:"bytes_removed"`
	tools.Versions
	tools.Written
}

func patchNote() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "patch_note",
		Title: "Change a part of a note",
		Doc:   "Adds text to one section or block of a note, or replaces what is in it. All else stays as it is, byte for byte.",
		Scope: auth.Read | auth.Write,
	}, func(ctx context.Context, c *tools.Call, in patchIn) (change.Plan, patchOut, error) {
		out := patchOut{Operation: string(in.Operation)}
		t, err := in.Path.Target()
		if err != nil {
			return change.Plan{}, out, err
		}
		patch, what, err := patchOf(in)
		if err != nil {
			return change.Plan{}, out, err
		}
		p, e, err := c.Edit(ctx, t, in.PrevHash, fmt.Sprintf("%s %s of %s", doing[in.Operation], what, t.Path), func(text []byte) ([]byte, error) {
			edited, err := patch.Apply(text)
			if err != nil {
				return nil, patchFault(err)
			}
			gone := edited.Removed.Of(text)
			out.LinesRemoved, out.BytesRemoved = note.CountLines(gone), len(gone)
			return edited.Text, nil
		})
		out.Path, out.Versions = t.Path, tools.VersionsOf(e)
		return p, out, err
	})
}

var doing = map[operation]string{"append": "Add to", "prepend": "Add at the start of", "replace": "Replace"}

// patchOf is the patch that the arguments mean, and its target in words.
func patchOf(in patchIn) (p note.Patch, what string, err error) {
	p = note.Patch{
		Mode:    map[operation]note.PatchMode{"append": note.PatchAppend, "prepend": note.PatchPrepend, "replace": note.PatchReplace}[in.Operation],
		Content: in.Content, CreateHeading: in.Create,
	}
	named := 0
	if len(in.Heading) > 0 {
		named++
		p.Target = note.Target{Kind: note.TargetHeading, Heading: in.Heading, Line: in.Line}
		what = fmt.Sprintf("the section %q", tools.Cut(strings.Join(in.Heading, " > "), 100))
	}
	if in.Block != "" {
		named++
		p.Target = note.Target{Kind: note.TargetBlock, Block: in.Block, Line: in.Line}
		what = fmt.Sprintf("the block %q", tools.Cut(in.Block, 100))
	}
	switch in.Part {
	case "preamble":
		named++
		p.Target, what = note.Target{Kind: note.TargetPreamble}, "the preamble"
	case "document":
		named++
		p.Target, what = note.Target{Kind: note.TargetDocument}, "the body"
	}
	if named != 1 {
		return p, "", fault.New(fault.InvalidInput, "Name one of target_heading, block and part.").With("argument", "target_heading")
	}
	return p, what, nil
}

// maxListed bounds the headings and blocks that an error lists.
const maxListed = 100

// patchFault is what a caller is told about an error of note.Patch.
func patchFault(err error) error {
	if missing, ok := errors.AsType[*note.NoTargetError](err); ok {
		headings, blocks := []string{}, []string{}
		for _, h := range missing.Headings[:min(len(missing.Headings), maxListed)] {
			headings = append(headings, strings.Join(h.Path, " > "))
		}
		for _, b := range missing.Blocks[:min(len(missing.Blocks), maxListed)] {
			blocks = append(blocks, b.ID)
		}
		what := "heading"
		if strings.HasPrefix(missing.Target, "^") {
			what = "block"
		}
		return fault.New(fault.NotFound, "The note has no %s %q.", what, tools.Cut(missing.Target, 200)).
			With("headings", headings).With("blocks", blocks)
	}
	if twice, ok := errors.AsType[*note.AmbiguousError](err); ok {
		instead := "line says which"
		if len(twice.Lines) == 1 {
			instead = "leave line out or say that one"
		}
		return fault.New(fault.InvalidInput, "%s; %s.", twice, instead).With("argument", "line").With("lines", twice.Lines[:min(len(twice.Lines), maxListed)])
	}
	return fault.New(fault.InvalidInput, "The note stays as it is: %s.", err)
}
