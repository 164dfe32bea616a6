package metadata

import (
	"context"
	"encoding/json"
	"slices"

	"vault-mcp/cache/index"
	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

// verbosity says whether values come back.
type verbosity string

// Values lists them for the schema.
func (verbosity) Values() []string { return []string{"full", "terse"} }

type findPropertyIn struct {
	tools.VaultArg
	Key       string       `json:"key" limits:"minLength=1,maxLength=1000"`
	Value     any          `json:"value,omitempty" jsonschema:"text, number, true or false; dates as YYYY-MM-DD"`
	Op        operator     `json:"op,omitempty" jsonschema:"equals with a value, else exists; a list fits if an item does"`
	Nested    bool         `json:"nested,omitempty" jsonschema:"the key is a dotted path"`
	Folder    tools.Folder `json:"folder,omitempty"`
	Verbosity verbosity    `json:"verbosity,omitempty" jsonschema:"terse: without values" limits:"default=full"`
	Limit     int          `json:"limit,omitempty" limits:"min=1,max=1000,default=200"`
	tools.PageArg
}

type foundRow struct {
	Path  string `json:"path"`
	Value any    `json:"value,omitempty" jsonschema:"as in the note"`
	Cut   bool   `json:"cut,omitempty" jsonschema:"the value is the beginning of a longer one, as text"`
}

type findPropertyOut struct {
	Key        string     `json:"key"`
	Total      int        `json:"total" jsonschema:"notes on all pages together"`
	Truncated  bool       `json:"truncated"`
	Matches    []foundRow `json:"matches" jsonschema:"by path"`
	NextCursor *string    `json:"next_cursor"`
	Excluded   int        `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings   []warning  `json:"warnings,omitempty" jsonschema:"notes with problems, on the first page"`
}

func findNotesByProperty() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "find_notes_by_property",
		Title:  "Find notes by property",
		Doc:    "Lists the notes with a property, or whose value of it fits. Case does not count; numbers and dates are compared as such.",
		Scope:  auth.Read,
		Narrow: "a lower limit, verbosity terse, or one folder",
	}, func(ctx context.Context, c *tools.Call, in findPropertyIn) (findPropertyOut, error) {
		out := findPropertyOut{Key: in.Key, Matches: []foundRow{}}
		cond, err := newCondition(in.Op, in.Value)
		if err != nil {
			return out, err
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
		f := propertyFinder{key: in.Key, nested: in.Nested, cond: cond}
		var rows []foundRow
		err = s.run(ctx, f.begin, func(n index.Note) {
			v, has, ok := f.find(n)
			if !ok {
				return
			}
			out.Total++
			if n.Path > after.Path && len(rows) <= in.Limit {
				r := foundRow{Path: n.Path}
				if has && in.Verbosity != "terse" {
					r.show(v)
				}
				rows = append(rows, r)
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

// longestValue is how many bytes of a value a row shows.
const longestValue = 1000

func (r *foundRow) show(v any) {
	b := appendValue(nil, v)
	if r.Value = json.RawMessage(b); len(b) > longestValue {
		r.Value, r.Cut = tools.Cut(string(b), longestValue), true
	}
}

// propertyFinder finds one property in notes.
type propertyFinder struct {
	key    string
	nested bool
	cond   condition
	with   []uint32 // notes that have the key, if it is not a path
}

func (f *propertyFinder) begin(m *index.Model) {
	if !f.nested {
		f.with = m.WithProperty(f.key)
	}
}

// find is the value that a note has, and whether the note fits. Of a note whose
// properties are invalid nobody knows what is missing.
func (f *propertyFinder) find(n index.Note) (v any, has, fits bool) {
	if v, has = f.value(n); has {
		return v, true, f.cond.holds(v)
	}
	return nil, false, f.cond.op == opMissing && n.Facts.Head().State != note.StateInvalid
}

func (f *propertyFinder) value(n index.Note) (any, bool) {
	if f.nested {
		var all facts.Map
		for p := range n.Facts.Properties() {
			all = append(all, facts.Member{Key: p.Key, Value: p.Value})
		}
		return lookup(all, f.key)
	}
	if _, ok := slices.BinarySearch(f.with, n.ID); !ok {
		return nil, false
	}
	var found any
	has := false
	folded := vault.FoldName(f.key)
	for p := range n.Facts.Properties() {
		if p.Key == f.key {
			return p.Value, true
		}
		if !has && vault.FoldName(p.Key) == folded {
			found, has = p.Value, true
		}
	}
	return found, has
}
