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

type findPropertyIn struct {
	tools.VaultArg
	Key       string          `json:"key" limits:"minLength=1,maxLength=1000"`
	Value     any             `json:"value,omitempty" jsonschema:"text, number, true or false; dates as YYYY-MM-DD"`
	Op        operator        `json:"op,omitempty" jsonschema:"equals with a value, else exists; a list fits if an item does"`
	Nested    bool            `json:"nested,omitempty" jsonschema:"the key is a dotted path"`
	Folder    tools.Folder    `json:"folder,omitempty"`
	Verbosity tools.Verbosity `json:"verbosity,omitempty" jsonschema:"terse: without values" limits:"default=full"`
	Limit     int             `json:"limit,omitempty" limits:"min=1,max=1000,default=200"`
	tools.PageArg
}

type foundRow struct {
	Path  string `json:"path"`
	Value any    `json:"value,omitempty" jsonschema:"as in the note"`
	Cut   bool   `json:"cut,omitempty" jsonschema:"the value is the beginning of a longer one, as text"`
}

type findPropertyOut struct {
	Key string `json:"key"`
	matches[foundRow]
}

func findNotesByProperty() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "find_notes_by_property",
		Title:  "Find notes by property",
		Doc:    "Lists the notes with a property, or whose value of it fits. Case does not count; numbers and dates are compared as such.",
		Scope:  auth.Read,
		Narrow: "a lower limit, verbosity terse, or one folder",
	}, func(ctx context.Context, c *tools.Call, in findPropertyIn) (findPropertyOut, error) {
		cond, err := newCondition(in.Op, in.Value)
		if err != nil {
			return findPropertyOut{}, err
		}
		f := propertyFinder{key: in.Key, nested: in.Nested, cond: cond}
		found, err := find(ctx, many{c, &in.Folder, in.Cursor, in.Limit}, f.begin, f.fits, func(n index.Note) foundRow {
			r := foundRow{Path: n.Path}
			if in.Verbosity == tools.Terse {
				return r
			}
			if v, has := f.value(n); has {
				r.show(v)
			}
			return r
		})
		return findPropertyOut{in.Key, found}, err
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

// fits judges a note. Of one whose properties are invalid nobody knows what is
// missing.
func (f *propertyFinder) fits(n index.Note) bool {
	if v, has := f.value(n); has {
		return f.cond.holds(v)
	}
	return f.cond.op == opMissing && n.Facts.Head().State != note.StateInvalid
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
