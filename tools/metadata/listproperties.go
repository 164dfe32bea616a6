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
	NotesScanned int           `json:"notes_scanned"`
	Properties   []propertyRow `json:"properties"`
	Total        int           `json:"total" jsonschema:"properties on all pages together"`
	NextCursor   *string       `json:"next_cursor"`
	Excluded     int           `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings     []warning     `json:"warnings,omitempty" jsonschema:"notes with problems, on the first page"`
}

func listProperties() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "list_properties",
		Title:  "List properties",
		Doc:    "Lists the properties in use with the number of notes, types and examples of values, most used first.",
		Scope:  auth.Read,
		Narrow: "a lower limit, or one folder",
	}, func(ctx context.Context, c *tools.Call, in listPropertiesIn) (listPropertiesOut, error) {
		out := listPropertiesOut{Properties: []propertyRow{}}
		s, err := newSurvey(c, in.Folder)
		if err != nil {
			return out, err
		}
		var after countPlace
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		seen := propertyCounts{spelled: map[string]*propertyCount{}, folded: map[string]*propertyCount{}}
		if err := s.run(ctx, func(*index.Model) {}, seen.add); err != nil {
			return out, err
		}
		all := seen.sorted()
		out.NotesScanned, out.Total, out.Excluded, out.Warnings = s.scanned, len(all), s.excluded, s.problems(paged)
		if paged {
			from, found := slices.BinarySearchFunc(all, after, func(p *propertyCount, at countPlace) int { return byCount.compare(p.place(), at) })
			if found {
				from++
			}
			all = all[from:]
		}
		types := map[string]string{}
		for key, t := range c.View.PropertyTypes() {
			types[vault.FoldName(key)] = t
		}
		rows := make([]propertyRow, 0, min(len(all), in.Limit+1))
		for _, p := range all[:min(len(all), in.Limit+1)] {
			r := p.row()
			r.Type = types[p.key]
			rows = append(rows, r)
		}
		page, more, err := cut(c, rows, in.Limit, out.Warnings)
		if err != nil {
			return out, err
		}
		out.Properties = append(out.Properties, page...)
		if more {
			out.NextCursor, err = c.NextCursor(all[len(page)-1].place())
		}
		return out, err
	})
}

const byCount tagOrder = "count"

// propertyCount is one property, whatever the case of its key.
type propertyCount struct {
	name, key string // as first seen, and folded
	notes     int
	note      int         // the last that was counted
	types     [kinds]bool // by kind
	examples  []string
}

func (p *propertyCount) place() countPlace { return countPlace{p.notes, sortKey(p.key)} }

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

func (c *propertyCounts) sorted() []*propertyCount {
	all := make([]*propertyCount, 0, len(c.folded))
	for _, p := range c.folded {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *propertyCount) int { return byCount.compare(a.place(), b.place()) })
	return all
}
