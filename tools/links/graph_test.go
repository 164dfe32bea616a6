package links

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// build makes a graph of n notes of edges given by number.
func build(n int, edges [][2]int) *graph {
	b := newBuilder(n)
	for i := range n {
		b.paths = append(b.paths, fmt.Sprintf("%06d.md", i))
		for _, e := range edges {
			if e[0] == i {
				b.edge(int32(e[1]), byWiki)
			}
		}
		b.next()
	}
	return b.graph()
}

func randomGraph(r *rand.Rand) *graph {
	n := 1 + r.IntN(9)
	var edges [][2]int
	for range r.IntN(2 * n) {
		edges = append(edges, [2]int{r.IntN(n), r.IntN(n)})
	}
	return build(n, edges)
}

// far is the distance of what cannot be reached.
const far = math.MaxInt32

// distances are all shortest distances, by Floyd and Warshall.
func distances(g *graph, directed bool) [][]int {
	n := g.nodes()
	d := make([][]int, n)
	for i := range d {
		d[i] = slices.Repeat([]int{far}, n)
	}
	for i := range n {
		for _, to := range g.out.of(int32(i)) {
			d[i][to] = 1
			if !directed {
				d[to][i] = 1
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d // d[i][i] is the length of the shortest cycle
}

func TestShortestWaysAreShortest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		g := randomGraph(r)
		for _, directed := range []bool{false, true} {
			d := distances(g, directed)
			for i := range int32(g.nodes()) {
				for j := range int32(g.nodes()) {
					want := d[i][j]
					if i == j {
						want = 0
					}
					way := g.shortest(i, j, directed)
					if (way == nil) != (want >= far) || way != nil && len(way)-1 != want {
						t.Fatalf("from %d to %d: %v, want length %d", i, j, way, want)
					}
					for k := 1; k < len(way); k++ {
						if !g.links(way[k-1], way[k]) && (directed || !g.links(way[k], way[k-1])) {
							t.Fatalf("from %d to %d: %v has a step without a link", i, j, way)
						}
					}
				}
			}
		}
	}
}

func TestCyclesAreShortestOfTheirGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		g := randomGraph(r)
		d := distances(g, true)
		groups, of := g.components()
		f := cycleFinder{graph: g, of: of, steps: cycleSteps}
		placed := 0
		for _, nodes := range groups {
			placed += len(nodes)
			least := far
			for _, a := range nodes {
				least = min(least, d[a][a])
				for b := range int32(g.nodes()) {
					together := a == b || d[a][b] < far && d[b][a] < far
					if slices.Contains(nodes, b) != together {
						t.Fatalf("%v: is %d in the group of %d?", nodes, b, a)
					}
				}
			}
			if len(nodes) < 2 {
				continue
			}
			cycle := f.shortest(nodes)
			if len(cycle) != least || slices.Min(cycle) != cycle[0] {
				t.Fatalf("%v: the cycle %v, want %d notes", nodes, cycle, least)
			}
			for k, node := range cycle {
				if !g.links(node, cycle[(k+1)%len(cycle)]) {
					t.Fatalf("%v is no cycle", cycle)
				}
			}
		}
		if placed != g.nodes() {
			t.Fatalf("%d of %d notes are in groups", placed, g.nodes())
		}
	}
}

// A chain of notes as long as a vault overflows no stack.
func TestLongChainsDoNotRecurse(t *testing.T) {
	const n = 300_000
	b := newBuilder(n)
	for i := range n {
		b.paths = append(b.paths, fmt.Sprintf("%06d.md", i))
		b.edge(int32((i+1)%n), byWiki)
		b.next()
	}
	g := b.graph()
	groups, of := g.components()
	if len(groups) != 1 || len(groups[0]) != n {
		t.Fatalf("%d groups", len(groups))
	}
	f := cycleFinder{graph: g, of: of, steps: 1000}
	if c := f.shortest(groups[0]); len(c) != n {
		t.Errorf("a cycle of %d notes", len(c))
	}
	if way := g.shortest(0, n-1, true); len(way) != n {
		t.Errorf("a way of %d notes", len(way))
	}
}

func TestPageRankIsTheRandomSurfer(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		g := randomGraph(r)
		n := g.nodes()
		rank := slices.Repeat([]float64{1 / float64(n)}, n)
		for range 300 { // with the whole matrix
			next := make([]float64, n)
			for from := range n {
				to := g.out.of(int32(from))
				for j := range next {
					p := 1 / float64(n)
					if len(to) > 0 {
						p = (1 - damping) / float64(n)
						if slices.Contains(to, int32(j)) {
							p += damping / float64(len(to))
						}
					}
					next[j] += rank[from] * p
				}
			}
			rank = next
		}
		for i, got := range g.pageRank() {
			if math.Abs(got-rank[i]) > 1e-6 {
				t.Fatalf("note %d: %v, want %v", i, got, rank[i])
			}
		}
	}
}

