package links

import (
	"context"
	"slices"

	"vault-mcp/cache/index"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type unresolvedIn struct {
	tools.VaultArg
	Folder tools.Folder `json:"folder,omitempty" jsonschema:"only links in notes below it"`
	Limit  int          `json:"limit,omitempty" limits:"min=1,max=5000,default=200"`
	tools.PageArg
}

type unresolvedRow struct {
	Source   string   `json:"source_path"`
	Target   string   `json:"target"`
	Line     int      `json:"line"`
	Col      int      `json:"col"`
	Kind     string   `json:"kind"`
	Property string   `json:"property,omitempty"`
	AliasOf  []string `json:"alias_of,omitempty" jsonschema:"notes with that alias, which no link follows"`

	at place
}

type unresolvedOut struct {
	Total      int             `json:"total"`
	Unresolved []unresolvedRow `json:"unresolved"`
	NextCursor *string         `json:"next_cursor"`
	Warnings   []warning       `json:"warnings,omitempty"`
}

func findUnresolved() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "find_unresolved_links",
		Title:  "Find unresolved links",
		Doc:    "Lists the links that lead to no file, by the note that holds them. Pages with next_cursor.",
		Scope:  auth.Read,
		Narrow: "a lower limit or one folder",
	}, func(ctx context.Context, c *tools.Call, in unresolvedIn) (unresolvedOut, error) {
		out := unresolvedOut{Unresolved: []unresolvedRow{}}
		folder, err := in.Folder.Path()
		if err != nil {
			return out, err
		}
		var after place
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		var ws warnings
		rows, err := unresolved(ctx, c, folder.String(), &ws)
		if err != nil {
			return out, err
		}
		arrange(rows, func(r *unresolvedRow) *place { return &r.at })
		out.Total, out.Warnings = len(rows), ws.all()
		page, more := behind(rows, in.Limit, paged, func(r unresolvedRow) int { return r.at.compare(after) })
		n, err := fit(c, page, out.Warnings)
		if err != nil {
			return out, err
		}
		out.Unresolved = append(out.Unresolved, page[:n]...)
		if more || n < len(page) {
			out.NextCursor, err = c.NextCursor(page[n-1].at)
		}
		return out, err
	})
}

func unresolved(ctx context.Context, c *tools.Call, folder string, ws *warnings) ([]unresolvedRow, error) {
	var rows []unresolvedRow
	err := c.View.Model(ctx, func(m *index.Model) error {
		seen := 0
		for n := range m.NotesBelow(folder) {
			if seen++; seen%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if !c.View.Sees(n.Path) {
				continue
			}
			if n.Problem != "" {
				ws.add(n.Path, n.Problem)
			}
			for l := range n.Facts.Links() {
				if !isCounted(l) {
					continue
				}
				if _, ok := c.View.Resolve(m.Paths(), n.Path, l.Target); ok {
					continue
				}
				rows = append(rows, unresolvedRow{
					Source: n.Path, Target: tools.Cut(l.Target+l.Subpath, maxText), Line: l.Line, Col: l.Column,
					Kind: kindOf(l.Form, l.Embed), Property: tools.Cut(l.Property, maxText), AliasOf: aliasOf(c, m, l.Target),
					at: place{Path: n.Path, Line: l.Line, Col: l.Column},
				})
			}
		}
		warnOfCanvases(c.View, m, folder, ws)
		for k := range m.Canvases() {
			if !isBelow(k.Path, folder) || !c.View.Sees(k.Path) {
				continue
			}
			for l := range k.Facts.Links() {
				if _, ok := shownBy(c.View, m, l.Target); ok {
					continue
				}
				rows = append(rows, unresolvedRow{
					Source: k.Path, Target: tools.Cut(l.Target+l.Subpath, maxText), Line: l.Line, Col: l.Column, Kind: kindCard,
					at: place{Path: k.Path, Line: l.Line, Col: l.Column},
				})
			}
		}
		return ctx.Err()
	})
	return rows, err
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
