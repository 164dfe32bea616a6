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
	m.entries[id] = e
	delete(m.flawed, id)
	if e.path == "" {
		m.entries[id] = entry{rev: e.rev}
		if old.path != "" || old.rev == 0 {
			m.free = append(m.free, id)
		}
		return
	}
	m.noteFlaw(id)
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
}

// load puts in the files of new ids, whose paths m.paths has.
func (m *Model) load(entries []entry) error {
	m.entries = entries
	for i := range entries {
		e, id := &entries[i], uint32(i)
		switch _, twice := m.byPath[e.path]; {
		case twice:
			return errDamaged
		case e.path == "" && i > 0:
			m.free = append(m.free, id)
		case e.path != "":
			m.byPath[e.path] = id
			m.orderOf(e.note).added = append(m.orderOf(e.note).added, id)
			m.noteFlaw(id)
			m.terms(id, e.facts, (*postings).add)
		}
	}
	m.settle()
	return nil
}

func (m *Model) noteFlaw(id uint32) {
	e := &m.entries[id]
	if _, flaw := e.facts.Flaw(); e.problem != "" || flaw != "" {
		m.flawed[id] = true
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
func (m *Model) terms(id uint32, b facts.Blob, do func(p *postings, key []byte, id uint32, once bool)) {
	key := m.key
	for l := range b.Links() {
		if !l.External {
			key = appendLinkKey(key[:0], &l)
			do(&m.links, key, id, true)
		}
	}
	for t := range b.Tags() {
		key = appendFold(key[:0], t.Name)
		do(&m.tags, key, id, false)
	}
	for a := range b.Aliases() {
		key = appendFold(key[:0], a)
		do(&m.aliases, key, id, true)
	}
	for p := range b.Properties() {
		key = appendFold(key[:0], p.Key)
		do(&m.properties, key, id, true)
	}
	m.key = key
}

// appendLinkKey appends the key by which a link is found.
func appendLinkKey(dst []byte, l *facts.Link) []byte {
	if l.Card {
		return append(dst, link.KeysOf(l.Target)[0]...)
	}
	return link.AppendKey(dst, l.Target)
}

// settle makes the order of paths right after some calls of put.
func (m *Model) settle() {
	m.notes.settle(m)
	m.others.settle(m)
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
