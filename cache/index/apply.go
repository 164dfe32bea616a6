package index

import (
	"strings"

	"vault-mcp/cache/index/facts"
	"vault-mcp/vault/link"
)

// put makes e the file with an id, or frees the id if e has no path.
func (m *Model) put(id uint32, e entry) {
	for int(id) >= len(m.entries) {
		m.entries = append(m.entries, entry{})
	}
	old := m.entries[id]
	if old.path != "" && old.path != e.path {
		delete(m.byPath, old.path)
		m.paths.Remove(old.path)
		if m.removed != nil {
			m.removed[old.path] = e.rev
		}
	}
	if old.path != "" && (old.path != e.path || old.note != e.note) {
		m.orderOf(old.note).dropped = append(m.orderOf(old.note).dropped, id)
	}
	if old.facts != e.facts {
		m.terms(id, old.facts, (*postings).remove)
	}
	if old.note && (!e.note || stem(old.path) != stem(e.path)) {
		m.titles.remove(fold(stem(old.path)), id)
	}
	m.entries[id] = e
	if e.path == "" {
		m.entries[id] = entry{rev: e.rev}
		if old.path != "" || old.rev == 0 {
			m.free = append(m.free, id)
		}
		return
	}
	if old.path != e.path {
		m.byPath[e.path] = id
		m.paths.Add(e.path)
		delete(m.gone, e.path)
	}
	if old.path != e.path || old.note != e.note {
		m.orderOf(e.note).added = append(m.orderOf(e.note).added, id)
	}
	if old.facts != e.facts {
		m.terms(id, e.facts, (*postings).add)
	}
	if e.note && (!old.note || stem(old.path) != stem(e.path)) {
		m.titles.add(fold(stem(e.path)), id)
	}
}

// unused takes an id that no file has, apart from those in taken, to which it
// adds the id.
func (m *Model) unused(taken map[uint32]bool) uint32 {
	for len(m.free) > 0 {
		id := m.free[len(m.free)-1]
		m.free = m.free[:len(m.free)-1]
		// Another process may have used it meanwhile.
		if m.entries[id].path == "" && !taken[id] {
			taken[id] = true
			return id
		}
	}
	id := uint32(len(m.entries))
	for taken[id] {
		id++
	}
	taken[id] = true
	return id
}

func (m *Model) orderOf(note bool) *order {
	if note {
		return &m.notes
	}
	return &m.others
}

// terms adds or removes what a note or canvas is found by.
func (m *Model) terms(id uint32, b facts.Blob, do func(p *postings, key string, id uint32)) {
	seen := keySet{}
	for l := range b.Links() {
		if l.External {
			continue
		}
		if key := keyOf(l); seen.add(key) {
			do(&m.links, key, id)
		}
	}
	for t := range b.Tags() {
		do(&m.tags, fold(t.Name), id)
	}
	seen = keySet{}
	for a := range b.Aliases() {
		if key := fold(a); seen.add(key) {
			do(&m.aliases, key, id)
		}
	}
	seen = keySet{}
	for p := range b.Properties() {
		if key := fold(p.Key); seen.add(key) {
			do(&m.properties, key, id)
		}
	}
}

// keyOf is the key by which a link is found.
func keyOf(l facts.Link) string {
	if l.Card {
		return link.KeysOf(l.Target)[0]
	}
	return link.Key(l.Target)
}

// settle makes the order of paths right after some calls of put.
func (m *Model) settle() {
	m.notes.settle(m)
	m.others.settle(m)
}

// keySet is a set of a few keys, mostly.
type keySet struct {
	few  []string
	many map[string]bool
}

func (s *keySet) add(key string) bool {
	if s.many != nil {
		if s.many[key] {
			return false
		}
		s.many[key] = true
		return true
	}
	for _, k := range s.few {
		if k == key {
			return false
		}
	}
	if s.few = append(s.few, key); len(s.few) > 32 {
		s.many = make(map[string]bool, 2*len(s.few))
		for _, k := range s.few {
			s.many[k] = true
		}
	}
	return true
}

// arena keeps many short texts in few pieces of memory.
type arena struct{ piece *strings.Builder }

const arenaPiece = 256 << 10

func (a *arena) keep(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > arenaPiece/8 {
		return string(b)
	}
	if a.piece == nil || a.piece.Cap()-a.piece.Len() < len(b) {
		a.piece = &strings.Builder{}
		a.piece.Grow(arenaPiece)
	}
	from := a.piece.Len()
	a.piece.Write(b)
	return a.piece.String()[from:]
}
