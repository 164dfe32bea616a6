package links

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

// missing is what a link does not find. To the app only the first is an
// unresolved link; the others lead to the beginning of a note.
type missing string

const (
	missingNote    missing = "note"
	missingHeading missing = "heading"
	missingBlock   missing = "block"
)

// Values lists them for the schema.
func (missing) Values() []string {
	return []string{string(missingNote), string(missingHeading), string(missingBlock)}
}

// grouping says what the rows are.
type grouping string

// Values lists the groupings for the schema.
func (grouping) Values() []string { return []string{"link", "target"} }

type unresolvedIn struct {
	tools.VaultArg
	Folder  tools.Folder `json:"folder,omitempty" jsonschema:"only links in notes below it"`
	Missing []missing    `json:"missing,omitempty" jsonschema:"only what lacks these; note is any file" limits:"maxItems=3"`
	Group   grouping     `json:"group,omitempty" jsonschema:"target: a row for each thing that is missing, most wanted first" limits:"default=link"`
	Limit   int          `json:"limit,omitempty" limits:"min=1,max=5000,default=200"`
	tools.PageArg
}

type unresolvedRow struct {
	Source   string   `json:"source_path"`
	Target   string   `json:"target"`
	Missing  missing  `json:"missing"`
	Line     int      `json:"line"`
	Col      int      `json:"col"`
	Kind     string   `json:"kind"`
	Property string   `json:"property,omitempty"`
	AliasOf  []string `json:"alias_of,omitempty" jsonschema:"notes with that alias, which no link follows"`

	at  place
	key string // the same for all links that lack the same thing, if they are grouped
}

// targetRow is one thing that is missing, however it is spelled.
type targetRow struct {
	Target  string   `json:"target" jsonschema:"as first seen"`
	Missing missing  `json:"missing"`
	Links   int      `json:"links"`
	Sources []string `json:"sources" jsonschema:"the first files with such links"`
	AliasOf []string `json:"alias_of,omitempty"`

	key string
}

type missingCounts struct {
	Note    int `json:"note"`
	Heading int `json:"heading"`
	Block   int `json:"block"`
}

type unresolvedOut struct {
	Total      int             `json:"total" jsonschema:"rows on all pages together"`
	Counts     missingCounts   `json:"counts" jsonschema:"links by what they lack"`
	Unresolved []unresolvedRow `json:"unresolved"`
	Targets    []targetRow     `json:"targets,omitempty" jsonschema:"instead, with group target"`
	NextCursor *string         `json:"next_cursor"`
	Excluded   int             `json:"excluded,omitempty" jsonschema:"files left out because Obsidian's settings exclude them"`
	Warnings   []tools.Warning `json:"warnings,omitempty"`
}

func findUnresolved() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "find_unresolved_links",
		Title:  "Find unresolved links",
		Doc:    "Lists the links that lead to no file, or to no such heading or block in it, by the note that holds them.",
		Scope:  auth.Read,
		Narrow: "a lower limit or one folder",
	}, func(ctx context.Context, c *tools.Call, in unresolvedIn) (unresolvedOut, error) {
		out := unresolvedOut{Unresolved: []unresolvedRow{}}
		folder, err := in.Folder.Path()
		if err != nil {
			return out, err
		}
		var after unresolvedPlace
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		s := unresolved{call: c, folder: folder.String(), grouped: in.Group == "target", warnings: c.NewWarnings(paged)}
		if err := s.run(ctx); err != nil {
			return out, err
		}
		for i := range s.rows {
			out.Counts.add(s.rows[i].Missing)
		}
		if len(in.Missing) > 0 {
			s.rows = slices.DeleteFunc(s.rows, func(r unresolvedRow) bool { return !slices.Contains(in.Missing, r.Missing) })
		}
		out.Excluded, out.Warnings = s.excluded, s.warnings.List()
		var next *unresolvedPlace
		if s.grouped {
			next, err = out.listTargets(c, s.targets(), in.Limit, paged, after)
		} else {
			next, err = out.listLinks(c, s.rows, in.Limit, paged, after)
		}
		if err == nil && next != nil {
			out.NextCursor, err = c.NextCursor(next)
		}
		return out, err
	})
}

// unresolvedPlace is where a list goes on: behind a link or a target.
type unresolvedPlace struct {
	At    place  `json:"a,omitzero"`
	Links int    `json:"n,omitempty"`
	Key   string `json:"k,omitempty"`
}

func (o *unresolvedOut) listLinks(c *tools.Call, rows []unresolvedRow, limit int, paged bool, after unresolvedPlace) (*unresolvedPlace, error) {
	arrange(rows, func(r *unresolvedRow) *place { return &r.at })
	o.Total = len(rows)
	rest := behind(rows, paged, func(r unresolvedRow) int { return r.at.compare(after.At) })
	page, more, err := tools.Page(c, rest, limit, o.Warnings)
	o.Unresolved = append(o.Unresolved, page...)
	if err != nil || !more {
		return nil, err
	}
	return &unresolvedPlace{At: page[len(page)-1].at}, nil
}

