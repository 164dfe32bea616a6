package terms

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
)

// checkRank compares ranks with BM25 as it is written in books.
func (s *shelf) checkRank(tb testing.TB, text string, v *View) {
	tb.Helper()
	type doc struct {
		id     uint32
		counts map[string]int
		length float64
	}
	var docs []doc
	sum := 0.0
	for id, text := range s.texts {
		if v.visible(id) {
			d := doc{id: id, counts: map[string]int{}}
			for _, term := range tokens(text) {
				d.counts[term]++
				d.length++
			}
			sum += d.length
			docs = append(docs, d)
		}
	}
	scores := map[uint32]float64{}
	var words []string
	for _, word := range tokens(norm.NFC.String(text)) {
		if slices.Contains(words, word) {
			continue
		}
		words = append(words, word)
		tf, df := map[uint32]float64{}, 0.0
		last, _ := utf8.DecodeLastRuneInString(word)
		for _, d := range docs {
			for term, n := range d.counts {
				term = norm.NFC.String(term)
				if term == word || unicode.Is(unicode.Hangul, last) && strings.HasPrefix(term, word) {
					tf[d.id] += float64(n)
				}
			}
			if tf[d.id] > 0 {
				df++
			}
		}
		for _, d := range docs {
			if f := tf[d.id]; f > 0 {
				n := float64(len(docs))
				scores[d.id] += math.Log(1+(n-df+.5)/(df+.5)) * f * 2.2 / (f + 1.2*(.25+.75*d.length/(sum/n)))
			}
		}
	}
	best, total := s.Rank(Query{Text: text}, v)
	if total != len(scores) || len(best) != total {
		tb.Errorf("%q: %d of %d, want %d", text, len(best), total, len(scores))
	}
	for i, r := range best {
		if want := scores[r.Doc]; math.Abs(r.Score-want) > 1e-9 {
			tb.Errorf("%q: %d has %g, want %g", text, r.Doc, r.Score, want)
		}
		if i > 0 && (best[i-1].Score < r.Score || best[i-1].Score == r.Score && best[i-1].Doc > r.Doc) {
			tb.Errorf("%q: %v is before %v", text, best[i-1], r)
		}
	}
}

func TestRank(t *testing.T) {
	s := newShelf(t, "cafe", "café", "cafe\u0301 cafe\u0301", "other café", "한국어를 읽다", "한국", strings.Repeat("x", 2*MaxTerm))
	down := func(a, b uint32) int { return int(b) - int(a) }
	for _, tt := range []struct {
		name  string
		q     Query
		want  []uint32
		total int
	}{
		{"composed or not", Query{Text: "Cafe\u0301"}, []uint32{2, 1, 3}, 3},
		{"with accents only", Query{Text: "cafe"}, []uint32{0}, 1},
		{"accents folded", Query{Text: "cafe café", FoldDiacritics: true}, []uint32{2, 0, 1, 3}, 4},
		{"the other order of equals", Query{Text: "cafe", FoldDiacritics: true, Compare: down}, []uint32{2, 1, 0, 3}, 4},
		{"the first", Query{Text: "cafe", FoldDiacritics: true, Limit: 2, Compare: down}, []uint32{2, 1}, 4},
		{"particles", Query{Text: "한국"}, []uint32{5, 4}, 2},
		{"any word", Query{Text: "other 읽다 none"}, []uint32{3, 4}, 2},
		{"kept", Query{Text: "café", Keep: func(_ float64, doc uint32) bool { return doc != 1 }}, []uint32{2, 3}, 2},
		{"no word", Query{Text: "-> !"}, nil, 0},
		{"no term", Query{Text: strings.Repeat("x", 2*MaxTerm)}, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			best, total := s.Rank(tt.q, nil)
			var got []uint32
			for _, r := range best {
				got = append(got, r.Doc)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || total != tt.total {
				t.Errorf("total %d, want %d; %s", total, tt.total, diff)
			}
		})
	}
}

// The best few are the first of all.
func TestRankLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	s := newShelf(t)
	for range 300 {
		s.put(t, speech(r))
	}
	all, total := s.Rank(Query{Text: "harbour the x"}, nil)
	for _, k := range []int{1, 2, 10, 50, total, total + 1} {
		best, n := s.Rank(Query{Text: "harbour the x", Limit: k}, nil)
		if diff := cmp.Diff(all[:min(k, total)], best); diff != "" || n != total {
			t.Errorf("%d of %d: %s", k, n, diff)
		}
	}
}
