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
	Tag        string      `json:"tag"`
	Total      int         `json:"total" jsonschema:"notes on all pages together"`
	Truncated  bool        `json:"truncated"`
	Matches    []taggedRow `json:"matches" jsonschema:"by path"`
	NextCursor *string     `json:"next_cursor"`
	Excluded   int         `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings   []warning   `json:"warnings,omitempty" jsonschema:"notes with problems, on the first page"`
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
		out := findTagOut{Tag: in.Tag, Matches: []taggedRow{}}
		w := tagWanted{vault.FoldName(strings.Trim(strings.TrimPrefix(strings.TrimSpace(in.Tag), "#"), "/")), in.Nested}
		if w.key == "" {
			return out, fault.New(fault.InvalidInput, "The argument %q holds no tag.", "tag").With("argument", "tag")
		}
		s, err := newSurvey(c, in.Folder)
		if err != nil {
			return out, err
		}
		var after pathPlace
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		var ids []uint32
		var rows []taggedRow
		err = s.run(ctx, func(m *index.Model) { ids = m.Tagged(w.key, w.nested) }, func(n index.Note) {
			if _, ok := slices.BinarySearch(ids, n.ID); !ok {
				return
			}
			out.Total++
			if n.Path > after.Path && len(rows) <= in.Limit {
				rows = append(rows, w.row(n))
			}
		})
		if err != nil {
			return out, err
		}
		out.Excluded, out.Warnings = s.excluded, s.problems(paged)
		page, more, err := cut(c, rows, in.Limit, out.Warnings)
		if err != nil {
			return out, err
		}
		out.Matches, out.Truncated = append(out.Matches, page...), more
		if more {
			out.NextCursor, err = c.NextCursor(pathPlace{page[len(page)-1].Path})
		}
		return out, err
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
