package index

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

// What was looked at is what is thrown away: nobody writes between, in this process
// or in another, and queries go on.
func TestAHeldIndexStaysAsItIs(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	ix := h.ready(quietly)
	other := h.server(t)
	other.answers("status", "ready false")
	held, err := ix.Hold(t.Context())
	must(t, err)
	defer held.Release()
	before := revs(t, ix)
	h.write("B.md", "[[X]]")
	h.write("C.md", "[[X]]")
	told := make(chan error)
	go func() { told <- ix.Changed(t.Context(), []string{"C.md"}) }()
	fmt.Fprintln(other.in, "changed B.md")
	for range 20 {
		wants(t, "while it is held", []string{"A.md"}, linking(t, ix, "X"))
	}
	life := held.Life()
	held.Release()
	held.Release()
	must(t, <-told)
	if !other.out.Scan() || other.out.Text() != "changed <nil>" {
		t.Errorf("the other: %q", other.out.Text())
	}
	other.answers("links X", "A.md B.md C.md")
	wants(t, "afterwards", []string{"A.md", "B.md", "C.md"}, linking(t, ix, "X"))
	if now, err := ix.Life(t.Context()); now != life || err != nil || revs(t, ix)["A.md"] != before["A.md"] {
		t.Errorf("it is another index: %v", err)
	}
}

// Whoever is the indexer, all processes have an index that is made anew.
func TestAResetIsForAllProcesses(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	first := h.server(t)
	first.answers("status", "ready true")
	ix := h.ready(quietly)
	before := revs(t, ix)
	held, err := ix.Hold(t.Context())
	must(t, err)
	life := held.Life()
	must(t, held.Reset(t.Context()))
	if err := held.Reset(t.Context()); err == nil {
		t.Error("reset twice")
	}
	held.Release()
	if now, err := ix.Life(t.Context()); now == life || err != nil {
		t.Errorf("its life is the same, %v", err)
	}
	eventually(t, "it is ready again", func() bool { return ix.Status(nil).Phase == Ready && len(linking(t, ix, "X")) == 1 })
	first.answers("links X", "A.md")
	if revs(t, ix)["A.md"] <= before["A.md"] {
		t.Error("nothing was read again")
	}
}

// A process that dies holds nothing any more.
func TestAHoldEndsWithItsProcess(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	ix := h.ready(quietly)
	other := h.server(t)
	other.answers("status", "ready false")
	if got := other.ask("hold"); got != "held <nil>" {
		t.Fatal(got)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = other.cmd.Process.Kill() })
	held, err := ix.Hold(t.Context())
	must(t, err)
	held.Release()
}

func TestAnIndexThatDoesNotAnswerIsNotHeld(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	ix := h.ready(quietly)
	life, err := ix.Life(t.Context())
	must(t, err)
	must(t, ix.Close())
	if _, err := ix.Hold(t.Context()); !errors.Is(err, ErrNotReady) {
		t.Error(err)
	}
	if now, err := ix.Life(t.Context()); err != nil || now != life {
		t.Errorf("closed, %q is %q: %v", life, now, err)
	}
	must(t, os.Remove(databasePath(h.state)))
	if now, err := ix.Life(t.Context()); err != nil || now == life {
		t.Errorf("begun anew, it is the same: %v", err)
	}
	must(t, os.RemoveAll(h.state))
	if _, err := ix.Life(t.Context()); !errors.Is(err, ErrNotReady) {
		t.Errorf("without a state folder: %v", err)
	}
}

// What is counted is what there is, and of that what may be seen.
func TestCounts(t *testing.T) {
	h := newHome(t, map[string]string{
		"A.md": "[[X]] <https://example.org> ![[pic.png]]", "Private/B.md": "[[A]]", "Private/bad.md": "\xff\xfe\x00", "pic.png": "png",
		"board.canvas": `{"nodes":[{"id":"1","type":"file","file":"A.md"}]}`, "gone.md": "",
	})
	ix := h.ready(quietly)
	must(t, os.Remove(h.path("gone.md")))
	must(t, ix.Changed(t.Context(), []string{"gone.md"}))
	read(t, ix, func(m *Model) {
		wants(t, "all", Counts{Notes: 4, Files: 2, Links: 4, Texts: 3, Removed: 1}, m.Counts(nil))
		seen := func(p string) bool { return !within(p, "Private") && p != "gone.md" }
		wants(t, "seen", Counts{Notes: 2, Files: 2, Links: 3, Texts: 2}, m.Counts(seen))
	})
}
