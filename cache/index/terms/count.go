package terms

import (
	"bytes"
	"iter"
)

// Counter counts the terms of one text after the other and keeps its memory for
// the next. The zero value is ready. One goroutine uses it at a time; several
// counters work side by side.
type Counter struct {
	pages   pages
	text    []byte // of all terms
	entries []entry
	slots   []uint32 // the entry with this hash, from 1; a power of two
	length  int
	pairs   []uint64 // scratch of Dictionary.Encode, as is spare
	spare   []uint64
}

type entry struct {
	hash, at, count uint32
	size            uint8
}

// What a counter keeps for the next text: more than an ordinary note needs.
const (
	minSlots  = 1 << 10
	keptSlots = 1 << 14
)

// Count counts the terms of a text, which has less than 4 GiB. What was counted
// before is forgotten.
func (c *Counter) Count(text []byte) {
	c.reset()
	for at := 0; ; {
		base := len(c.text)
		var start int
		c.text, start, at = c.pages.next(c.text, text, at)
		if start < 0 {
			return
		}
		c.length++
		c.add(base)
	}
}

func (c *Counter) reset() {
	if len(c.slots) == 0 || len(c.slots) > keptSlots {
		*c = Counter{pages: c.pages, slots: make([]uint32, minSlots)}
		return
	}
	clear(c.slots)
	c.text, c.entries, c.length = c.text[:0], c.entries[:0], 0
}

// add counts the term that was written behind base.
func (c *Counter) add(base int) {
	term := c.text[base:]
	hash := hashOf(term)
	mask := uint32(len(c.slots) - 1)
	i := hash & mask
	for ; c.slots[i] != 0; i = (i + 1) & mask {
		e := &c.entries[c.slots[i]-1]
		if e.hash == hash && bytes.Equal(c.term(e), term) {
			e.count++
			c.text = c.text[:base]
			return
		}
	}
	c.entries = append(c.entries, entry{hash: hash, at: uint32(base), count: 1, size: uint8(len(term))})
	c.slots[i] = uint32(len(c.entries))
	if len(c.entries)*2 > len(c.slots) {
		c.grow()
	}
}

func (c *Counter) grow() {
	c.slots = make([]uint32, 2*len(c.slots))
	mask := uint32(len(c.slots) - 1)
	for n := range c.entries {
		i := c.entries[n].hash & mask
		for c.slots[i] != 0 {
			i = (i + 1) & mask
		}
		c.slots[i] = uint32(n + 1)
	}
}

func (c *Counter) term(e *entry) []byte { return c.text[e.at : e.at+uint32(e.size)] }

// Length is the number of tokens of the text that was counted last.
func (c *Counter) Length() int { return c.length }

// Terms lists the terms of the text that was counted last, each with how often
// it occurs, in the order of their first occurrence. They are valid until
// the next text is counted.
func (c *Counter) Terms() iter.Seq2[[]byte, int] {
	return func(yield func([]byte, int) bool) {
		for i := range c.entries {
			if e := &c.entries[i]; !yield(c.term(e), int(e.count)) {
				return
			}
		}
	}
}
