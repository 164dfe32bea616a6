package index

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vault-mcp/internal/racing"
	"vault-mcp/vault"
)

// agrees compares an index with one that is built from nothing, once both have
// seen the same.
func agrees(t *testing.T, h *home, ix *Index) {
	t.Helper()
	fresh := (&home{t, h.dir, t.TempDir()}).ready(Options{Sweep: -1, NoWatch: true})
	wants(t, "answers", dump(t, fresh), dump(t, ix))
	must(t, fresh.Close())
	// And the files say the same.
	v, err := vault.Open(h.dir)
	must(t, err)
	defer v.Close()
	m, err := FromFiles(t.Context(), v, nil)
	must(t, err)
	want := map[string]string{}
	for n := range m.Notes() {
		want[n.Path] = fmt.Sprint(n.Hash, n.Size, n.ModTime.UnixNano(), n.Facts, n.Problem)
	}
	got := map[string]string{}
	read(t, ix, func(m *Model) {
		for n := range m.Notes() {
			got[n.Path] = fmt.Sprint(n.Hash, n.Size, n.ModTime.UnixNano(), n.Facts, n.Problem)
		}
	})
	wants(t, "the files", want, got)
}

// A folder and a file take each other's place: nothing of what was there before
// may be found.
func TestAFolderReplacedByAFileAndBackLeavesNoGhosts(t *testing.T) {
	for _, name := range []string{"x.md", "x.png", "x"} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, map[string]string{"in/" + name + "/A.md": "[[X]]", "in/" + name + "/sub/B.md": "[[X]]", "in/" + name + "/p.png": "p"})
			away := filepath.Join(t.TempDir(), "away")
			ix := h.ready(Options{Sweep: -1, NoWatch: true})
			must(t, os.Rename(h.path("in/"+name), away))
			h.write("in/"+name, "[[X]]")
			must(t, ix.Changed(t.Context(), []string{"in/" + name}))
			agrees(t, h, ix)
			must(t, os.Remove(h.path("in/"+name)))
			must(t, os.Rename(away, h.path("in/"+name)))
			must(t, ix.Changed(t.Context(), []string{"in/" + name}))
			agrees(t, h, ix)
			must(t, ix.Close())

			// By what the system reports.
			ix = h.ready(quietly)
			for range 3 {
				must(t, os.Rename(h.path("in/"+name), away))
				h.write("in/"+name, "[[Y]]")
				eventually(t, "the folder is gone", func() bool { return len(linking(t, ix, "X")) == 0 })
				must(t, os.Remove(h.path("in/"+name)))
				must(t, os.Rename(away, h.path("in/"+name)))
				eventually(t, "it is back", func() bool {
					return len(linking(t, ix, "X")) == 2 && len(linking(t, ix, "Y")) == 0
				})
			}
			agrees(t, h, ix)
		})
	}
}

