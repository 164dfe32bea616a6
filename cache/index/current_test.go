package index

import (
	"errors"
	"os"
	"testing"
)

// Who is about to act on what the index says asks it to look first.
func TestCurrentTakesInWhatNobodyReported(t *testing.T) {
	h := newHome(t, map[string]string{"a.md": "[[b]]", "b.md": "", "F/c.md": ""})
	ix := h.ready(Options{NoWatch: true, Sweep: -1})
	h.write("a.md", "[[c]]")
	h.write("G/new.md", "[[c]]")
	must(t, os.Remove(h.path("b.md")))
	if err := ix.Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	wants(t, "the index", dump(t, (&home{t, h.dir, t.TempDir()}).ready(Options{NoWatch: true, Sweep: -1})), dump(t, ix))
	must(t, ix.Close())
	if err := ix.Current(t.Context()); !errors.Is(err, ErrNotReady) {
		t.Errorf("of a closed index: %v", err)
	}
}
