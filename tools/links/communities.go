package links

import (
	"cmp"
	"context"
	"slices"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

// meaningful is the modularity from which on communities say something.
const meaningful = 0.3

type communitiesIn struct {
	tools.VaultArg
	Seed     int `json:"seed,omitempty" limits:"default=42"`
	MinSize  int `json:"min_size,omitempty" limits:"min=1,max=100,default=1"`
	MaxPaths int `json:"max_paths,omitempty" jsonschema:"notes to name of each" limits:"min=1,max=1000,default=20"`
	Limit    int `json:"limit,omitempty" limits:"min=1,max=100,default=20"`
	tools.PageArg
}

type communityRow struct {
	ID    int      `json:"id"`
	Size  int      `json:"size"`
	Paths []string `json:"paths" jsonschema:"those that most of the community links to or from"`
}

type communitiesOut struct {
	Nodes       int             `json:"nodes"`
	Modularity  float64         `json:"modularity"`
	Meaningful  bool            `json:"meaningful"`
	Note        string          `json:"note,omitempty"`
	Count       int             `json:"community_count" jsonschema:"of at least min_size"`
	Communities []communityRow  `json:"communities"`
	NextCursor  *string         `json:"next_cursor"`
	Excluded    int             `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings    []tools.Warning `json:"warnings,omitempty"`
}

func communities() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "graph_communities",
		Title:  "Find communities",
		Doc:    "Groups notes that link to each other more than to others, largest group first. The same seed gives the same groups.",
		Scope:  auth.Read,
		Narrow: "a lower limit or max_paths",
	}, func(ctx context.Context, c *tools.Call, in communitiesIn) (communitiesOut, error) {
		out := communitiesOut{Communities: []communityRow{}}
		var after rankPlace
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		s, err := look(ctx, c, paged)
		if err != nil {
			return out, err
		}
		w := s.graph.undirected()
		of, err := w.louvain(ctx, uint64(in.Seed))
		if err != nil {
			return out, err
		}
		out.Nodes, out.Excluded, out.Warnings = s.graph.nodes(), s.excluded, s.warnings.List()
		out.Modularity = rounded(w.modularity(of))
		if out.Meaningful = out.Modularity >= meaningful; !out.Meaningful {
			out.Note = "the links hardly divide these notes; the groups say little"
		}
		groups := grouped(of, in.MinSize)
		out.Count = len(groups)
		rest := behind(groups, paged, func(nodes []int32) int { return after.compare(float64(len(nodes)), s.graph.paths[nodes[0]]) })
		first := len(groups) - len(rest)
		r, err := c.Room(out.Warnings)
		if err != nil {
			return out, err
		}
		n := 0
		for ; n < min(len(rest), in.Limit); n++ {
			nodes := rest[n]
			row := communityRow{ID: first + n + 1, Size: len(nodes), Paths: []string{}}
			for _, node := range w.central(nodes, of)[:min(len(nodes), in.MaxPaths)] {
				row.Paths = append(row.Paths, s.graph.paths[node])
			}
			ok, err := r.Takes(row)
			if err != nil {
				return out, err
			}
			if !ok {
				break
			}
			out.Communities = append(out.Communities, row)
		}
		if n < len(rest) {
			out.NextCursor, err = c.NextCursor(rankPlace{float64(len(rest[n-1])), s.graph.paths[rest[n-1][0]]})
		}
		return out, err
	})
}

// grouped are the communities of at least some size, the largest first, equal
// ones by their first path.
func grouped(of []int32, least int) [][]int32 {
	members := make([][]int32, len(of))
	for node, c := range of {
		members[c] = append(members[c], int32(node))
	}
	members = slices.DeleteFunc(members, func(nodes []int32) bool { return len(nodes) < least })
	slices.SortFunc(members, func(a, b []int32) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0], b[0])) })
	return members
}

// central are the nodes of a community, those before that have most edges in
// it.
func (w *weighted) central(nodes, of []int32) []int32 {
	within := make(map[int32]float64, len(nodes))
	for _, node := range nodes {
		for i := w.start[node]; i < w.start[node+1]; i++ {
			if of[w.to[i]] == of[node] {
				within[node] += w.weight[i]
			}
		}
	}
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b int32) int { return cmp.Compare(within[b], within[a]) })
	return nodes
}
