package index

import (
	"fmt"
	"os"
	"testing"

	"vault-mcp/internal/racing"
)

func all(string) bool { return true }

func pointNow(t *testing.T, ix *Index) (p Point) {
	t.Helper()
	read(t, ix, func(m *Model) { p = m.Now(all) })
	return p
}

// changed lists what changed since a point, nil if that is not known, with the
// point behind the first n.
func changed(t *testing.T, ix *Index, p Point, n int) (list []string, next Point) {
	t.Helper()
	read(t, ix, func(m *Model) {
		c, ok := m.Since(p, all)
		if !ok {
			return
		}
		list = []string{}
		for _, f := range c.List[:min(n, len(c.List))] {
			name := f.Path
			if f.Gone {
				name = "-" + name
			}
			list = append(list, name)
		}
		next = c.After(len(list))
	})
	return list, next
}

func TestWhatChangedSinceAPoint(t *testing.T) {
	h := newHome(t, map[string]string{"a.md": "a", "b.md": "b", "c.png": "c"})
	h.age("a.md", "b.md", "c.png", "Start.md")
	ix := h.ready(quietly)
	first := pointNow(t, ix)
	if list, same := changed(t, ix, first, 9); len(list) != 0 || same != first {
		t.Errorf("%v, and the point moved from %v to %v", list, first, same)
	}
	h.write("a.md", "aa")
	must(t, os.Rename(h.path("b.md"), h.path("b2.md")))
	must(t, os.Remove(h.path("c.png")))
	must(t, ix.Changed(t.Context(), []string{"a.md", "b.md", "b2.md", "c.png"}))
	want := []string{"a.md", "-b.md", "b2.md", "-c.png"}
	list, _ := changed(t, ix, first, 9)
	wants(t, "changed", want, list)
	ix.Close()
	ix = h.ready(quietly)
	var pages []string
	at := first
	for range 4 {
		list, at = changed(t, ix, at, 1)
		pages = append(pages, list...)
	}
	wants(t, "page by page, after a restart", want, pages)
	if now := pointNow(t, ix); at != now {
		t.Errorf("the last page ends at %v, now is %v", at, now)
	}
	h.write("c.png", "again")
	other := h.open(quietly) // follows
	must(t, ix.Changed(t.Context(), []string{"c.png"}))
	eventually(t, "the follower is ready", func() bool { return other.Status(nil).Phase == Ready })
	for _, ix := range []*Index{ix, other} {
		list, _ = changed(t, ix, first, 9)
		wants(t, "changed", []string{"a.md", "-b.md", "b2.md", "c.png"}, list)
	}
	must(t, ix.Rebuild(t.Context(), nil))
	if list, _ := changed(t, ix, first, 9); list != nil {
		t.Errorf("after a rebuild: %v", list)
	}
}

func TestOldRemovedPathsAreForgotten(t *testing.T) {
	racing.Skips(t)
	h := newHome(t, nil)
	const n = maxRemoved + 500
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf("f/%05d.png", i)
		h.write(paths[i], "")
	}
	ix := h.ready(quietly)
	first := pointNow(t, ix)
	must(t, os.RemoveAll(h.path("f/00000.png")))
	must(t, ix.Changed(t.Context(), paths[:1]))
	second := pointNow(t, ix)
	must(t, os.RemoveAll(h.path("f")))
	must(t, ix.Changed(t.Context(), []string{"f"}))
	for _, p := range []Point{first, second} {
		if list, _ := changed(t, ix, p, n); list != nil {
			t.Errorf("%d changes are known since what was forgotten", len(list))
		}
	}
	read(t, ix, func(m *Model) {
		if len(m.gone) > maxRemoved || len(m.gone) < maxRemoved*8/10 {
			t.Errorf("%d removed paths are known", len(m.gone))
		}
	})
	last := pointNow(t, ix)
	ix.Close()
	ix = h.ready(quietly)
	if list, _ := changed(t, ix, last, n); list == nil || len(list) != 0 {
		t.Errorf("since the end: %v", list)
	}
	if list, _ := changed(t, ix, first, n); list != nil {
		t.Error("what was forgotten is known after a restart")
	}
}
