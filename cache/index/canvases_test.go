package index

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"vault-mcp/vault"
)

const board = `{"nodes":[{"id":"k1","type":"file","file":"sub/A.md","subpath":"#top"},{"id":"","type":"file","file":"od#d^.md"}]}`

// cardsOf lists the cards of all canvases and what is wrong with them.
func cardsOf(m *Model) (all []string) {
	for k := range m.Canvases() {
		all = append(all, fmt.Sprintf("%s %s", k.Path, k.Problem))
		for l := range k.Facts.Links() {
			all = append(all, fmt.Sprintf("%v %s %s%s %d:%d", l.Card, l.Node, l.Target, l.Subpath, l.Line, l.Column))
		}
	}
	return all
}

func TestCanvasesAreReadForTheirCards(t *testing.T) {
	h := newHome(t, map[string]string{
		"b.canvas": board, "bad.canvas": "[", "latin.canvas": "caf\xe9", "empty.canvas": "", "sub/A.md": "", "x.md": "[[A]]",
	})
	h.age("b.canvas", "bad.canvas", "latin.canvas", "empty.canvas", "sub/A.md", "x.md", "Start.md")
	ix := h.ready(quietly)
	want := []string{"b.canvas ", "true k1 sub/A.md#top 1:11", "true  od#d^.md 1:72"}
	check := func(ix *Index) {
		t.Helper()
		wants(t, "linking A", []string{"b.canvas", "x.md"}, linking(t, ix, "sub/A.md"))
		wants(t, "linking an odd name", []string{"b.canvas"}, linking(t, ix, "od#d^.md"))
		var indexed []string
		read(t, ix, func(m *Model) {
			indexed = cardsOf(m)
			if m.Len() != 3 || len(slices.Collect(m.Files())) != 4 {
				t.Errorf("%d notes, %d other files", m.Len(), len(slices.Collect(m.Files())))
			}
		})
		if len(indexed) != 6 || !slices.Equal(indexed[:3], want) {
			t.Errorf("the cards are %q", indexed)
		}
		files, err := FromFiles(context.Background(), ix.vault, func(string, bool) bool { return true })
		must(t, err)
		wants(t, "from files", indexed, cardsOf(files))
		s := ix.Status(nil)
		if s.Done != 3 || s.Total != 3 || len(s.Skipped) != 2 || s.Skipped[0].Path != "bad.canvas" || s.Skipped[1].Reason != vault.NotText {
			t.Errorf("status %+v", s)
		}
	}
	check(ix)
	ix.Close()
	ix = h.ready(quietly) // from the rows
	check(ix)
	must(t, os.Rename(h.path("b.canvas"), h.path("c.md"))) // the same bytes mean something else now
	must(t, ix.Changed(t.Context(), []string{"b.canvas", "c.md"}))
	wants(t, "linking A", []string{"x.md"}, linking(t, ix, "sub/A.md"))
	must(t, os.Rename(h.path("c.md"), h.path("sub/d.canvas")))
	must(t, ix.Changed(t.Context(), []string{"c.md", "sub/d.canvas"}))
	wants(t, "linking A", []string{"sub/d.canvas", "x.md"}, linking(t, ix, "sub/A.md"))
	h.write("sub/d.canvas", "{}")
	must(t, ix.Changed(t.Context(), []string{"sub/d.canvas"}))
	wants(t, "linking A", []string{"x.md"}, linking(t, ix, "sub/A.md"))
}
