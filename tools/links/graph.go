package links

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/text/unicode/norm"

	"vault-mcp/cache/index"
	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

// graph is which notes link to which. A node is a note, numbered in the order
// of paths, so that every answer is the same however the index numbers them. A
// note that links to itself has no edge for that, and several links from one
// note to another are one edge.
type graph struct {
	paths   []string
	out, in adjacency
	kinds   []kinds // of the edges in out
}

// adjacency lists the neighbours of all nodes, each list in ascending order.
type adjacency struct{ start, to []int32 }

func (a *adjacency) of(node int32) []int32 { return a.to[a.start[node]:a.start[node+1]] }

// kinds are the ways in which one note links to another.
type kinds uint8

const (
	byWiki kinds = 1 << iota
	byMarkdown
	byEmbed
	byProperty
)

func kindsOf(l facts.Link) kinds {
	switch kind := kindOf(l.Form, l.Embed); {
	case l.Property != "":
		return byProperty
	case kind == kindEmbed:
		return byEmbed
	case kind == "markdown":
		return byMarkdown
	}
	return byWiki
}

func (k kinds) names() []string {
	var names []string
	for i, name := range []string{"wikilink", "markdown", kindEmbed, "property"} {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// survey is the graph of the notes that a caller may read, and what was
// counted on the way.
type survey struct {
	graph *graph
	// links are all links inside the vault, and unresolved those of them that
	// lead to no file.
	links, unresolved int
	// shown are the composed paths that cards of canvases show, or excluded notes
	// link to.
	shown map[string]bool
	// excluded counts the notes that are left out because Obsidian's settings
	// exclude them.
	excluded int
	warnings *tools.Warnings
}

// look makes the survey for a call, for a page that is the first unless paged is
// set. As in the app's graph view, excluded files are no part of it, but for
// notes that the call names.
func look(ctx context.Context, c *tools.Call, paged bool, named ...string) (*survey, error) {
	s := &survey{warnings: c.NewWarnings(paged)}
	excluded := c.View.Settings().Excluded
	out := func(path string) bool { return excluded(path) && !slices.Contains(named, path) }
	err := c.View.Model(ctx, func(m *index.Model) error {
		s.warnings.Model(m, func(path string) bool { return !out(path) })
		return s.over(ctx, c.View, m, out)
	})
	return s, err
}

// lookAt is look for a call about some notes.
func lookAt(ctx context.Context, c *tools.Call, paged bool, refs ...*tools.Note) (*survey, error) {
	named := make([]string, len(refs))
	for i, ref := range refs {
		p, err := ref.Path()
		if err != nil {
			return nil, err
		}
		named[i] = p.String()
	}
	return look(ctx, c, paged, named...)
}

// over makes the survey of a model without the notes that are out.
func (s *survey) over(ctx context.Context, w *acl.View, m *index.Model, out func(path string) bool) error {
	s.shown = shownIn(w, m)
	// Nothing is made for each note but numbers: of a large vault that would be as
	// much as the index itself.
	nodes := make([]int32, m.IDs()) // by the id of a note, from 1
	count := int32(0)
	for n := range m.Notes() {
		switch {
		case !w.Sees(n.Path):
		case out(n.Path):
			s.excluded++
			s.show(w, m, n)
		default:
			count++
			nodes[n.ID] = count
		}
	}
	b := newBuilder(int(count))
	for n := range m.Notes() {
		if nodes[n.ID] == 0 {
			continue
		}
		if len(b.paths)%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b.paths = append(b.paths, n.Path)
		for l := range n.Facts.Links() {
			if !isCounted(l) {
				continue
			}
			s.links++
			target, ok := w.Resolve(m.Paths(), n.Path, l.Target)
			if !ok {
				s.unresolved++
			} else if id, isNote := m.ID(target); isNote && nodes[id] > 0 {
				b.edge(nodes[id]-1, kindsOf(l))
			}
		}
		b.next()
	}
	s.graph = b.graph()
	return nil
}

// show takes what an excluded note links to for shown: it is no orphan, though
// the note is not in the graph.
func (s *survey) show(w *acl.View, m *index.Model, n index.Note) {
	for l := range n.Facts.Links() {
		if target, ok := w.Resolve(m.Paths(), n.Path, l.Target); ok && isCounted(l) && target != n.Path {
			s.shown[norm.NFC.String(target)] = true
		}
	}
}

// builder puts a graph together node by node.
type builder struct {
	made  graph
	paths []string
	edges []edge // of the current node
}

type edge struct {
	to    int32
	kinds kinds
}

func newBuilder(nodes int) *builder {
	b := &builder{paths: make([]string, 0, nodes)}
	b.made.out.start = make([]int32, 1, nodes+1)
	return b
}

// edge adds an edge of the current node.
func (b *builder) edge(to int32, k kinds) { b.edges = append(b.edges, edge{to, k}) }

// next ends the current node.
func (b *builder) next() {
	g := &b.made
	node := int32(len(g.out.start) - 1)
	slices.SortFunc(b.edges, func(x, y edge) int { return cmp.Compare(x.to, y.to) })
	for i, e := range b.edges {
		switch {
		case e.to == node:
		case i > 0 && e.to == b.edges[i-1].to:
			g.kinds[len(g.kinds)-1] |= e.kinds
		default:
			g.out.to = append(g.out.to, e.to)
			g.kinds = append(g.kinds, e.kinds)
		}
	}
	g.out.start = append(g.out.start, int32(len(g.out.to)))
	b.edges = b.edges[:0]
}

func (b *builder) graph() *graph {
	g := &b.made
	g.paths = b.paths
	g.in = g.out.reversed()
	return g
}

// reversed has the same edges the other way round.
func (a *adjacency) reversed() adjacency {
	n := len(a.start) - 1
	r := adjacency{start: make([]int32, n+1), to: make([]int32, len(a.to))}
	for _, to := range a.to {
		r.start[to+1]++
	}
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	at := slices.Clone(r.start)
	for node := range int32(n) {
		for _, to := range a.of(node) {
			r.to[at[to]] = node
			at[to]++
		}
	}
	return r
}

func (g *graph) nodes() int { return len(g.paths) }

// node finds a note by its path.
func (g *graph) node(path string) (int32, bool) {
	i, ok := slices.BinarySearch(g.paths, path)
	return int32(i), ok
}

// links reports whether there is an edge.
func (g *graph) links(from, to int32) bool {
	_, ok := slices.BinarySearch(g.out.of(from), to)
	return ok
}

// via are the ways in which one note links to another.
func (g *graph) via(from, to int32) kinds {
	i, ok := slices.BinarySearch(g.out.of(from), to)
	if !ok {
		return 0
	}
	return g.kinds[int(g.out.start[from])+i]
}

// shortest is a shortest way from one node to another with both ends, the
// first one by path at each step, or nil. Undirected ways follow links both
// ways.
func (g *graph) shortest(from, to int32, directed bool) []int32 {
	// From the end, so that each step forward can take the first of those
	// that are nearer.
	distance := make([]int32, g.nodes())
	for i := range distance {
		distance[i] = -1
	}
	distance[to] = 0
	queue := []int32{to}
	for len(queue) > 0 && distance[from] < 0 {
		node := queue[0]
		queue = queue[1:]
		visit := func(next []int32) {
			for _, n := range next {
				if distance[n] < 0 {
					distance[n] = distance[node] + 1
					queue = append(queue, n)
				}
			}
		}
		visit(g.in.of(node))
		if !directed {
			visit(g.out.of(node))
		}
	}
	if distance[from] < 0 {
		return nil
	}
	way := []int32{from}
	for node := from; node != to; {
		best := int32(-1)
		pick := func(next []int32) {
			for _, n := range next {
				if distance[n] == distance[node]-1 && (best < 0 || n < best) {
					best = n
				}
			}
		}
		pick(g.out.of(node))
		if !directed {
			pick(g.in.of(node))
		}
		way = append(way, best)
		node = best
	}
	return way
}

// common is how many numbers two ascending lists share.
func common(a, b []int32) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}

// noteIn finds the note that an argument names in the graph.
func (g *graph) noteIn(ref tools.Note) (node int32, path string, ok bool, err error) {
	p, err := ref.Path()
	if err != nil {
		return 0, "", false, err
	}
	node, ok = g.node(p.String())
	return node, p.String(), ok, nil
}

// mustNote is noteIn for tools that have nothing to say of other files.
func (g *graph) mustNote(ref tools.Note, argument string) (node int32, path string, err error) {
	node, path, ok, err := g.noteIn(ref)
	if err == nil && !ok {
		err = fault.New(fault.InvalidInput, "%q is no note, and only notes are in the graph of links.", path).With("argument", argument)
	}
	return node, path, err
}
