package links

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

// maxBetween is the largest graph of which betweenness is counted: its time
// grows with notes times links.
const maxBetween = 2000

type metric string

// Values lists the metrics for the schema.
func (metric) Values() []string { return []string{"pagerank", "betweenness"} }

type centralityIn struct {
	tools.VaultArg
	Metric   metric `json:"metric,omitempty" limits:"default=pagerank"`
	Incoming int    `json:"min_incoming_links,omitempty" limits:"min=0,max=100"`
	Limit    int    `json:"limit,omitempty" limits:"min=1,max=200,default=25"`
	tools.PageArg
}

type centralRow struct {
	Path     string  `json:"path"`
	Score    float64 `json:"score"`
	Incoming int     `json:"incoming" jsonschema:"notes that link to it"`
}

type centralityOut struct {
	Metric     string          `json:"metric"`
	Nodes      int             `json:"nodes"`
	Edges      int             `json:"edges"`
	Available  bool            `json:"available"`
	Message    string          `json:"message,omitempty"`
	Results    []centralRow    `json:"results"`
	NextCursor *string         `json:"next_cursor"`
	Excluded   int             `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings   []tools.Warning `json:"warnings,omitempty"`
}

func centrality() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "graph_centrality",
		Title:  "Rank notes by links",
		Doc:    "Ranks the notes that are most central in the graph of links. Betweenness, which finds bridges, needs a vault of at most 2000 notes.",
		Scope:  auth.Read,
		Narrow: "a lower limit or a higher min_incoming_links",
	}, func(ctx context.Context, c *tools.Call, in centralityIn) (centralityOut, error) {
		out := centralityOut{Metric: string(in.Metric), Results: []centralRow{}}
		var after rankPlace
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		s, err := look(ctx, c, paged)
		if err != nil {
			return out, err
		}
		g := s.graph
		out.Nodes, out.Edges, out.Excluded, out.Warnings = g.nodes(), len(g.out.to), s.excluded, s.warnings.List()
		var scores []float64
		if in.Metric == "betweenness" {
			if g.nodes() > maxBetween {
				out.Message = fmt.Sprintf("betweenness is only counted for up to %d notes; use pagerank", maxBetween)
				return out, nil
			}
			if scores, err = g.betweenness(ctx); err != nil {
				return out, err
			}
		} else {
			scores = g.pageRank()
		}
		out.Available = true
		var rows []centralRow
		for i, p := range g.paths {
			if n := len(g.in.of(int32(i))); n >= in.Incoming {
				rows = append(rows, centralRow{p, rounded(scores[i]), n})
			}
		}
		// The rows are in the order of paths, which ties keep.
		slices.SortStableFunc(rows, func(a, b centralRow) int { return cmp.Compare(b.Score, a.Score) })
		rows = behind(rows, paged, func(r centralRow) int { return after.compare(r.Score, r.Path) })
		page, more, err := tools.Page(c, rows, in.Limit, out.Warnings)
		out.Results = append(out.Results, page...)
		if err == nil && more {
			last := page[len(page)-1]
			out.NextCursor, err = c.NextCursor(rankPlace{last.Score, last.Path})
		}
		return out, err
	})
}
