package terms

import "math/bits"

// query is the memory of one query, kept for the next, with the index locked.
type query struct {
	x       *Index
	visible *set
	counts  []uint32  // by document, of those in seen
	scores  []float64 // by document, of those in any
	seen    []uint64
	all     []uint64 // of the documents that have all parts so far
	any     []uint64
}

// begin locks the index, shared, until end. A nil view is of all documents.
func (x *Index) begin(v *View) *query {
	q, _ := x.scratch.Get().(*query)
	if q == nil {
		q = &query{x: x}
	}
	x.mu.RLock()
	if q.visible = &x.live; v != nil {
		q.visible = v.current()
	}
	words := len(x.live.bits)
	if len(q.seen) < words {
		words += words / 4
		q.seen, q.all, q.any = make([]uint64, words), make([]uint64, words), make([]uint64, words)
		q.counts = make([]uint32, words*64)
		q.scores = nil
	}
	return q
}

// end unlocks the index.
func (q *query) end() {
	q.visible = nil
	q.x.mu.RUnlock()
}

// free gives the memory back.
func (q *query) free() {
	clear(q.seen)
	clear(q.any)
	q.x.scratch.Put(q)
}

// term counts a term in the visible documents, each time as often.
func (q *query) term(id, times uint32) {
	q.list(q.x.packed.of(id), times)
	q.list(q.x.recently(id), times)
}

// list is the innermost loop of all queries.
func (q *query) list(data []byte, times uint32) {
	visible, seen, counts := q.visible.bits, q.seen, q.counts
	doc := uint32(0)
	for i := 0; i < len(data); {
		v := uint32(data[i])
		i++
		if v >= 0x80 {
			var more uint64
			more, i = varint(data, i-1)
			doc += uint32(more >> 1)
			v = uint32(more & 1)
		} else {
			doc += v >> 1
			v &= 1
		}
		count := times
		if v != 0 {
			var n uint64
			n, i = varint(data, i)
			count *= uint32(n)
		}
		w, bit := doc>>6, uint64(1)<<(doc&63)
		switch {
		case visible[w]&bit == 0:
		case seen[w]&bit == 0:
			seen[w] |= bit
			counts[doc] = count
		default:
			counts[doc] += count
		}
	}
}

func size(set []uint64) int {
	n := 0
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}
