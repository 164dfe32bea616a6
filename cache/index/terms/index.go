package terms

import (
	"fmt"
	"math/bits"
	"sync"
)

// Index says in which documents each term of a dictionary occurs. A document is
// one state of a note: it gets the next number when it is added and keeps it
// for good; a note that changes, or moves to where others may read it, is
// removed and added again.
//
// One goroutine at a time changes it, others wait for it. Any number ask at the
// same time, and wait only for the moment in which a change is put in place.
// A change costs what the document costs, whatever the index holds; after many
// changes the index packs itself anew, a few times the cost of each, while
// others go on asking.
//
// It takes about 2 bytes for each term of each document, 8 bytes a term of the
// dictionary, and 4 bytes for each document there ever was.
type Index struct {
	dict    *Dictionary
	scratch sync.Pool // of *query

	write sync.Mutex // held by whoever changes the index
	pairs []pair

	mu      sync.RWMutex // what follows is read under it, and changed under both
	packed  packed
	recent  []list   // of documents that were added since
	listOf  []uint32 // by term: its list in recent, from 1
	lengths []uint32 // by document, in tokens
	live    set
	changes int // since the index was packed
}

// packed are lists of documents without gaps between them, by term.
type packed struct {
	data []byte
	ends []uint32 // of each term's list, behind that of the term before
}

// of is the list of a term.
func (p *packed) of(term uint32) []byte {
	if term >= uint32(len(p.ends)) {
		return nil
	}
	start := uint32(0)
	if term > 0 {
		start = p.ends[term-1]
	}
	return p.data[start:p.ends[term]]
}

// list holds documents in order with how often each has the term, as a vector
// holds terms.
type list struct {
	data []byte
	last uint32
}

func (l *list) add(doc, count uint32) {
	l.data = appendPair(l.data, doc-l.last, count)
	l.last = doc
}

// set is a set of documents that knows how many tokens they have.
type set struct {
	bits   []uint64
	docs   int
	tokens uint64
}

func (s *set) has(doc uint32) bool {
	w := int(doc >> 6)
	return w < len(s.bits) && s.bits[w]>>(doc&63)&1 != 0
}

func (s *set) add(doc, length uint32) {
	for int(doc>>6) >= len(s.bits) {
		s.bits = append(s.bits, 0)
	}
	s.bits[doc>>6] |= 1 << (doc & 63)
	s.docs++
	s.tokens += uint64(length)
}

func (s *set) remove(doc, length uint32) {
	s.bits[doc>>6] &^= 1 << (doc & 63)
	s.docs--
	s.tokens -= uint64(length)
}

// each lists the members of a set in order.
func each(set []uint64, yield func(doc uint32)) {
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			yield(uint32(w<<6 | bits.TrailingZeros64(word)))
		}
	}
}

// NewIndex makes an empty one over a dictionary.
func NewIndex(d *Dictionary) *Index { return &Index{dict: d} }

// Load adds the documents of many vectors, the first under the number that it
// returns and the others behind it. It adds all or none: a vector that is damaged
// or has terms that the dictionary does not know is an error. The first Load is
// several times faster than as many calls of Add, and takes less memory.
func (x *Index) Load(vectors []Vector) (first uint32, err error) {
	x.write.Lock()
	defer x.write.Unlock()
	terms := x.dict.Len()
	if len(x.lengths) > 0 {
		return x.loadMore(vectors, terms)
	}
	p, lengths, err := pack(vectors, terms)
	if err != nil {
		return 0, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.packed = p
	for _, n := range lengths {
		x.live.add(uint32(len(x.lengths)), n)
		x.lengths = append(x.lengths, n)
	}
	return 0, nil
}

func (x *Index) loadMore(vectors []Vector, terms uint32) (first uint32, err error) {
	for i, v := range vectors {
		if x.pairs, _, err = v.decode(x.pairs[:0], terms); err != nil {
			return 0, fmt.Errorf("vector %d: %w", i, err)
		}
	}
	first = uint32(len(x.lengths))
	for _, v := range vectors {
		if _, err := x.add(v, terms); err != nil {
			return 0, err
		}
	}
	return first, nil
}

// Add adds a document and returns its number. A vector that is damaged or has
// terms that the dictionary does not know is an error.
func (x *Index) Add(v Vector) (doc uint32, err error) {
	x.write.Lock()
	defer x.write.Unlock()
	return x.add(v, x.dict.Len())
}

func (x *Index) add(v Vector, terms uint32) (doc uint32, err error) {
	pairs, length, err := v.decode(x.pairs[:0], terms)
	x.pairs = pairs
	if err != nil {
		return 0, err
	}
	x.mu.Lock()
	doc = uint32(len(x.lengths))
	if n := int(terms) - len(x.listOf); n > 0 {
		x.listOf = append(x.listOf, make([]uint32, n)...)
	}
	for _, p := range pairs {
		n := x.listOf[p.id]
		if n == 0 {
			x.recent = append(x.recent, list{})
			n = uint32(len(x.recent))
			x.listOf[p.id] = n
		}
		x.recent[n-1].add(doc, p.count)
	}
	x.lengths = append(x.lengths, length)
	x.live.add(doc, length)
	x.mu.Unlock()
	x.changed()
	return doc, nil
}

// Remove takes a document away and reports whether it was there.
func (x *Index) Remove(doc uint32) bool {
	x.write.Lock()
	defer x.write.Unlock()
	if !x.live.has(doc) {
		return false
	}
	x.mu.Lock()
	x.live.remove(doc, x.lengths[doc])
	x.mu.Unlock()
	x.changed()
	return true
}

// Stats says what an index holds.
type Stats struct {
	// Docs are the documents, and Tokens what they have together.
	Docs   int
	Tokens uint64
	// Terms are those of the dictionary. Unused of them are in no document, not
	// counting what was removed since the index last packed itself: if most
	// are, the owner should begin a new dictionary.
	Terms, Unused int
	// Bytes is about what the index takes, without the dictionary.
	Bytes int
}

// Stats looks at every term.
func (x *Index) Stats() Stats {
	terms := x.dict.Len()
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := Stats{
		Docs: x.live.docs, Tokens: x.live.tokens, Terms: int(terms) - 1,
		Bytes: cap(x.packed.data) + 4*(cap(x.packed.ends)+cap(x.listOf)+cap(x.lengths)) + 32*cap(x.recent) + 8*cap(x.live.bits),
	}
	for term := uint32(1); term < terms; term++ {
		if len(x.packed.of(term)) == 0 && len(x.recently(term)) == 0 {
			s.Unused++
		}
	}
	for _, l := range x.recent {
		s.Bytes += cap(l.data)
	}
	return s
}

// recently is a term's list of documents that were added since the index was
// packed.
func (x *Index) recently(term uint32) []byte {
	if term >= uint32(len(x.listOf)) || x.listOf[term] == 0 {
		return nil
	}
	return x.recent[x.listOf[term]-1].data
}