// Other programs write and remove notes all the time while the index is built.
func TestNotesThatComeAndGoDuringABuild(t *testing.T) {
	h := newHome(t, crowd(300))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			p := fmt.Sprintf("come/%d/C%d.md", i%7, i%50)
			switch i % 5 {
			case 0:
				os.RemoveAll(h.path(fmt.Sprintf("come/%d", i%7)))
			case 1:
				os.Rename(h.path("come/1"), h.path(fmt.Sprintf("come/%d", 2+i%9)))
			default:
				os.MkdirAll(filepath.Dir(h.path(p)), 0o755)
				os.WriteFile(h.path(p), fmt.Appendf(nil, "[[X]] %d word%d", i, i%50), 0o600)
			}
		}
	}()
	var stopped bool
	end := func() {
		if !stopped {
			stopped = true
			close(stop)
			<-done
		}
	}
	defer end()
	for range many(3) {
		ix := h.ready(quietly)
		for range 10 {
			for _, p := range linking(t, ix, "X0") {
				if p != "N0.md" {
					t.Errorf("%s links to X0", p)
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		must(t, ix.Close())
		must(t, os.RemoveAll(h.state))
		must(t, os.Mkdir(h.state, 0o700))
	}
	ix := h.ready(quietly)
	end()
	last := ""
	eventually(t, "it has seen the end", func() bool {
		v, err := vault.Open(h.dir)
		must(t, err)
		defer v.Close()
		m, err := FromFiles(t.Context(), v, nil)
		must(t, err)
		want := m.named(m.Linking("x"))
		got := linking(t, ix, "X")
		last = fmt.Sprint(len(want), len(got))
		return slices.Equal(want, got)
	})
	t.Log(last)
	agrees(t, h, ix)
}

// Times are what programs, archives and other computers say they are.
func TestTimesThatNobodyWouldBelieve(t *testing.T) {
	times := map[string]time.Time{
		"future": time.Now().AddDate(30, 0, 0), "soon": time.Now().Add(time.Hour), "zero": time.Unix(0, 0), "past": time.Unix(-1, 0),
		"old": time.Date(1905, 1, 1, 0, 0, 0, 0, time.UTC), "fraction": time.Unix(-1, 999_999_999),
	}
	h := newHome(t, nil)
	for name, at := range times {
		h.write(name+".md", "[[X]]")
		must(t, os.Chtimes(h.path(name+".md"), at, at))
	}
	ix := h.ready(Options{Sweep: -1, NoWatch: true})
	agrees(t, h, ix)
	must(t, ix.Close())
	// The clock goes back: what is written now is older than what was there.
	for name, at := range times {
		h.write(name+".md", "[[Y]]")
		must(t, os.Chtimes(h.path(name+".md"), at.Add(-time.Hour), at.Add(-time.Hour)))
	}
	ix = h.ready(Options{Sweep: -1, NoWatch: true})
	wants(t, "linking X", []string{}, linking(t, ix, "X"))
	wants(t, "linking Y", len(times), len(linking(t, ix, "Y")))
	agrees(t, h, ix)
	must(t, ix.Close())
	// The same size and the same time: what lies in the future was written just
	// now for all that is known, the rest is for the sweep.
	for name, at := range times {
		h.write(name+".md", "[[Z]]")
		must(t, os.Chtimes(h.path(name+".md"), at.Add(-time.Hour), at.Add(-time.Hour)))
	}
	ix = h.ready(Options{Sweep: -1, NoWatch: true})
	if found := linking(t, ix, "Z"); !slices.Contains(found, "future.md") {
		t.Errorf("at once: %q", found)
	}
	must(t, ix.Close())
	ix = h.ready(Options{Sweep: time.Millisecond, NoWatch: true})
	eventually(t, "the sweep finds the rest", func() bool { return len(linking(t, ix, "Z")) == len(times) })
	agrees(t, h, ix)
}

// Names that are one for a person, or for some systems, are two notes.
func TestTwinNamesAreTwoNotes(t *testing.T) {
	h := newHome(t, nil)
	for i, name := range []string{"d/\u00e9.md", "d/e\u0301.md", "d/A.md", "d/a.md", "D/a.md", "d/\u212b.md", "d/\u00c5.md", "d/ß.md", "d/SS.md"} {
		h.write(name, fmt.Sprintf("[[X]] twin%d", i))
	}
	entries, err := os.ReadDir(h.path("d"))
	must(t, err)
	ix := h.ready(quietly)
	if len(entries) == 8 { // not where the system takes some for one
		if n := len(linking(t, ix, "X")); n != 9 {
			t.Errorf("%d notes", n)
		}
	}
	agrees(t, h, ix)
	must(t, os.Remove(h.path("d/e\u0301.md")))
	must(t, os.Rename(h.path("d/ß.md"), h.path("d/ß2.md")))
	must(t, os.Rename(h.path("d/ß2.md"), h.path("d/E\u0301.md")))
	must(t, ix.Changed(t.Context(), []string{"d/e\u0301.md", "d/ß.md", "d/E\u0301.md"}))
	agrees(t, h, ix)
}

// The longest names, and the longest path, that a file system takes.
func TestTheLongestPaths(t *testing.T) {
	h := newHome(t, nil)
	name := strings.Repeat("n", 252) + ".md"
	wide := strings.Repeat("\u00e9", 126) + ".md" // 255 bytes
	h.write(name, "[[X]]")
	h.write(wide, "[[X]]")
	root, err := os.OpenRoot(h.dir)
	must(t, err)
	defer root.Close()
	long := strings.Repeat(strings.Repeat("d", 254)+"/", 15) // 3,825 bytes
	must(t, root.MkdirAll(long, 0o755))
	deep := long + strings.Repeat("f", 4000-len(long)-3) + ".md"
	must(t, root.WriteFile(deep, []byte("[[X]]"), 0o600))
	ix := h.ready(Options{Sweep: -1, NoWatch: true})
	found := linking(t, ix, "X")
	for _, p := range []string{name, wide} {
		if !slices.Contains(found, p) {
			t.Errorf("%.20q… is not found", p)
		}
	}
	if !slices.Contains(found, deep) && !slices.ContainsFunc(ix.Status(nil).Skipped, func(s Skipped) bool { return strings.HasPrefix(deep, s.Path) }) {
		t.Errorf("the path of %d bytes is neither found nor named: %d", len(deep), len(found))
	}
	agrees(t, h, ix)
	must(t, root.WriteFile(deep, []byte("[[Y]]  "), 0o600))
	must(t, ix.Changed(t.Context(), []string{deep}))
	agrees(t, h, ix)
	must(t, ix.Close())
	ix = h.ready(quietly) // watched, as far as the system can
	must(t, root.Remove(deep))
	must(t, ix.Changed(t.Context(), []string{long[:len(long)-1]}))
	agrees(t, h, ix)
}

// Many of them have the same text, as empty notes have.
func TestThousandsOfFilesInOneFolder(t *testing.T) {
	racing.Skips(t)
	n := 2500
	if *soak {
		n = 10_000
	}
	h := newHome(t, nil)
	for i := range n {
		h.write(fmt.Sprintf("all/N%d.md", i), fmt.Sprintf("[[X]] word%d", i%50))
	}
	ix := h.ready(quietly)
	wants(t, "notes", n, len(linking(t, ix, "X")))
	must(t, os.Rename(h.path("all"), h.path("moved")))
	eventually(t, "all have moved", func() bool {
		found := linking(t, ix, "X")
		return len(found) == n && !slices.ContainsFunc(found, func(p string) bool { return !strings.HasPrefix(p, "moved/") })
	})
	agrees(t, h, ix)
}
