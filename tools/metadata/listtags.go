package metadata

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// tagOrder is how tags are sorted.
type tagOrder string

// Values lists the orders for the schema.
func (tagOrder) Values() []string { return []string{"count", "name"} }

type listTagsIn struct {
	tools.VaultArg
	Folder tools.Folder `json:"folder,omitempty"`
	Prefix string       `json:"prefix,omitempty" jsonschema:"only tags that begin so" limits:"maxLength=200"`
	Nested bool         `json:"nested,omitempty" jsonschema:"count a/b for a too"`
	Sort   tagOrder     `json:"sort,omitempty" limits:"default=count"`
	Limit  int          `json:"limit,omitempty" limits:"min=1,max=1000,default=200"`
	tools.PageArg
}

type tagRow struct {
	Tag    string `json:"tag" jsonschema:"as first seen, without #"`
	Count  int    `json:"count" jsonschema:"notes that have it"`
	Places int    `json:"places" jsonschema:"how often it stands in them"`
}

type listTagsOut struct {
	NotesScanned int       `json:"notes_scanned"`
	Tags         []tagRow  `json:"tags"`
	Total        int       `json:"total" jsonschema:"tags on all pages together"`
	NextCursor   *string   `json:"next_cursor"`
	Excluded     int       `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings     []warning `json:"warnings,omitempty" jsonschema:"notes with problems, on the first page"`
}

func listTags() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "list_tags",
		Title:  "List tags",
		Doc:    "Lists the vault's tags with the number of notes that have each, most used first.",
		Scope:  auth.Read,
		Narrow: "a lower limit, a prefix, or one folder",
	}, func(ctx context.Context, c *tools.Call, in listTagsIn) (listTagsOut, error) {
		out := listTagsOut{Tags: []tagRow{}}
		s, err := newSurvey(c, in.Folder)
		if err != nil {
			return out, err
		}
		var after countPlace
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		counts := tagCounts{nested: in.Nested, spelled: map[string]*tagCount{}, folded: map[string]*tagCount{}}
		if err := s.run(ctx, func(*index.Model) {}, counts.add); err != nil {
			return out, err
		}
		all := counts.sorted(in)
		out.NotesScanned, out.Total, out.Excluded, out.Warnings = s.scanned, len(all), s.excluded, s.problems(paged)
		if paged {
			from, found := slices.BinarySearchFunc(all, after, func(t *tagCount, p countPlace) int { return in.Sort.compare(t.place(), p) })
			if found {
				from++
			}
			all = all[from:]
		}
		rows := make([]tagRow, 0, min(len(all), in.Limit+1))
		for _, t := range all[:min(len(all), in.Limit+1)] {
			rows = append(rows, tagRow{tools.Cut(t.name, longest), t.notes, t.places})
		}
		page, more, err := cut(c, rows, in.Limit, out.Warnings)
		if err != nil {
			return out, err
		}
		out.Tags = append(out.Tags, page...)
		if more {
			out.NextCursor, err = c.NextCursor(all[len(page)-1].place())
		}
		return out, err
	})
}

// compare orders by count, most first, then by name; or by name alone.
func (o tagOrder) compare(a, b countPlace) int {
	byName := strings.Compare(a.Key, b.Key)
	if o == "name" {
		return byName
	}
	return cmp.Or(cmp.Compare(b.Count, a.Count), byName)
}

// tagCount is one tag, whatever its case.
type tagCount struct {
	name, key     string // as first seen, and folded
	notes, places int
	note          int // the last that was counted
	parents       []*tagCount
}

func (t *tagCount) place() countPlace { return countPlace{t.notes, sortKey(t.key)} }

func (t *tagCount) count(note int) {
	t.places++
	if t.note != note {
		t.note = note
		t.notes++
	}
}

// tagCounts counts tags, and with nested those below each, note by note.
type tagCounts struct {
	nested          bool
	notes           int
	spelled, folded map[string]*tagCount
}

func (c *tagCounts) add(n index.Note) {
	c.notes++
	for t := range n.Facts.Tags() {
		tag := c.tag(t.Name)
		tag.count(c.notes)
		for _, parent := range tag.parents {
			parent.count(c.notes)
		}
	}
}

func (c *tagCounts) tag(name string) *tagCount {
	if t := c.spelled[name]; t != nil {
		return t
	}
	key := vault.FoldName(name)
	t := c.folded[key]
	if t == nil {
		t = &tagCount{name: name, key: key}
		c.folded[key] = t
		if up := parentOf(name); c.nested && up != "" {
			parent := c.tag(up)
			t.parents = append(append(t.parents, parent), parent.parents...)
		}
	}
	c.spelled[name] = t
	return t
}

// maxNesting is how many tags above it a tag is counted for.
const maxNesting = 32

// parentOf is the tag that a tag is nested in, or "".
func parentOf(name string) string {
	end := 0
	for i, depth := 0, 0; i < len(name) && depth < maxNesting; i++ {
		if name[i] == '/' {
			end = i
			depth++
		}
	}
	return strings.TrimRight(name[:end], "/")
}

func (c *tagCounts) sorted(in listTagsIn) []*tagCount {
	prefix := vault.FoldName(strings.TrimPrefix(in.Prefix, "#"))
	var all []*tagCount
	for key, t := range c.folded {
		if strings.HasPrefix(key, prefix) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *tagCount) int { return in.Sort.compare(a.place(), b.place()) })
	return all
}
