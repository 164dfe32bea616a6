package complete

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
	"vault-mcp/vault"
)

// word is a tag or the key of a property.
type word struct {
	key  string // folded
	rank int
	used int // notes that have it
	ids  []uint32
}

// words completes tags or keys of properties, the most used first. As everywhere
// they are those of notes that Obsidian's settings do not exclude.
func words(ctx context.Context, v *acl.View, what What, value string) (out Values, err error) {
	want := vault.FoldName(strings.TrimPrefix(value, "#"))
	excluded := v.Settings().Excluded
	err = v.Model(ctx, func(m *index.Model) error {
		c := counter{model: m, sees: func(p string) bool { return v.Sees(p) && !excluded(p) }, verdicts: make([]verdict, m.IDs())}
		list := m.Tags()
		if what == Property {
			list = m.Properties()
		}
		var found []word
		for key, ids := range list {
			w := word{key: key, rank: rankWord(key, want)}
			if w.rank == ranks {
				continue
			}
			if w.used = c.count(ids); w.used == 0 {
				continue
			}
			if w.ids = ids; len(ids) == 1 {
				w.ids = slices.Clone(ids) // which is used again for the next
			}
			found = append(found, w)
		}
		slices.SortFunc(found, func(a, b word) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.used, a.used), strings.Compare(a.key, b.key))
		})
		out = Values{[]string{}, len(found)}
		for _, w := range found[:min(len(found), Most)] {
			out.Values = append(out.Values, spelled(c.first(w.ids), what, w.key))
		}
		return ctx.Err()
	})
	return out, err
}

// counter knows which notes of a model count, and asks about each once.
type counter struct {
	model    *index.Model
	sees     func(path string) bool
	verdicts []verdict // by the number of the note
}

type verdict uint8

const (
	unknown verdict = iota
	counts
	hidden
)

func (c *counter) has(id uint32) bool {
	v := &c.verdicts[id]
	if *v == unknown {
		if *v = hidden; c.sees(c.model.PathOf(id)) {
			*v = counts
		}
	}
	return *v == counts
}

// count is how many notes of a list count, each once.
func (c *counter) count(ids []uint32) (n int) {
	for i, id := range ids {
		if (i == 0 || ids[i-1] != id) && c.has(id) {
			n++
		}
	}
	return n
}

// first is the first by path of those that count.
func (c *counter) first(ids []uint32) (n index.Note) {
	path := ""
	for _, id := range ids {
		if !c.has(id) {
			continue
		}
		if p := c.model.PathOf(id); path == "" || p < path {
			path = p
		}
	}
	n, _ = c.model.Note(path)
	return n
}

// spelled is a tag or key as a note has it first.
func spelled(n index.Note, what What, key string) string {
	if what == Property {
		for p := range n.Facts.Properties() {
			if vault.FoldName(p.Key) == key {
				return p.Key
			}
		}
		return key
	}
	for t := range n.Facts.Tags() {
		if vault.FoldName(t.Name) == key {
			return t.Name
		}
	}
	return key
}
