package links

import (
	"context"
	"math"
)

const (
	damping   = 0.85
	rankSteps = 100
	rankError = 1e-10 // of all ranks together
)

// pageRank is the chance to be at each note when following links at random
// forever, and going anywhere now and then, or where there are none.
func (g *graph) pageRank() []float64 {
	n := g.nodes()
	rank, next := make([]float64, n), make([]float64, n)
	for i := range rank {
		rank[i] = 1 / float64(n)
	}
	for range rankSteps {
		lost := 0.0
		for i := range rank {
			if len(g.out.of(int32(i))) == 0 {
				lost += rank[i]
			}
		}
		base := (1 - damping + damping*lost) / float64(n)
		for i := range next {
			next[i] = base
		}
		for i := range rank {
			if to := g.out.of(int32(i)); len(to) > 0 {
				share := damping * rank[i] / float64(len(to))
				for _, t := range to {
					next[t] += share
				}
			}
		}
		moved := 0.0
		for i := range rank {
			moved += math.Abs(next[i] - rank[i])
		}
		rank, next = next, rank
		if moved < rankError {
			break
		}
	}
	return rank
}

// betweenness is for each note the part of all shortest ways between others
// that lead through it (Brandes 2001), from 0 to 1.
func (g *graph) betweenness(ctx context.Context) ([]float64, error) {
	n := g.nodes()
	score := make([]float64, n)
	if n < 3 {
		return score, nil
	}
	ways, part := make([]float64, n), make([]float64, n)
	distance := make([]int32, n)
	order := make([]int32, 0, n)
	for from := range int32(n) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range n {
			ways[i], part[i], distance[i] = 0, 0, -1
		}
		ways[from], distance[from] = 1, 0
		order = append(order[:0], from)
		for i := 0; i < len(order); i++ {
			at := order[i]
			for _, to := range g.out.of(at) {
				if distance[to] < 0 {
					distance[to] = distance[at] + 1
					order = append(order, to)
				}
				if distance[to] == distance[at]+1 {
					ways[to] += ways[at]
				}
			}
		}
		for i := len(order) - 1; i > 0; i-- {
			at := order[i]
			for _, before := range g.in.of(at) {
				if distance[before] >= 0 && distance[before] == distance[at]-1 {
					part[before] += ways[before] / ways[at] * (1 + part[at])
				}
			}
			score[at] += part[at]
		}
	}
	for i := range score {
		score[i] /= float64(n-1) * float64(n-2)
	}
	return score, nil
}

// rounded is x with six digits, so that what differs by the order of adding
// only is equal.
func rounded(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 6-math.Ceil(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
