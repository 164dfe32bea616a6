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
	used int    // notes that have it
	in   uint32 // the first of them by path
}

// words completes tags or keys of properties, the most used first. As everywhere
// they are those of notes that Obsidian's settings do not exclude.
func words(ctx context.Context, v *acl.View, what What, value string) (out Values, err error) {
	want := vault.FoldName(strings.TrimPrefix(value, "#"))
	excluded := v.Settings().Excluded
	err = v.Model(ctx, func(m *index.Model) error {
		list := m.Tags()
		if what == Property {
			list = m.Properties()
		}
		var found []word
		for key, ids := range list {
			rank := rankWord(key, want)
			if rank == ranks {
				continue
			}
			w := word{key: key, rank: rank}
			first := ""
			for i, id := range ids {
				n, ok := m.ByID(id)
				if !ok || i > 0 && ids[i-1] == id || !v.Sees(n.Path) || excluded(n.Path) {
					continue
				}
				if w.used++; first == "" || n.Path < first {
					first, w.in = n.Path, id
				}
			}
			if w.used > 0 {
				found = append(found, w)
			}
		}
		slices.SortFunc(found, func(a, b word) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.used, a.used), strings.Compare(a.key, b.key))
		})
		out = Values{[]string{}, len(found)}
		for _, w := range found[:min(len(found), Most)] {
			n, _ := m.ByID(w.in)
			out.Values = append(out.Values, spelled(n, what, w.key))
		}
		return ctx.Err()
	})
	return out, err
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
