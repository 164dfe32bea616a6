package links

import (
	"context"
	"math/rand/v2"
	"slices"
)

// weighted is an undirected graph with weights. loop is the weight inside a
// node, both ends counted.
type weighted struct {
	adjacency
	weight []float64
	loop   []float64
}

// undirected has an edge between notes that link to each other, of weight 2 if
// both do.
func (g *graph) undirected() *weighted {
	n := g.nodes()
	w := &weighted{loop: make([]float64, n)}
	w.start = make([]int32, 1, n+1)
	for node := range int32(n) {
		a, b := g.out.of(node), g.in.of(node)
		for len(a) > 0 || len(b) > 0 {
			switch {
			case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
				w.to, w.weight, a = append(w.to, a[0]), append(w.weight, 1), a[1:]
			case len(a) == 0 || b[0] < a[0]:
				w.to, w.weight, b = append(w.to, b[0]), append(w.weight, 1), b[1:]
			default:
				w.to, w.weight, a, b = append(w.to, a[0]), append(w.weight, 2), a[1:], b[1:]
			}
		}
		w.start = append(w.start, int32(len(w.to)))
	}
	return w
}

// degrees are the weights of the edges at each node, and of all together.
func (w *weighted) degrees() (of []float64, total float64) {
	of = slices.Clone(w.loop)
	for node := range of {
		for i := w.start[node]; i < w.start[node+1]; i++ {
			of[node] += w.weight[i]
		}
		total += of[node]
	}
	return of, total
}

const (
	maxRounds = 50
	gainError = 1e-12
)

// louvain divides a graph into communities (Blondel et al. 2008) and returns
// that of each node. The seed chooses the order in which nodes are looked at.
func (w *weighted) louvain(ctx context.Context, seed uint64) ([]int32, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	of := make([]int32, len(w.loop))
	for i := range of {
		of[i] = int32(i)
	}
	for level := w; len(of) > 0; {
		community, count, err := level.move(ctx, random)
		if err != nil {
			return nil, err
		}
		for i := range of {
			of[i] = community[of[i]]
		}
		if count == len(level.loop) {
			break
		}
		level = level.merged(community, count)
	}
	return of, nil
}

// move puts each node where modularity gains most, until none moves, and
// numbers the communities that are left from 0.
func (w *weighted) move(ctx context.Context, random *rand.Rand) (community []int32, count int, err error) {
	n := len(w.loop)
	degree, total := w.degrees()
	community = make([]int32, n)
	inside := slices.Clone(degree) // the degrees of a community's nodes together
	order := make([]int32, n)
	for i := range order {
		community[i], order[i] = int32(i), int32(i)
	}
	random.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	to := make([]float64, n) // weight from the node to each community
	var near []int32
	for moved, round := total > 0, 0; moved && round < maxRounds; round++ {
		moved = false
		for k, node := range order {
			if k%1024 == 0 && ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			near = near[:0]
			for i := w.start[node]; i < w.start[node+1]; i++ {
				c := community[w.to[i]]
				if to[c] == 0 {
					near = append(near, c)
				}
				to[c] += w.weight[i]
			}
			own := community[node]
			inside[own] -= degree[node]
			best, most := own, to[own]-inside[own]*degree[node]/total
			slices.Sort(near)
			for _, c := range near {
				if gain := to[c] - inside[c]*degree[node]/total; gain > most+gainError {
					best, most = c, gain
				}
			}
			inside[best] += degree[node]
			if best != own {
				community[node], moved = best, true
			}
			for _, c := range near {
				to[c] = 0
			}
		}
	}
	number := make([]int32, n)
	for i := range number {
		number[i] = -1
	}
	for i, c := range community {
		if number[c] < 0 {
			number[c] = int32(count)
			count++
		}
		community[i] = number[c]
	}
	return community, count, nil
}

// merged makes a node of each community.
func (w *weighted) merged(community []int32, count int) *weighted {
	m := &weighted{loop: make([]float64, count)}
	m.start = make([]int32, 1, count+1)
	members := make([][]int32, count)
	for node, c := range community {
		members[c] = append(members[c], int32(node))
	}
	to := make([]float64, count)
	var near []int32
	for c := range count {
		near = near[:0]
		for _, node := range members[c] {
			m.loop[c] += w.loop[node]
			for i := w.start[node]; i < w.start[node+1]; i++ {
				d := community[w.to[i]]
				switch {
				case int(d) == c:
					m.loop[c] += w.weight[i]
					continue
				case to[d] == 0:
					near = append(near, d)
				}
				to[d] += w.weight[i]
			}
		}
		slices.Sort(near)
		for _, d := range near {
			m.to, m.weight = append(m.to, d), append(m.weight, to[d])
			to[d] = 0
		}
		m.start = append(m.start, int32(len(m.to)))
	}
	return m
}

// modularity says how much more the communities link among themselves than
// they would by chance, at most 1.
func (w *weighted) modularity(community []int32) float64 {
	degree, total := w.degrees()
	if total == 0 {
		return 0
	}
	sum := make([]float64, len(degree))
	q := 0.0
	for node, c := range community {
		sum[c] += degree[node]
		q += w.loop[node]
		for i := w.start[node]; i < w.start[node+1]; i++ {
			if community[w.to[i]] == c {
				q += w.weight[i]
			}
		}
	}
	q /= total
	for _, s := range sum {
		q -= s / total * s / total
	}
	return q
}
