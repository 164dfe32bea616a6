package metadata

import (
	"context"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

type listTagsIn struct {
	tools.VaultArg
	Folder tools.Folder `json:"folder,omitempty"`
	Prefix string       `json:"prefix,omitempty" jsonschema:"only tags that begin so" limits:"maxLength=200"`
	Nested bool         `json:"nested,omitempty" jsonschema:"count a/b for a too"`
	Sort   order        `json:"sort,omitempty" limits:"default=count"`
	Limit  int          `json:"limit,omitempty" limits:"min=1,max=1000,default=200"`
	tools.PageArg
}

type tagRow struct {
	Tag    string `json:"tag" jsonschema:"as first seen, without #"`
	Count  int    `json:"count" jsonschema:"notes that have it"`
	Places int    `json:"places" jsonschema:"how often it stands in them"`
}

type listTagsOut struct {
	census
	Tags []tagRow `json:"tags"`
}

func listTags() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "list_tags",
		Title:  "List tags",
		Doc:    "Lists the vault's tags with the number of notes that have each, most used first.",
		Scope:  auth.Read,
		Narrow: "a lower limit, a prefix, or one folder",
	}, func(ctx context.Context, c *tools.Call, in listTagsIn) (listTagsOut, error) {
		seen := &tagCounts{
			nested: in.Nested, prefix: vault.FoldName(strings.TrimPrefix(in.Prefix, "#")),
			spelled: map[string]*tagCount{}, folded: map[string]*tagCount{},
		}
		found, rows, err := count(ctx, many{c, &in.Folder, in.Cursor, in.Limit}, in.Sort, seen, func(t *tagCount) tagRow {
			return tagRow{tools.Cut(t.name, longest), t.notes, t.places}
		})
		return listTagsOut{found, rows}, err
	})
}

// tagCount is one tag, whatever its case.
type tagCount struct {
	name, key     string // as first seen, and folded
	notes, places int
	note          int // the last that was counted
	parents       []*tagCount
}

func (t *tagCount) place() countPlace { return countPlace{t.notes, tools.SortKey(t.key)} }

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
	prefix          string // folded, of the tags that are listed
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

func (c *tagCounts) all() []*tagCount {
	var all []*tagCount
	for key, t := range c.folded {
		if strings.HasPrefix(key, c.prefix) {
			all = append(all, t)
		}
	}
	return all
}
