package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/vault"
	"vault-mcp/vault/link"
)

// quietly are options for tests that want no sweep.
var quietly = Options{Sweep: -1}

// home is a vault on disk with a state folder beside it.
type home struct {
	t          testing.TB
	dir, state string
}

func newHome(t testing.TB, files map[string]string) *home {
	h := &home{t, filepath.Join(t.TempDir(), "vault"), t.TempDir()}
	h.write("Start.md", "start")
	for p, text := range files {
		h.write(p, text)
	}
	return h
}

func (h *home) path(p string) string { return filepath.Join(h.dir, filepath.FromSlash(p)) }

func (h *home) write(p, text string) {
	h.t.Helper()
	must(h.t, os.MkdirAll(filepath.Dir(h.path(p)), 0o755))
	must(h.t, os.WriteFile(h.path(p), []byte(text), 0o644))
}

// age makes files old enough that their times tell of a change.
func (h *home) age(paths ...string) time.Time {
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, p := range paths {
		must(h.t, os.Chtimes(h.path(p), at, at))
	}
	return at
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open starts an index that is not waited for.
func (h *home) open(o Options) *Index {
	h.t.Helper()
	v, err := vault.Open(h.dir)
	must(h.t, err)
	ix := Open(v, h.state, o)
	ix.Start(h.t.Context())
	h.t.Cleanup(func() {
		ix.Close()
		v.Close()
	})
	return ix
}

// ready starts an index and waits for it.
func (h *home) ready(o Options) *Index {
	h.t.Helper()
	ix := h.open(o)
	eventually(h.t, "the index is ready", func() bool { return ix.Status(nil).Phase == Ready })
	return ix
}

func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func read(t testing.TB, ix *Index, f func(*Model)) {
	t.Helper()
	must(t, ix.Read(context.Background(), func(m *Model) error {
		f(m)
		return nil
	}))
}

func (m *Model) named(ids []uint32) []string {
	paths := []string{}
	for _, id := range ids {
		paths = append(paths, m.entries[id].path)
	}
	slices.Sort(paths)
	return paths
}

// linking are the notes with a link that can lead to a path.
func linking(t testing.TB, ix *Index, path string) (found []string) {
	t.Helper()
	read(t, ix, func(m *Model) { found = m.named(m.Linking(link.KeysOf(path)...)) })
	return found
}

func wants(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestWhatTheIndexAnswers(t *testing.T) {
	h := newHome(t, map[string]string{
		"A.md":       "---\naliases: [First]\ntags: [Work]\nRating: 3\n---\n[[b]] ![[pic.png]] #work/home #x\n",
		"sub/B.md":   "see [a](../A.md#top) and [[A]] and <https://example.org>\n- [ ] do it\n",
		"sub/c/D.md": "[[#here]]\n# Work #X\n",
		"pic.png":    "png", "sub/x.canvas": "{}", ".hidden/E.md": "[[A]]",
	})
	ix := h.ready(quietly)
	wants(t, "linking A", []string{"sub/B.md"}, linking(t, ix, "A.md"))
	wants(t, "linking b", []string{"A.md"}, linking(t, ix, "sub/B.md"))
	wants(t, "linking the picture", []string{"A.md"}, linking(t, ix, "pic.png"))
	read(t, ix, func(m *Model) {
		var notes, below, files []string
		for n := range m.Notes() {
			notes = append(notes, n.Path)
		}
		for n := range m.NotesBelow("sub") {
			below = append(below, n.Title())
		}
		for f := range m.Files() {
			files = append(files, f.Path)
		}
		wants(t, "notes", []string{"A.md", "Start.md", "sub/B.md", "sub/c/D.md"}, notes)
		wants(t, "notes below sub", []string{"B", "D"}, below)
		wants(t, "files", []string{"pic.png", "sub/x.canvas"}, files)
		wants(t, "tag", []string{"A.md"}, m.named(m.Tagged("#WORK", false)))
		wants(t, "x", []string{"A.md", "sub/c/D.md"}, m.named(m.Tagged("x", true)))
		wants(t, "tags", map[string]int{"work": 1, "work/home": 1, "x": 2}, counts(m))
		wants(t, "alias", []string{"A.md"}, m.named(m.Aliased("FIRST")))
		wants(t, "property", []string{"A.md"}, m.named(m.WithProperty("rating")))
		wants(t, "own links", []string{"sub/c/D.md"}, m.named(m.Linking("")))
		n, ok := m.Note("sub/B.md")
		if same, _ := m.ByID(n.ID); !ok || same.Path != n.Path || n.Size == 0 || n.ModTime.IsZero() || n.Hash.String() == "" {
			t.Errorf("note: %+v", n)
		}
		if to, ok := m.Paths().Resolve("sub/c/D.md", "pic.png", nil); !ok || to != "pic.png" {
			t.Errorf("pic.png resolves to %q", to)
		}
	})
	must(t, ix.ReadText(t.Context(), func(m *Model, x *Text) error {
		hits := x.Index.Whole("do it", x.Index.View(func(uint32) bool { return true }))
		if len(hits) != 1 || m.entries[x.Note(hits[0].Doc)].path != "sub/B.md" {
			t.Errorf("hits of %q: %+v", "do it", hits)
		}
		return nil
	}))
}

func counts(m *Model) map[string]int {
	n := map[string]int{}
	for tag, ids := range m.Tags() {
		n[tag] = len(ids)
	}
	return n
}

func TestNothingIsTouchedBeforeTheStart(t *testing.T) {
	h := newHome(t, nil)
	v, err := vault.Open(h.dir)
	must(t, err)
	defer v.Close()
	ix := Open(v, h.state, quietly)
	if err := ix.Read(t.Context(), nil); !errors.Is(err, ErrNotReady) {
		t.Errorf("Read before Start: %v", err)
	}
	must(t, ix.Changed(t.Context(), []string{"Start.md"}))
	must(t, ix.Close())
	entries, err := os.ReadDir(h.state)
	must(t, err)
	if len(entries) > 0 || ix.Status(nil).Phase != Stopped {
		t.Errorf("state folder: %v, status: %+v", entries, ix.Status(nil))
	}
}

func TestACallReadsItsOwnWrites(t *testing.T) {
	h := newHome(t, map[string]string{"d/A.md": "[[X]]", "d/B.md": "[[X]]"})
	ix := h.ready(Options{Sweep: -1, NoWatch: true})
	changed := func(paths ...string) {
		t.Helper()
		must(t, ix.Changed(t.Context(), paths))
	}
	h.write("C.md", "[[X]] one")
	changed("C.md")
	wants(t, "made", []string{"C.md", "d/A.md", "d/B.md"}, linking(t, ix, "X.md"))
	h.write("C.md", "[[Y]] two")
	changed("C.md")
	wants(t, "written", []string{"d/A.md", "d/B.md"}, linking(t, ix, "X.md"))
	must(t, os.Rename(h.path("d"), h.path("e")))
	changed("d", "e")
	wants(t, "moved", []string{"e/A.md", "e/B.md"}, linking(t, ix, "X.md"))
	must(t, os.Remove(h.path("e/A.md")))
	h.write("p.png", "x")
	changed("e/A.md", "p.png")
	wants(t, "removed", []string{"e/B.md"}, linking(t, ix, "X.md"))
	read(t, ix, func(m *Model) {
		if _, ok := m.Paths().Resolve("C.md", "p.png", nil); !ok {
			t.Error("p.png is not there")
		}
	})
	must(t, os.Rename(h.path("C.md"), h.path("c.md"))) // only the case
	changed("C.md", "c.md")
	wants(t, "renamed", []string{"c.md"}, linking(t, ix, "Y.md"))
}

// TestManyChangesLeaveWhatABuildFinds does random changes, and compares the
// index after each few with one that is built from nothing.
func TestManyChangesLeaveWhatABuildFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	h := newHome(t, nil)
	ix := h.ready(Options{Sweep: -1, NoWatch: true})
	must(t, ix.ReadText(t.Context(), func(*Model, *Text) error { return nil }))
	names := []string{"A", "b", "C d", "é", "日"}
	file := func() string {
		return fmt.Sprintf("%s/%s%d%s", names[r.IntN(2)], names[r.IntN(5)], r.IntN(4), []string{".md", ".md", ".md", ".png"}[r.IntN(4)])
	}
	for round := range 60 {
		var paths []string
		for range 1 + r.IntN(8) {
			p, q := file(), file()
			paths = append(paths, p, q)
			switch r.IntN(6) {
			case 0:
				os.Remove(h.path(p))
			case 1, 2:
				if _, err := os.Stat(h.path(p)); err == nil {
					must(t, os.MkdirAll(filepath.Dir(h.path(q)), 0o755))
					must(t, os.Rename(h.path(p), h.path(q)))
				}
			case 3:
				os.Rename(h.path("A"), h.path("tmp"))
				os.Rename(h.path("b"), h.path("A"))
				os.Rename(h.path("tmp"), h.path("b"))
				paths = append(paths, "A", "b")
			default:
				h.write(p, fmt.Sprintf("---\naliases: [%s]\ntags: [t%d]\n---\n[[%s]] #u%d word%d", names[r.IntN(5)], r.IntN(3), file(), r.IntN(3), r.IntN(50)))
			}
		}
		must(t, ix.Changed(t.Context(), paths))
		if round%6 == 0 {
			other := &home{t, h.dir, t.TempDir()}
			fresh := other.ready(Options{Sweep: -1, NoWatch: true})
			wants(t, fmt.Sprintf("round %d", round), dump(t, fresh), dump(t, ix))
			fresh.Close()
		}
	}
	again := h.ready(Options{Sweep: -1, NoWatch: true})
	wants(t, "loaded", dump(t, ix), dump(t, again))
}

// dump is all that an index knows, without its numbers.
func dump(t testing.TB, ix *Index) map[string]any {
	t.Helper()
	d, err := tryDump(ix)
	must(t, err)
	return d
}

func tryDump(ix *Index) (map[string]any, error) {
	d := map[string]any{}
	err := ix.ReadText(context.Background(), func(m *Model, x *Text) error {
		for n := range m.Notes() {
			d["note "+n.Path] = n.Hash.String() + string(n.Facts) + n.Problem
		}
		for f := range m.Files() {
			d["file "+f.Path] = f.Size
		}
		for what, p := range map[string]*postings{"link": &m.links, "tag": &m.tags, "alias": &m.aliases, "prop": &m.properties} {
			p.each(func(key string, ids []uint32) bool {
				d[what+" "+key] = m.named(ids)
				return true
			})
		}
		paths := m.Paths().Candidates("", "a0", 0, nil)
		d["candidates"], d["files"] = paths, m.Paths().Len()
		view := x.Index.View(func(uint32) bool { return true })
		for i := range 50 {
			word := fmt.Sprintf("word%d", i)
			ids := []uint32{}
			for _, hit := range x.Index.Whole(word, view) {
				ids = append(ids, x.Note(hit.Doc))
			}
			d["text "+word] = m.named(ids)
		}
		return nil
	})
	return d, err
}

func TestTheStatusTellsOnlyWhatMayBeSeen(t *testing.T) {
	h := newHome(t, map[string]string{"open/A.md": "a", "secret/B.md": "\xff\xfe", "secret/C.md": "c"})
	ix := h.ready(quietly)
	s := ix.Status(func(p string) bool { return !strings.HasPrefix(p, "secret/") })
	if s.Done != 2 || s.Total != 2 || len(s.Skipped) != 0 || !s.Counted {
		t.Errorf("status: %+v", s)
	}
	s = ix.Status(nil)
	wants(t, "skipped", []Skipped{{"secret/B.md", vault.NotText}}, s.Skipped)
	if s.Total != 4 || !s.Indexer || !s.Watching || s.Epoch != 1 || s.Compared.IsZero() {
		t.Errorf("status: %+v", s)
	}
	ix.state.set(Building, nil)
	ix.state.expect([]string{"open/A.md", "open/B.md", "secret/B.md"}, map[string]bool{"open/B.md": true, "secret/B.md": true})
	s = ix.Status(func(p string) bool { return !strings.HasPrefix(p, "secret/") })
	if s.Done != 1 || s.Total != 2 {
		t.Errorf("while building: %+v", s)
	}
}

func TestPostings(t *testing.T) {
	p := newPostings()
	r := rand.New(rand.NewPCG(1, 2))
	want := map[string][]uint32{}
	for range 4000 {
		key, id := fmt.Sprint(r.IntN(30)), uint32(r.IntN(20))
		once := key < "2"
		if r.IntN(2) == 0 {
			if p.add([]byte(key), id, once); once && slices.Contains(want[key], id) {
				continue
			}
			want[key] = append(want[key], id)
			slices.Sort(want[key])
		} else {
			p.remove([]byte(key), id, once)
			if i := slices.Index(want[key], id); i >= 0 {
				want[key] = slices.Delete(want[key], i, i+1)
			}
		}
	}
	got := map[string][]uint32{}
	p.each(func(key string, ids []uint32) bool {
		got[key] = slices.Clone(ids)
		return true
	})
	maps.DeleteFunc(want, func(_ string, ids []uint32) bool { return len(ids) == 0 })
	wants(t, "postings", want, got)
}
