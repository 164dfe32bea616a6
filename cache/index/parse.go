package index

import (
	"sync"
	"time"

	"vault-mcp/cache/index/facts"
	"vault-mcp/cache/index/terms"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
)

// large is the size above which notes are parsed one after the other, as some
// take many times their size in memory.
const large = 1 << 20

// parser makes changes of what was read. Several goroutines use it.
type parser struct {
	ix    *Index
	base  int64
	words *words
	// moved are notes that are no longer where they were, by their content.
	moved    map[fingerprint.Content]source
	counters sync.Pool
	one      sync.Mutex
}

// note is the change for a note or canvas that was read, or that could not be
// for err.
func (p *parser) note(path string, size int64, mtime time.Time, text []byte, err error) *change {
	c := &change{path: path, base: p.base, size: size, mtime: mtime.UnixNano(), seen: time.Now().UnixNano()}
	if err != nil {
		c.problem = vault.Reason(err)
		return c
	}
	c.hash = fingerprint.OfContent(text)
	if !vault.Text(text) {
		c.problem = vault.NotText
		return c
	}
	if p.known(c) {
		return c
	}
	of, ok := p.ix.coming.of(c.hash, path, p.words)
	if !ok {
		of = p.parse(path, text)
	}
	c.facts, c.problem, c.words, c.vector = of.facts, of.problem, of.words, of.vector
	return c
}

// parse finds what is in a text; words and vector are of notes only.
func (p *parser) parse(path string, text []byte) (of parsed) {
	if len(text) > large {
		p.one.Lock()
		defer p.one.Unlock()
	}
	if of.facts, of.problem = factsOf(path, text); !isNote(path) {
		return of
	}
	counter, _ := p.counters.Get().(*terms.Counter)
	if counter == nil {
		counter = &terms.Counter{}
	}
	counter.Count(text)
	of.words = p.words
	of.vector = p.words.Encode([]byte{}, counter)
	p.counters.Put(counter)
	return of
}

// known reports whether the index has this content for the path, or has it for
// a note that moved, which c then names: neither needs to be parsed.
func (p *parser) known(c *change) bool {
	p.ix.mu.RLock()
	defer p.ix.mu.RUnlock()
	m := p.ix.model
	if id, ok := m.byPath[c.path]; ok {
		e := &m.entries[id]
		c.known = e.read() && e.hash == c.hash && e.problem == ""
		return c.known
	}
	from, ok := p.moved[c.hash]
	if !ok || !from.there(m) {
		return false
	}
	e := &m.entries[from.id]
	if e.hash != c.hash || e.problem != "" || e.note != isNote(c.path) {
		return false
	}
	c.from = from
	return true
}

// source is a row whose file is no longer at its path. Another note with the
// same text may have taken the row over meanwhile.
type source struct {
	id   uint32
	path string
}

func (s source) there(m *Model) bool {
	return s.path != "" && int(s.id) < len(m.entries) && m.entries[s.id].path == s.path
}

// factsOf is what is in a note or canvas, or why that cannot be told.
func factsOf(path string, text []byte) (b facts.Blob, problem string) {
	n := &facts.Note{}
	if isNote(path) {
		n = facts.Of(text)
	} else if of, err := facts.OfCanvas(text); err == nil {
		n = of
	} else {
		return "", err.Error()
	}
	return facts.Blob(n.Append(nil)), ""
}

// other is the change for a file that is not read.
func (p *parser) other(f vault.File) *change {
	return &change{path: f.Path, base: p.base, size: f.Size, mtime: f.ModTime.UnixNano(), seen: time.Now().UnixNano()}
}
