package metadata

import (
	"context"
	"slices"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

type findTagIn struct {
	tools.VaultArg
	Tag    string       `json:"tag" jsonschema:"with or without #" limits:"minLength=1,maxLength=500"`
	Nested bool         `json:"nested,omitempty" jsonschema:"a finds a/b too" limits:"default=true"`
	Folder tools.Folder `json:"folder,omitempty"`
	Limit  int          `json:"limit,omitempty" limits:"min=1,max=1000,default=200"`
	tools.PageArg
}

type taggedRow struct {
	Path string   `json:"path"`
	Tags []string `json:"tags" jsonschema:"those that match, as the note spells them"`
	More int      `json:"more_tags,omitempty" jsonschema:"how many others match"`
}

type findTagOut struct {
	Tag string `json:"tag"`
	matches[taggedRow]
}

// maxTags is how many tags of one note a row shows.
const maxTags = 20

func findNotesByTag() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "find_notes_by_tag",
		Title:  "Find notes by tag",
		Doc:    "Lists the notes that have a tag, in properties or text, whatever its case.",
		Scope:  auth.Read,
		Narrow: "a lower limit, or one folder",
	}, func(ctx context.Context, c *tools.Call, in findTagIn) (findTagOut, error) {
		w := tagWanted{vault.FoldName(strings.Trim(strings.TrimPrefix(strings.TrimSpace(in.Tag), "#"), "/")), in.Nested}
		if w.key == "" {
			return findTagOut{}, fault.New(fault.InvalidInput, "The argument %q holds no tag.", "tag").With("argument", "tag")
		}
		var ids []uint32
		begin := func(m *index.Model) { ids = m.Tagged(w.key, w.nested) }
		found, err := find(ctx, many{c, &in.Folder, in.Cursor, in.Limit}, begin, func(n index.Note) bool {
			_, ok := slices.BinarySearch(ids, n.ID)
			return ok
		}, w.row)
		return findTagOut{in.Tag, found}, err
	})
}

// tagWanted is the tag that is looked for, folded.
type tagWanted struct {
	key    string
	nested bool
}

func (w tagWanted) row(n index.Note) taggedRow {
	var match names
	for t := range n.Facts.Tags() {
		below, ok := strings.CutPrefix(vault.FoldName(t.Name), w.key)
		if ok && (below == "" || w.nested && below[0] == '/') {
			match.add(t.Name)
		}
	}
	r := taggedRow{Path: n.Path, Tags: []string{}}
	for i, name := range match.list {
		if i == maxTags {
			r.More = len(match.list) - maxTags
			break
		}
		r.Tags = append(r.Tags, tools.Cut(name, longest))
	}
	return r
}
