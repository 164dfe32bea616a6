package metadata

import (
	"context"
	"slices"

	"vault-mcp/cache/index"
	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

type listPropertiesIn struct {
	tools.VaultArg
	Folder tools.Folder `json:"folder,omitempty"`
	Limit  int          `json:"limit,omitempty" limits:"min=1,max=1000,default=200"`
	tools.PageArg
}

type propertyRow struct {
	Key      string   `json:"key" jsonschema:"as first seen"`
	Count    int      `json:"count" jsonschema:"notes that have it"`
	Types    []string `json:"types" jsonschema:"of the values seen: string, number, boolean, date, datetime, list, object, null"`
	Type     string   `json:"type,omitempty" jsonschema:"the type that Obsidian has for it"`
	Examples []string `json:"examples" jsonschema:"up to three values, or items of lists, as text"`
}

type listPropertiesOut struct {
	census
	Properties []propertyRow `json:"properties"`
}

func listProperties() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "list_properties",
		Title:  "List properties",
		Doc:    "Lists the properties in use with the number of notes, types and examples of values, most used first.",
		Scope:  auth.Read,
		Narrow: "a lower limit, or one folder",
	}, func(ctx context.Context, c *tools.Call, in listPropertiesIn) (listPropertiesOut, error) {
		types := map[string]string{}
		for key, t := range c.View.PropertyTypes() {
			types[vault.FoldName(key)] = t
		}
		seen := &propertyCounts{spelled: map[string]*propertyCount{}, folded: map[string]*propertyCount{}}
		found, rows, err := count(ctx, many{c, &in.Folder, in.Cursor, in.Limit}, byCount, seen, func(p *propertyCount) propertyRow {
			r := p.row()
			r.Type = types[p.key]
			return r
		})
		return listPropertiesOut{found, rows}, err
	})
}

// propertyCount is one property, whatever the case of its key.
type propertyCount struct {
	name, key string // as first seen, and folded
	notes     int
	note      int         // the last that was counted
	types     [kinds]bool // by kind
	examples  []string
}

func (p *propertyCount) place() countPlace { return countPlace{p.notes, tools.SortKey(p.key)} }

const maxExamples = 3

func (p *propertyCount) value(v any) {
	p.types[kindOf(v)] = true
	if len(p.examples) == maxExamples {
		return
	}
	items := []any{v}
	if list, ok := v.([]any); ok {
		items = list
	}
	for _, item := range items {
		text, ok := scalarText(item)
		if text = tools.Cut(text, 60); ok && text != "" && len(p.examples) < maxExamples && !slices.Contains(p.examples, text) {
			p.examples = append(p.examples, text)
		}
	}
}

func (p *propertyCount) row() propertyRow {
	r := propertyRow{Key: tools.Cut(p.name, longest), Count: p.notes, Types: []string{}, Examples: append([]string{}, p.examples...)}
	for k, name := range kindNames {
		if p.types[k] {
			r.Types = append(r.Types, name)
		}
	}
	return r
}

// propertyCounts counts properties, note by note.
type propertyCounts struct {
	notes           int
	spelled, folded map[string]*propertyCount
}

func (c *propertyCounts) add(n index.Note) {
	c.notes++
	for prop := range n.Facts.Properties() {
		p := c.property(prop)
		p.value(prop.Value)
		if p.note != c.notes {
			p.note = c.notes
			p.notes++
		}
	}
}

func (c *propertyCounts) property(prop facts.Property) *propertyCount {
	if p := c.spelled[prop.Key]; p != nil {
		return p
	}
	key := vault.FoldName(prop.Key)
	p := c.folded[key]
	if p == nil {
		p = &propertyCount{name: prop.Key, key: key}
		c.folded[key] = p
	}
	c.spelled[prop.Key] = p
	return p
}

func (c *propertyCounts) all() []*propertyCount {
	all := make([]*propertyCount, 0, len(c.folded))
	for _, p := range c.folded {
		all = append(all, p)
	}
	return all
}
