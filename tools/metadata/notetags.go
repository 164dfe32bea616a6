package metadata

import (
	"context"

	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

type noteTagsIn struct {
	tools.VaultArg
	tools.NoteArg
}

type noteTagsOut struct {
	Path        string          `json:"path"`
	Frontmatter []string        `json:"frontmatter" jsonschema:"tags of the property tags"`
	Inline      []string        `json:"inline" jsonschema:"tags of the text"`
	All         []string        `json:"all"`
	ContentHash string          `json:"content_hash"`
	Warnings    []tools.Warning `json:"warnings,omitempty"`
}

func getNoteTags() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "get_note_tags",
		Title: "Get a note's tags",
		Doc:   "Lists the tags of one note, from its properties and from its text.",
		Scope: auth.Read,
	}, func(_ context.Context, c *tools.Call, in noteTagsIn) (noteTagsOut, error) {
		path, b, err := text(c, in.Path)
		if err != nil {
			return noteTagsOut{}, err
		}
		out := noteTagsOut{
			Path: path, ContentHash: fingerprint.OfContent(b).String(),
			Frontmatter: []string{}, Inline: []string{}, All: []string{},
		}
		if !vault.Text(b) {
			out.Warnings = []tools.Warning{{Reason: vault.NotText}}
			return out, nil
		}
		if line, reason := facts.FlawOf(b); reason != "" {
			out.Warnings = []tools.Warning{{Line: line, Reason: reason}}
		}
		p := note.ParseProperties(b)
		var own, inline, all names
		for _, t := range p.Tags() {
			own.add(t.Name)
			all.add(t.Name)
		}
		for _, t := range note.Scan(b).Inline().Tags {
			inline.add(t.Name)
			all.add(t.Name)
		}
		out.Frontmatter = append(out.Frontmatter, own.list...)
		out.Inline = append(out.Inline, inline.list...)
		out.All = append(out.All, all.list...)
		return out, nil
	})
}

// names are names without regard to case, each as first seen.
type names struct {
	list []string
	seen map[string]bool
}

func (n *names) add(name string) {
	key := vault.FoldName(name)
	if n.seen[key] {
		return
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[key] = true
	n.list = append(n.list, name)
}
