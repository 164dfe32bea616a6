package acl

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/internal/fault"
	"vault-mcp/vault"
)

// Titled are the paths of the notes that may be read and have a title as their
// file name without .md, or if there are none, as an alias, whatever its case;
// sorted. For a change, all files are compared with the index first. It fails
// with note_not_found if there is no such note.
func (w *View) Titled(ctx context.Context, title string, change bool) (paths []string, err error) {
	if change && w.index != nil {
		if err := w.index.Current(ctx); err != nil && !errors.Is(err, index.ErrNotReady) { // without it the files are read
			return nil, err
		}
	}
	closest := []string{}
	err = w.Model(ctx, func(m *index.Model) error {
		for _, p := range m.Paths().Named(title + ".md") {
			if w.Sees(p) {
				paths = append(paths, p)
			}
		}
		if len(paths) > 0 {
			return nil
		}
		for _, id := range m.Aliased(title) {
			if n, ok := m.ByID(id); ok && w.Sees(n.Path) {
				paths = append(paths, n.Path)
			}
		}
		if len(paths) == 0 {
			closest = w.near(m, title)
		}
		return nil
	})
	if err == nil && len(paths) == 0 {
		err = fault.New(fault.NoteNotFound, "No note is called %q, and none has that as an alias.", title).With("closest", closest)
	}
	slices.Sort(paths)
	return slices.Compact(paths), err
}

// maxClosest is how many notes are offered for one that is missing.
const maxClosest = 3

// near are the notes whose name is hardly another than a title, nearest first.
func (w *View) near(m *index.Model, title string) []string {
	type near struct {
		path string
		far  int
	}
	var all []near
	meant := vault.NearTo(title)
	for n := range m.Notes() {
		if far, ok := meant.Far(n.Title()); ok && w.Sees(n.Path) {
			all = append(all, near{n.Path, far})
		}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(a.far, b.far), strings.Compare(a.path, b.path)) })
	paths := []string{}
	for _, n := range all[:min(len(all), maxClosest)] {
		paths = append(paths, n.path)
	}
	return paths
}
