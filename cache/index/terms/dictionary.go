package terms

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"sync"
	"unicode/utf8"
)

// Dictionary gives every term a number that never changes. Terms are only
// added, never taken away. Numbers begin at 1; 0 is the empty term, which is
// always there and need not be stored.
//
// It takes some 30 bytes a term. Any number of goroutines use it at the same
// time: terms are looked up under a shared lock, and searched without any, as
// what is there does not move.
type Dictionary struct {
	mu    sync.RWMutex
	terms pile
	slots []uint64 // hash<<32 | id+1 by hash; a power of two
	// base holds the terms that have accents, without them, and baseOf their ids.
	base   pile
	baseOf []uint32
}

// NewDictionary makes one that holds no term but the empty one.
func NewDictionary() *Dictionary {
	d := &Dictionary{terms: newPile(), base: newPile(), slots: make([]uint64, minSlots)}
	d.insert(nil, hashOf(nil))
	return d
}

// Len is the number that the next term gets.
func (d *Dictionary) Len() uint32 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.terms.len()
}

// Lookup is the number of a term as Tokenize returns it, if it is known.
func (d *Dictionary) Lookup(term []byte) (id uint32, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.find(term, hashOf(term))
}

// Term is the term with a number, empty if there is none.
func (d *Dictionary) Term(id uint32) string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if id >= d.terms.len() {
		return ""
	}
	return string(d.terms.at(id))
}

// Intern is the number of a term as Tokenize returns it. It adds the term if it
// is not known.
func (d *Dictionary) Intern(term []byte) uint32 {
	hash := hashOf(term)
	d.mu.Lock()
	defer d.mu.Unlock()
	if id, ok := d.find(term, hash); ok {
		return id
	}
	return d.insert(term, hash)
}

// Load adds a term that was stored under a number. Terms are loaded in the order
// of their numbers; one that is there already is left alone. It refuses a number
// that leaves a gap or stands for another term, and what is no term.
func (d *Dictionary) Load(id uint32, term []byte) error {
	if len(term) == 0 || len(term) > MaxTerm || !utf8.Valid(term) {
		return fmt.Errorf("term %d: %q is no term", id, term)
	}
	hash := hashOf(term)
	d.mu.Lock()
	defer d.mu.Unlock()
	known, ok := d.find(term, hash)
	switch {
	case ok && known == id:
		return nil
	case ok:
		return fmt.Errorf("term %d: %q is number %d already", id, term, known)
	case id != d.terms.len():
		return fmt.Errorf("term %d: %q: the next number is %d", id, term, d.terms.len())
	}
	d.insert(term, hash)
	return nil
}

// Added lists the terms from number since on, at least 1, with their numbers:
// those that are still to be stored, if since is what Len was at the last time.
// Terms that are added meanwhile are left out.
func (d *Dictionary) Added(since uint32) iter.Seq2[uint32, []byte] {
	terms := d.all()
	return func(yield func(uint32, []byte) bool) {
		for id := max(since, 1); id < terms.len(); id++ {
			if !yield(id, terms.at(id)) {
				return
			}
		}
	}
}

// Encode appends the vector of what c has counted to dst. It adds the terms that
// are not known yet. Several goroutines may encode, each with its own counter;
// which numbers new terms get then depends on chance.
func (d *Dictionary) Encode(dst []byte, c *Counter) Vector {
	pairs := c.pairs[:0]
	var unknown []*entry
	d.mu.RLock()
	for i := range c.entries {
		e := &c.entries[i]
		if id, ok := d.find(c.term(e), e.hash); ok {
			pairs = append(pairs, uint64(id)<<32|uint64(e.count))
		} else {
			unknown = append(unknown, e)
		}
	}
	d.mu.RUnlock()
	if len(unknown) > 0 {
		d.mu.Lock()
		for _, e := range unknown {
			id, ok := d.find(c.term(e), e.hash)
			if !ok {
				id = d.insert(c.term(e), e.hash)
			}
			pairs = append(pairs, uint64(id)<<32|uint64(e.count))
		}
		d.mu.Unlock()
	}
	c.pairs, c.spare = sortPairs(pairs, c.spare)
	return appendVector(dst, c.length, c.pairs)
}

// sortPairs sorts pairs of id<<32|count by their ids, byte by byte of the ids,
// which is several times faster than comparing. It returns both slices, the one
// that is sorted first.
func sortPairs(pairs, spare []uint64) (sorted, other []uint64) {
	const few = 64
	if len(pairs) < few {
		slices.Sort(pairs)
		return pairs, spare
	}
	spare = slices.Grow(spare[:0], len(pairs))[:len(pairs)]
	most := uint64(0)
	for _, p := range pairs {
		most |= p
	}
	for shift := 32; shift < 64 && most>>shift != 0; shift += 8 {
		var at [256]int // where the next pair with this byte goes
		for _, p := range pairs {
			at[byte(p>>shift)]++
		}
		sum := 0
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, p := range pairs {
			spare[at[byte(p>>shift)]] = p
			at[byte(p>>shift)]++
		}
		pairs, spare = spare, pairs
	}
	return pairs, spare
}

// find needs the lock, at least shared.
func (d *Dictionary) find(term []byte, hash uint32) (id uint32, ok bool) {
	mask := uint32(len(d.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := d.slots[i]
		if s == 0 {
			return 0, false
		}
		if uint32(s>>32) == hash && bytes.Equal(d.terms.at(uint32(s)-1), term) {
			return uint32(s) - 1, true
		}
	}
}

// insert needs the lock for itself.
func (d *Dictionary) insert(term []byte, hash uint32) uint32 {
	id := d.terms.len()
	d.terms.add(term)
	if base, ok := unaccented(term); ok {
		d.base.add(base)
		d.baseOf = append(d.baseOf, id)
	}
	if int(id)*4 >= len(d.slots)*3 {
		old := d.slots
		d.slots = make([]uint64, 2*len(old))
		for _, s := range old {
			if s != 0 {
				d.place(s)
			}
		}
	}
	d.place(uint64(hash)<<32 | uint64(id+1))
	return id
}

func (d *Dictionary) place(slot uint64) {
	mask := uint32(len(d.slots) - 1)
	i := uint32(slot>>32) & mask
	for d.slots[i] != 0 {
		i = (i + 1) & mask
	}
	d.slots[i] = slot
}

// all is a copy of the list that can be read without the lock.
func (d *Dictionary) all() pile {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.terms
}
