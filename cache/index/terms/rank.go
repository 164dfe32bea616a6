package terms

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Query asks for the documents that fit words best.
type Query struct {
	// Text holds the words, as tokens; one that is repeated counts once. A
	// Korean word stands also for those that begin with it, as particles are
	// written onto words.
	Text string
	// FoldDiacritics lets a word stand for those with other accents or none.
	FoldDiacritics bool
	// Limit is how many documents are returned at most; 0 for all.
	Limit int
	// Compare orders documents of the same score. It must never be 0 for two
	// documents. Without it their numbers do, which depend on the past.
	Compare func(a, b uint32) int
	// Keep, if not nil, leaves documents out for which it is false, as those on
	// earlier pages. Frequencies count them nevertheless.
	Keep func(score float64, doc uint32) bool
}

// Ranked is a document and how well it fits.
type Ranked struct {
	Doc   uint32
	Score float64 // above 0; larger is better
}

// Rank lists the documents of a view, all for nil, that have any of a query's
// words, best first by BM25, and says how many there are that Keep keeps.
// Frequencies and lengths are those of the view alone. Compare and Keep are
// called while the index is free.
func (x *Index) Rank(w Query, v *View) (best []Ranked, total int) {
	q := x.begin(v)
	defer q.free()
	q.score(x.dict.words(w.Text, w.FoldDiacritics))
	q.end()
	top := top{limit: w.Limit, compare: w.Compare}
	each(q.any, func(doc uint32) {
		r := Ranked{doc, q.scores[doc]}
		if w.Keep == nil || w.Keep(r.Score, doc) {
			total++
			top.add(r)
		}
	})
	return top.sorted(), total
}

// score adds up what each word is worth in each document. The order of the
// words is that of the query, so that sums are the same every time.
func (q *query) score(words [][]uint32) {
	const (
		k = 1.2
		b = 0.75
	)
	if q.scores == nil {
		q.scores = make([]float64, len(q.counts))
	}
	docs := float64(q.visible.docs)
	average := float64(q.visible.tokens) / docs
	for _, ids := range words {
		for _, id := range ids {
			q.term(id, 1)
		}
		df := float64(size(q.seen))
		idf := math.Log(1 + (docs-df+0.5)/(df+0.5))
		each(q.seen, func(doc uint32) {
			tf := float64(q.counts[doc])
			s := idf * tf * (k + 1) / (tf + k*(1-b+b*float64(q.x.lengths[doc])/average))
			if w, bit := doc>>6, uint64(1)<<(doc&63); q.any[w]&bit == 0 {
				q.any[w] |= bit
				q.scores[doc] = s
			} else {
				q.scores[doc] += s
			}
		})
		clear(q.seen)
	}
}

// words lists the terms that each word of a query stands for.
func (d *Dictionary) words(text string, foldDiacritics bool) [][]uint32 {
	var words [][]uint32
	seen := map[string]bool{}
	for t := range Tokenize([]byte(norm.NFC.String(text))) {
		key := string(t.Term)
		if base, ok := unaccented(t.Term); ok && foldDiacritics {
			key = string(base)
		}
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		words = append(words, d.variants(t.Term, foldDiacritics))
	}
	return words
}

func (d *Dictionary) variants(term []byte, foldDiacritics bool) []uint32 {
	var ids []uint32
	apart := fold(norm.NFD.String(string(term)))
	last, _ := utf8.DecodeLastRune(term)
	prefix := unicode.Is(unicode.Hangul, last)
	for _, t := range [][]byte{term, apart} {
		d.eachTerm(part{t, true, !prefix}, func(id, _ uint32) { ids = append(ids, id) })
	}
	if foldDiacritics {
		ids = append(ids, d.FoldDiacritics(term)...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// top keeps the best of many: a heap whose first is the worst.
type top struct {
	limit   int
	compare func(a, b uint32) int
	list    []Ranked
}

// order is negative if a is better.
func (t *top) order(a, b Ranked) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	case t.compare != nil:
		return t.compare(a.Doc, b.Doc)
	case a.Doc < b.Doc:
		return -1
	}
	return 1
}

func (t *top) add(r Ranked) {
	if t.limit <= 0 || len(t.list) < t.limit {
		t.list = append(t.list, r)
		if len(t.list) == t.limit {
			slices.SortFunc(t.list, func(a, b Ranked) int { return t.order(b, a) })
		}
		return
	}
	if t.order(r, t.list[0]) >= 0 {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(t.list) {
			break
		}
		if child+1 < len(t.list) && t.order(t.list[child], t.list[child+1]) < 0 {
			child++
		}
		if t.order(r, t.list[child]) >= 0 {
			break
		}
		t.list[i] = t.list[child]
		i = child
	}
	t.list[i] = r
}

func (t *top) sorted() []Ranked {
	slices.SortFunc(t.list, t.order)
	return t.list
}
