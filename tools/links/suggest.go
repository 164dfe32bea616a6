package links

import (
	"cmp"
	"context"
	"slices"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type suggestIn struct {
	tools.VaultArg
	tools.NoteArg
	Limit int `json:"limit,omitempty" limits:"min=1,max=200,default=20"`
	tools.PageArg
}

type suggestion struct {
	Path       string `json:"path"`
	Score      int    `json:"score" jsonschema:"twice co_citation, and two_hop"`
	CoCitation int    `json:"co_citation" jsonschema:"notes that link to both"`
	TwoHop     int    `json:"two_hop" jsonschema:"notes that this one links to and that link to it"`
}

type suggestOut struct {
	Path        string          `json:"path"`
	Total       int             `json:"total"`
	Suggestions []suggestion    `json:"suggestions"`
	NextCursor  *string         `json:"next_cursor"`
	Excluded    int             `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings    []tools.Warning `json:"warnings,omitempty"`
}

func suggestLinks() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "suggest_links",
		Title:  "Suggest links",
		Doc:    "Suggests notes that a note could link to, by the links of its neighbours. What is linked already is left out.",
		Scope:  auth.Read,
		Narrow: "a lower limit",
	}, func(ctx context.Context, c *tools.Call, in suggestIn) (suggestOut, error) {
		out := suggestOut{Suggestions: []suggestion{}}
		var after rankPlace
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		s, err := lookAt(ctx, c, paged, &in.Path)
		if err != nil {
			return out, err
		}
		node, path, err := s.graph.mustNote(in.Path, "path")
		if err != nil {
			return out, err
		}
		all := s.graph.suggest(node)
		out.Path, out.Total, out.Excluded, out.Warnings = path, len(all), s.excluded, s.warnings.List()
		all = behind(all, paged, func(s suggestion) int { return after.compare(float64(s.Score), s.Path) })
		page, more, err := tools.Page(c, all, in.Limit, out.Warnings)
		out.Suggestions = append(out.Suggestions, page...)
		if err == nil && more {
			last := page[len(page)-1]
			out.NextCursor, err = c.NextCursor(rankPlace{float64(last.Score), last.Path})
		}
		return out, err
	})
}

// suggest ranks the notes that share neighbours with one and are not linked
// with it either way.
func (g *graph) suggest(node int32) []suggestion {
	together, hops := make([]int, g.nodes()), make([]int, g.nodes())
	for _, source := range g.in.of(node) {
		for _, n := range g.out.of(source) {
			together[n]++
		}
	}
	for _, next := range g.out.of(node) {
		for _, n := range g.out.of(next) {
			hops[n]++
		}
	}
	var all []suggestion
	for i, p := range g.paths {
		n := int32(i)
		if together[i]+hops[i] == 0 || n == node || g.links(node, n) || g.links(n, node) {
			continue
		}
		all = append(all, suggestion{p, 2*together[i] + hops[i], together[i], hops[i]})
	}
	// They are in the order of paths, which ties keep.
	slices.SortStableFunc(all, func(a, b suggestion) int { return cmp.Compare(b.Score, a.Score) })
	return all
}
