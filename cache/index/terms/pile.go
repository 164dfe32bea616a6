package terms

import (
	"bytes"
	"sort"
)

// pile is a list of terms in one piece of memory, each between two marks. It
// only grows: whoever has a copy of it reads on while another is added to.
type pile struct {
	text   []byte
	starts []uint32 // of each term, and where the next one will be
}

func newPile() pile { return pile{text: []byte{mark}, starts: []uint32{1}} }

func (p *pile) len() uint32 { return uint32(len(p.starts) - 1) }

func (p *pile) add(term []byte) {
	p.text = append(append(p.text, term...), mark)
	p.starts = append(p.starts, uint32(len(p.text)))
}

func (p *pile) at(i uint32) []byte {
	return p.text[p.starts[i] : p.starts[i+1]-1 : p.starts[i+1]-1]
}

// pattern is what find looks for: a text that may be bound to the start and the
// end of terms.
func pattern(text []byte, start, end bool) []byte {
	var b []byte
	if start {
		b = append(b, mark)
	}
	b = append(b, text...)
	if end {
		b = append(b, mark)
	}
	return b
}

// find lists the terms that hold a pattern, in order, with how often each does
// without overlaps.
func (p *pile) find(pattern []byte, yield func(i, times uint32)) {
	lead, tail := 0, 0
	if pattern[0] == mark {
		lead = 1
	}
	if pattern[len(pattern)-1] == mark {
		tail = 1
	}
	i, times := uint32(0), uint32(0)
	for at := 0; ; at += len(pattern) - tail { // two terms share the mark between them
		n := bytes.Index(p.text[at:], pattern)
		if n < 0 {
			break
		}
		at += n
		if found := p.holding(uint32(at+lead), i); found == i {
			times++
		} else {
			if times > 0 {
				yield(i, times)
			}
			i, times = found, 1
		}
	}
	if times > 0 {
		yield(i, times)
	}
}

// holding is the term at a place, which is no earlier than the term from.
func (p *pile) holding(at, from uint32) uint32 {
	rest := p.starts[from+1:]
	step := 1
	for step < len(rest) && rest[step-1] <= at {
		step *= 2
	}
	low := step / 2
	rest = rest[low:min(step, len(rest))]
	return from + uint32(low+sort.Search(len(rest), func(k int) bool { return rest[k] > at }))
}
