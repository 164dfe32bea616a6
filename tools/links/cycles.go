package links

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

const (
	// maxCycle bounds the notes that are listed of one cycle.
	maxCycle = 100
	// cycleSteps bounds the links that are followed to find shortest cycles.
	cycleSteps = 20_000_000
)

type cyclesIn struct {
	tools.VaultArg
	Limit int `json:"limit,omitempty" limits:"min=1,max=1000,default=50"`
	tools.PageArg
}

type cyclesOut struct {
	Total      int             `json:"total" jsonschema:"groups of notes in which each leads to each"`
	Notes      int             `json:"notes" jsonschema:"notes that lie on some cycle"`
	Cycles     [][]string      `json:"cycles" jsonschema:"a shortest cycle of each group; the last note links to the first"`
	NextCursor *string         `json:"next_cursor"`
	Excluded   int             `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings   []tools.Warning `json:"warnings,omitempty"`
}

func linkCycles() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "find_link_cycles",
		Title:  "Find cycles of links",
		Doc:    "Finds groups of notes that lead back to themselves, with a shortest cycle of each.",
		Scope:  auth.Read,
		Narrow: "a lower limit",
	}, func(ctx context.Context, c *tools.Call, in cyclesIn) (cyclesOut, error) {
		out := cyclesOut{Cycles: [][]string{}}
		var after string
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		s, err := look(ctx, c, paged)
		if err != nil {
			return out, err
		}
		g := s.graph
		groups, of := g.components()
		groups = slices.DeleteFunc(groups, func(nodes []int32) bool { return len(nodes) < 2 })
		out.Total = len(groups)
		for _, nodes := range groups {
			out.Notes += len(nodes)
		}
		rest := behind(groups, paged, func(nodes []int32) int { return strings.Compare(g.paths[nodes[0]], after) })
		f := cycleFinder{graph: g, of: of, steps: cycleSteps}
		n, err := f.list(ctx, c, rest[:min(len(rest), in.Limit)], &out.Cycles, s.warnings)
		if err != nil {
			return out, err
		}
		if f.steps <= 0 {
			s.warnings.Page("", "some cycles may not be the shortest of their group: there are too many links to follow all")
		}
		out.Excluded, out.Warnings = s.excluded, s.warnings.List()
		if n < len(rest) {
			out.NextCursor, err = c.NextCursor(g.paths[rest[n-1][0]])
		}
		return out, err
	})
}

// list adds a shortest cycle of each group, of as many groups as fit into the
// answer, and says how many these are.
func (f *cycleFinder) list(ctx context.Context, c *tools.Call, groups [][]int32, cycles *[][]string, ws *tools.Warnings) (int, error) {
	r, err := c.Room(ws.List())
	if err != nil {
		return 0, err
	}
	for i, nodes := range groups {
		if err := ctx.Err(); err != nil {
			return i, err
		}
		cycle := f.shortest(nodes)
		paths := make([]string, min(len(cycle), maxCycle))
		for k := range paths {
			paths[k] = f.graph.paths[cycle[k]]
		}
		if ok, err := r.Takes(paths); !ok || err != nil {
			return i, err
		}
		*cycles = append(*cycles, paths)
		if len(cycle) > maxCycle {
			w := tools.Warning{Path: paths[0], Reason: fmt.Sprintf("its cycle has %d notes; the first %d are listed", len(cycle), maxCycle)}
			ws.Page(w.Path, w.Reason)
			if err := r.Spend(w); err != nil {
				return i, err
			}
		}
	}
	return len(groups), nil
}

// components are the groups of nodes that can be reached from each other
// (Tarjan 1972), in the order of their first nodes, each in ascending order;
// and for each node a number that those of its group share. It does not
// recurse, however long a chain of notes is.
func (g *graph) components() (groups [][]int32, of []int32) {
	n := g.nodes()
	of = make([]int32, n)
	seen, low := make([]int32, n), make([]int32, n) // from 1
	for i := range of {
		of[i] = -1
	}
	type frame struct {
		node int32
		next int // of its edges
	}
	var frames []frame
	var open []int32
	count := int32(0)
	enter := func(node int32) {
		count++
		seen[node], low[node] = count, count
		open = append(open, node)
		frames = append(frames, frame{node: node})
	}
	for root := range int32(n) {
		if seen[root] == 0 {
			enter(root)
		}
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			node := f.node
			if to := g.out.of(node); f.next < len(to) {
				next := to[f.next]
				f.next++
				if seen[next] == 0 {
					enter(next)
				} else if of[next] < 0 {
					low[node] = min(low[node], seen[next])
				}
				continue
			}
			if low[node] == seen[node] {
				at := len(open) - 1
				for open[at] != node {
					at--
				}
				group := slices.Clone(open[at:])
				open = open[:at]
				for _, member := range group {
					of[member] = node
				}
				slices.Sort(group)
				groups = append(groups, group)
			}
			if frames = frames[:len(frames)-1]; len(frames) > 0 {
				before := frames[len(frames)-1].node
				low[before] = min(low[before], low[node])
			}
		}
	}
	slices.SortFunc(groups, func(a, b []int32) int { return int(a[0]) - int(b[0]) })
	return groups, of
}

// cycleFinder finds shortest cycles inside groups.
type cycleFinder struct {
	graph *graph
	of    []int32
	steps int // links that may still be followed

	from, depth []int32 // of the search, by node; depth is from 1
}

// shortest is a shortest cycle of a group of several nodes, which begins with
// its first node: of equal ones that with the first nodes.
func (f *cycleFinder) shortest(group []int32) []int32 {
	for _, node := range group {
		for _, next := range f.graph.out.of(node) {
			if next > node && f.graph.links(next, node) {
				return []int32{node, next}
			}
		}
	}
	if f.from == nil {
		f.from, f.depth = make([]int32, f.graph.nodes()), make([]int32, f.graph.nodes())
	}
	var best []int32
	for _, start := range group {
		if best != nil && (len(best) == 3 || f.steps <= 0) {
			break
		}
		if c := f.through(start, len(best)); c != nil {
			best = c
		}
	}
	return best
}

// through is a shortest cycle through a node if it has less than below nodes,
// 0 for any.
func (f *cycleFinder) through(start int32, below int) (cycle []int32) {
	queue := []int32{start}
	f.depth[start] = 1
	defer func() {
		for _, node := range queue {
			f.depth[node] = 0
		}
	}()
	for i := 0; i < len(queue); i++ {
		node := queue[i]
		if below > 0 && int(f.depth[node]) >= below {
			return nil
		}
		next := f.graph.out.of(node)
		f.steps -= len(next)
		for _, to := range next {
			if to == start {
				for ; node != start; node = f.from[node] {
					cycle = append(cycle, node)
				}
				cycle = append(cycle, start)
				slices.Reverse(cycle)
				return cycle
			}
			if f.of[to] == f.of[start] && f.depth[to] == 0 {
				f.depth[to], f.from[to] = f.depth[node]+1, node
				queue = append(queue, to)
			}
		}
	}
	return nil
}