func TestBetweennessCountsShortestWays(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		g := randomGraph(r)
		n := int32(g.nodes())
		got, err := g.betweenness(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d := distances(g, true)
		want := make([]float64, n)
		for s := range n {
			for e := range n {
				if s == e || d[s][e] >= far {
					continue
				}
				all, through := g.allWays(s, e, d)
				for v := range n {
					if v != s && v != e {
						want[v] += float64(through[v]) / float64(all)
					}
				}
			}
		}
		for v := range n {
			if n > 2 && math.Abs(got[v]-want[v]/float64(n-1)/float64(n-2)) > 1e-9 {
				t.Fatalf("note %d: %v, want %v", v, got[v], want[v])
			}
		}
	}
}

// allWays counts the shortest ways between two nodes, and those through each.
func (g *graph) allWays(s, e int32, d [][]int) (all int, through []int) {
	through = make([]int, g.nodes())
	var walk func(at int32, way []int32)
	walk = func(at int32, way []int32) {
		if at == e {
			all++
			for _, v := range way {
				through[v]++
			}
			return
		}
		for _, to := range g.out.of(at) {
			if rest := d[to][e]; to == e || rest < far && len(way)+1+rest == d[s][e] {
				if to != e || len(way)+1 == d[s][e] {
					walk(to, append(slices.Clone(way), to))
				}
			}
		}
	}
	walk(s, nil)
	return all, through
}

func TestCommunitiesAreWhatTheirModularitySays(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		g := randomGraph(r)
		w := g.undirected()
		of, err := w.louvain(t.Context(), 42)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := w.louvain(t.Context(), 42)
		if d := cmp.Diff(of, again); d != "" {
			t.Fatalf("two runs differ:\n%s", d)
		}
		// Q = 1/2m Σ (A − kk/2m), over all pairs of one community.
		n := g.nodes()
		var m2 float64
		k := make([]float64, n)
		a := make([][]float64, n)
		for i := range n {
			a[i] = make([]float64, n)
			for j := range n {
				for _, linked := range []bool{g.links(int32(i), int32(j)), g.links(int32(j), int32(i))} {
					if linked {
						a[i][j]++
						k[i]++
						m2++
					}
				}
			}
		}
		quality := func(of []int32) (q float64) {
			for i := range n {
				for j := range n {
					if of[i] == of[j] && m2 > 0 {
						q += (a[i][j] - k[i]*k[j]/m2) / m2
					}
				}
			}
			return q
		}
		if got, want := w.modularity(of), quality(of); math.Abs(got-want) > 1e-9 {
			t.Fatalf("modularity %v, want %v", got, want)
		}
		alone, whole := make([]int32, n), make([]int32, n)
		for i := range alone {
			alone[i] = int32(i)
		}
		if q := quality(of); q < quality(alone)-1e-9 || q < quality(whole)-1e-9 {
			t.Fatalf("modularity %v is less than that of no division", q)
		}
	}
}

func TestTwoGroupsAreTwoCommunities(t *testing.T) {
	var edges [][2]int
	for i := range 5 {
		for j := range i {
			edges = append(edges, [2]int{i, j}, [2]int{5 + i, 5 + j})
		}
	}
	w := build(11, append(edges, [2]int{0, 5})).undirected()
	for seed := range uint64(20) {
		of, err := w.louvain(t.Context(), seed)
		if err != nil {
			t.Fatal(err)
		}
		want := [][]int32{{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}, {10}}
		if d := cmp.Diff(want, grouped(of, 1)); d != "" {
			t.Errorf("seed %d: -want +got:\n%s", seed, d)
		}
	}
}

func TestSuggestionsCountNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		g := randomGraph(r)
		n := int32(g.nodes())
		for a := range n {
			got := map[string]suggestion{}
			last := math.MaxInt
			for _, s := range g.suggest(a) {
				got[s.Path] = s
				if s.Score > last {
					t.Fatal("not in order")
				}
				last = s.Score
			}
			for b := range n {
				together, hops := 0, 0
				for x := range n {
					if g.links(x, a) && g.links(x, b) {
						together++
					}
					if g.links(a, x) && g.links(x, b) {
						hops++
					}
				}
				s, listed := got[g.paths[b]]
				want := together+hops > 0 && a != b && !g.links(a, b) && !g.links(b, a)
				if listed != want || listed && (s.CoCitation != together || s.TwoHop != hops || s.Score != 2*together+hops) {
					t.Fatalf("%d to %d: %+v, %v; want %v with %d and %d", a, b, s, listed, want, together, hops)
				}
				if common(g.in.of(a), g.in.of(b)) != together {
					t.Fatalf("common %d, want %d", common(g.in.of(a), g.in.of(b)), together)
				}
			}
		}
	}
}

func TestRoundedKeepsSixDigits(t *testing.T) {
	for x, want := range map[float64]float64{0: 0, 1: 1, 0.3999999999: 0.4, 1.23456789e-7: 1.23457e-7, 123456.7: 123457} {
		if got := rounded(x); math.Abs(got-want) > 1e-12*max(1, want) && got != want {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
}
