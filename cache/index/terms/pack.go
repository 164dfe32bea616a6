package terms

import (
	"fmt"
	"slices"
)

// pack makes the lists of documents that are numbered from 0, in two passes:
// the first finds how long each list is, the second writes it in its place.
func pack(vectors []Vector, terms uint32) (packed, []uint32, error) {
	type state struct{ last, at uint32 } // at is the size in the first pass
	states := make([]state, terms)
	lengths := make([]uint32, len(vectors))
	var pairs []pair
	var err error
	for doc, v := range vectors {
		if pairs, lengths[doc], err = v.decode(pairs[:0], terms); err != nil {
			return packed{}, nil, fmt.Errorf("vector %d: %w", doc, err)
		}
		for _, p := range pairs {
			s := &states[p.id]
			s.at += sizeOfPair(uint32(doc)-s.last, p.count)
			s.last = uint32(doc)
		}
	}
	ends := make([]uint32, terms)
	total := uint32(0)
	for term := range states {
		size := states[term].at
		states[term] = state{at: total}
		total += size
		ends[term] = total
	}
	data := make([]byte, total)
	for doc, v := range vectors {
		if pairs, _, err = v.decode(pairs[:0], terms); err != nil {
			return packed{}, nil, err
		}
		for _, p := range pairs {
			s := &states[p.id]
			s.at = uint32(putPair(data, int(s.at), uint32(doc)-s.last, p.count))
			s.last = uint32(doc)
		}
	}
	return packed{data, ends}, lengths, nil
}

// putPair is appendPair into a place that is large enough.
func putPair(b []byte, at int, distance, count uint32) int {
	if distance < 0x40 && count == 1 { // nearly all
		b[at] = byte(distance << 1)
		return at + 1
	}
	return at + len(appendPair(b[at:at], distance, count))
}

// changed packs the index once a quarter of it has changed, so that each change
// pays for a few documents. What was removed goes with that.
func (x *Index) changed() {
	const least = 512
	if x.changes++; x.changes > max(least, x.live.docs/4) {
		x.pack()
	}
}

// Pack writes the index anew as if it had just been loaded: smaller, after a
// first build by Add. The index does the same by itself now and then.
func (x *Index) Pack() {
	x.write.Lock()
	defer x.write.Unlock()
	x.pack()
}

func (x *Index) pack() {
	p := x.repack()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.packed, x.recent, x.listOf, x.changes = p, nil, nil, 0
}

// repack writes all lists anew, without the documents that were removed.
// Nothing changes meanwhile, as the caller holds x.write; others may read.
func (x *Index) repack() packed {
	terms := max(len(x.packed.ends), len(x.listOf))
	size := len(x.packed.data)
	for _, l := range x.recent {
		size += len(l.data)
	}
	p := packed{data: make([]byte, 0, size), ends: make([]uint32, terms)}
	for term := range uint32(terms) {
		l := list{data: p.data}
		for _, old := range [][]byte{x.packed.of(term), x.recently(term)} {
			decodeList(old, func(doc, count uint32) {
				if x.live.has(doc) {
					l.add(doc, count)
				}
			})
		}
		p.data = l.data
		p.ends[term] = uint32(len(p.data))
	}
	if cap(p.data)-len(p.data) > len(p.data)/8 {
		p.data = slices.Clip(slices.Clone(p.data))
	}
	return p
}

// decodeList lists the documents of a list with their counts.
func decodeList(data []byte, yield func(doc, count uint32)) {
	doc := uint32(0)
	for i := 0; i < len(data); {
		var v uint64
		v, i = varint(data, i)
		count := uint64(1)
		if v&1 != 0 {
			count, i = varint(data, i)
		}
		doc += uint32(v >> 1)
		yield(doc, uint32(count))
	}
}
