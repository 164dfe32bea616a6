package index

import "slices"

// postings list notes by a key, in order of their ids. A note can stand in a
// list several times. Most keys have one note, which takes no list of its own.
type postings struct {
	one  map[string]uint32 // the only note of a key, or ^place in many
	many [][]uint32
	free []uint32
}

// isPlace marks a place in many.
const isPlace = 1 << 31

func newPostings() postings { return postings{one: map[string]uint32{}} }

// add puts a note into the list of a key: again if it is there, unless once is
// set.
func (p *postings) add(key []byte, id uint32, once bool) {
	at, ok := p.one[string(key)]
	switch {
	case !ok:
		p.one[string(key)] = id
	case at&isPlace == 0:
		if once && at == id {
			return
		}
		list := []uint32{min(at, id), max(at, id)}
		if n := len(p.free); n > 0 {
			at = p.free[n-1]
			p.free = p.free[:n-1]
			p.many[at] = list
		} else {
			at = uint32(len(p.many))
			p.many = append(p.many, list)
		}
		p.one[string(key)] = at | isPlace
	default:
		list := &p.many[at&^isPlace]
		if last := (*list)[len(*list)-1]; last < id || last == id && !once {
			*list = append(*list, id)
			return
		}
		if i, found := slices.BinarySearch(*list, id); !found || !once {
			*list = slices.Insert(*list, i, id)
		}
	}
}

// remove takes a note out of a list once.
func (p *postings) remove(key []byte, id uint32, _ bool) {
	at, ok := p.one[string(key)]
	switch {
	case !ok:
	case at&isPlace == 0:
		if at == id {
			delete(p.one, string(key))
		}
	default:
		list := &p.many[at&^isPlace]
		i, found := slices.BinarySearch(*list, id)
		if !found {
			return
		}
		*list = slices.Delete(*list, i, i+1)
		if len(*list) == 1 {
			p.one[string(key)] = (*list)[0]
			p.many[at&^isPlace] = nil
			p.free = append(p.free, at&^isPlace)
		}
	}
}

// of is the list of a key. The caller must not change it.
func (p *postings) of(key string) []uint32 {
	at, ok := p.one[key]
	switch {
	case !ok:
		return nil
	case at&isPlace == 0:
		return []uint32{at}
	}
	return p.many[at&^isPlace]
}

// each calls f with every key and its list, in no order, until it returns false.
func (p *postings) each(f func(key string, ids []uint32) bool) {
	single := make([]uint32, 1)
	for key, at := range p.one {
		ids := single
		if at&isPlace == 0 {
			single[0] = at
		} else {
			ids = p.many[at&^isPlace]
		}
		if !f(key, ids) {
			return
		}
	}
}

// trim gives back what bulk loading left over.
func (p *postings) trim() {
	for i := range p.many {
		p.many[i] = slices.Clip(p.many[i])
	}
}