func (o *unresolvedOut) listTargets(c *tools.Call, rows []targetRow, limit int, paged bool, after unresolvedPlace) (*unresolvedPlace, error) {
	o.Total = len(rows)
	compare := func(r targetRow) int {
		return cmp.Or(cmp.Compare(after.Links, r.Links), strings.Compare(r.key, after.Key))
	}
	page, more, err := tools.Page(c, behind(rows, paged, compare), limit, o.Warnings)
	o.Targets = page
	if err != nil || !more {
		return nil, err
	}
	last := page[len(page)-1]
	return &unresolvedPlace{Links: last.Links, Key: last.key}, nil
}

func (n *missingCounts) add(m missing) {
	switch m {
	case missingNote:
		n.Note++
	case missingHeading:
		n.Heading++
	case missingBlock:
		n.Block++
	}
}

// unresolved collects the links that do not find what they name. Files that
// Obsidian's settings exclude are left out, as in other lists.
type unresolved struct {
	call     *tools.Call
	folder   string
	grouped  bool
	rows     []unresolvedRow
	excluded int
	warnings *tools.Warnings
}

func (u *unresolved) run(ctx context.Context) error {
	view := u.call.View
	excluded, below := view.Settings().Excluded, tools.InFolder(u.folder)
	return view.Model(ctx, func(m *index.Model) error {
		u.warnings.Model(m, func(p string) bool { return below(p) && !excluded(p) })
		w := &resolver{call: u.call, model: m}
		seen := 0
		visit := func(n index.Note, look func(*resolver, index.Note)) error {
			if seen++; seen%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			switch {
			case !view.Sees(n.Path):
			case excluded(n.Path):
				u.excluded++
			default:
				look(w, n)
			}
			return nil
		}
		for n := range m.NotesBelow(u.folder) {
			if err := visit(n, u.note); err != nil {
				return err
			}
		}
		for k := range m.Canvases() {
			if !below(k.Path) {
				continue
			}
			if err := visit(k, u.canvas); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

func (u *unresolved) note(w *resolver, n index.Note) {
	for l := range n.Facts.Links() {
		if !isCounted(l) {
			continue
		}
		target, ok := w.call.View.Resolve(w.model.Paths(), n.Path, l.Target)
		if r := u.row(w, n, l, target, ok); r != nil {
			r.Kind, r.Property = kindOf(l.Form, l.Embed), tools.Cut(l.Property, maxText)
			if r.Missing == missingNote {
				r.AliasOf = aliasOf(u.call, w.model, l.Target)
			}
		}
	}
}

func (u *unresolved) canvas(w *resolver, k index.Note) {
	for l := range k.Facts.Links() {
		target, ok := shownBy(w.call.View, w.model, l.Target)
		if r := u.row(w, k, l, target, ok); r != nil {
			r.Kind = kindCard
		}
	}
}

// row adds a row for a link that does not find what it names, or is nil. target
// is the file that it leads to, if there is one.
func (u *unresolved) row(w *resolver, n index.Note, l facts.Link, target string, resolved bool) *unresolvedRow {
	lacking := missingNote
	if resolved {
		if lacking, _ = w.lacks(target, l.Subpath); lacking == "" {
			return nil
		}
	}
	var key string
	switch {
	case !u.grouped:
	case resolved:
		key = vault.FoldName(target) + "#" + note.FoldHeading(l.Subpath)
	default:
		key = strings.TrimSuffix(vault.FoldName(l.Target), ".md")
	}
	u.rows = append(u.rows, unresolvedRow{
		Source: n.Path, Target: tools.Cut(l.Target+l.Subpath, maxText), Missing: lacking, Line: l.Line, Col: l.Column,
		at: place{Path: n.Path, Line: l.Line, Col: l.Column}, key: key,
	})
	return &u.rows[len(u.rows)-1]
}

// maxSources is how many files with links to a target a row names.
const maxSources = 10

// targets are the things that are missing, those with most links first.
func (u *unresolved) targets() []targetRow {
	at := map[string]int{}
	var list []targetRow
	for i := range u.rows {
		r := &u.rows[i]
		k, ok := at[r.key]
		if !ok {
			k = len(list)
			at[r.key] = k
			list = append(list, targetRow{Target: r.Target, Missing: r.Missing, AliasOf: r.AliasOf, key: tools.SortKey(r.key)})
		}
		t := &list[k]
		t.Links++
		if n := len(t.Sources); n < maxSources && (n == 0 || t.Sources[n-1] != r.Source) {
			t.Sources = append(t.Sources, r.Source)
		}
	}
	slices.SortFunc(list, func(a, b targetRow) int {
		return cmp.Or(cmp.Compare(b.Links, a.Links), strings.Compare(a.key, b.key))
	})
	return list
}

// aliasOf are the first notes by path that have an alias.
func aliasOf(c *tools.Call, m *index.Model, alias string) []string {
	var paths []string
	for _, id := range m.Aliased(alias) {
		if n, ok := m.ByID(id); ok && c.View.Sees(n.Path) {
			paths = append(paths, n.Path)
		}
	}
	slices.Sort(paths)
	return paths[:min(len(paths), maxCandidates)]
}
