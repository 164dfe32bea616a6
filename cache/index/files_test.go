package index

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vault-mcp/cache/index/facts"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

// revs are the transactions that wrote the rows of notes.
func revs(t *testing.T, ix *Index) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	read(t, ix, func(m *Model) {
		for _, id := range m.notes.ids {
			found[m.entries[id].path] = m.entries[id].rev
		}
	})
	return found
}

func TestAWarmStartReadsOnlyWhatChanged(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]", "B.md": "b", "C.md": "c"})
	h.age("A.md", "B.md", "C.md", "Start.md")
	ix := h.ready(quietly)
	before := revs(t, ix)
	ix.Close()
	h.write("B.md", "[[X]]")
	must(t, os.Remove(h.path("C.md")))
	h.write("D.md", "[[X]]")
	ix = h.ready(quietly)
	after := revs(t, ix)
	wants(t, "linking", []string{"A.md", "B.md", "D.md"}, linking(t, ix, "X.md"))
	if after["A.md"] != before["A.md"] || after["B.md"] == before["B.md"] || after["C.md"] != 0 {
		t.Errorf("before %v, after %v", before, after)
	}
}

func TestAWriteInTheSameSecondOfTheSameSizeIsFound(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	at := time.Now()
	must(t, os.Chtimes(h.path("A.md"), at, at))
	h.ready(quietly).Close()
	h.write("A.md", "[[Y]]")
	must(t, os.Chtimes(h.path("A.md"), at, at))
	wants(t, "linking", []string{"A.md"}, linking(t, h.ready(quietly), "Y.md"))
}

func TestAWriteWhoseTimeWasRestoredIsFoundByTheSweep(t *testing.T) {
	h := newHome(t, map[string]string{"sub/A.md": "[[X]]"})
	at := h.age("sub/A.md", "Start.md")
	h.ready(quietly).Close()
	h.write("sub/A.md", "[[Y]]")
	must(t, os.Chtimes(h.path("sub/A.md"), at, at))
	ix := h.ready(Options{Sweep: -1, NoWatch: true})
	wants(t, "linking by size and time", []string{"sub/A.md"}, linking(t, ix, "X.md"))
	ix.Close()
	ix = h.ready(Options{Sweep: time.Millisecond, NoWatch: true})
	eventually(t, "the sweep finds it", func() bool { return len(linking(t, ix, "Y.md")) == 1 })
}

func TestWhatCannotBeReadIsNamedAndStopsNothing(t *testing.T) {
	h := newHome(t, map[string]string{
		"Broken.md": "---\na: b: c\n---\n[[X]]", "Nul.md": "a\x00b [[X]]", "Utf16.md": "\xff\xfea\x00", "Empty.md": "",
	})
	big, err := os.Create(h.path("Big.md"))
	must(t, err)
	must(t, big.Truncate(5<<30))
	big.Close()
	must(t, os.Symlink(h.path("Nul.md"), h.path("Link.md")))
	h.write("Locked.md", "[[X]]")
	must(t, os.Chmod(h.path("Locked.md"), 0))
	h.write("dir/In.md", "[[X]]")
	must(t, os.Chmod(h.path("dir"), 0))
	t.Cleanup(func() { os.Chmod(h.path("dir"), 0o755) })
	fifo(t, h.path("Pipe.md"))

	ix := h.ready(quietly)
	s := ix.Status(nil)
	want := []string{"Big.md: it is larger than the 16777216 bytes that are read", "Utf16.md: " + vault.NotText}
	if info, err := os.Lstat(h.path("Pipe.md")); err == nil && !info.Mode().IsRegular() {
		want = slices.Insert(want, 1, "Pipe.md: "+vault.ErrIrregular.Error())
	}
	found := []string{"Broken.md", "Nul.md"}
	if os.Geteuid() == 0 {
		found = append(found, "Locked.md", "dir/In.md")
	} else {
		const denied = ": the operating system does not let the server read it"
		want = slices.Concat(want[:1], []string{"Locked.md" + denied}, want[1:], []string{"dir" + denied})
	}
	var got []string
	for _, p := range s.Skipped {
		got = append(got, p.Path+": "+p.Reason)
	}
	wants(t, "skipped", want, got)
	slices.Sort(found)
	wants(t, "linking", found, linking(t, ix, "X.md"))
	// Both models name all that they do not know whole, in the same words.
	named := append([]string{"Broken.md: its properties are no valid YAML: ", "Nul.md: it holds a NUL character"}, want...)
	slices.Sort(named)
	files, err := FromFiles(t.Context(), ix.vault, nil)
	must(t, err)
	check := func(m *Model) {
		var got []string
		for _, n := range m.Flawed() {
			_, flaw := n.Facts.Flaw()
			got = append(got, n.Path+": "+n.Problem+flaw)
		}
		for _, s := range m.Skipped() {
			got = append(got, s.Path+": "+s.Reason)
		}
		slices.Sort(got)
		if !slices.EqualFunc(named, got, func(want, got string) bool { return strings.HasPrefix(got, want) }) {
			t.Errorf("flawed and skipped: %q, want %q", got, named)
		}
	}
	check(files)
	read(t, ix, check)
	read(t, ix, func(m *Model) {
		n, _ := m.Note("Broken.md")
		if head := n.Facts.Head(); head.State != note.StateInvalid || head.Problem == "" || head.ProblemLine != 2 {
			t.Errorf("broken properties: %+v", head)
		}
		if n, ok := m.Note("Big.md"); !ok || n.Size != 5<<30 || n.Problem == "" || n.Facts != facts.Blob("") {
			t.Errorf("the big note: %+v", n)
		}
		if n, ok := m.Note("Empty.md"); !ok || n.Facts == "" {
			t.Errorf("the empty note: %+v", n)
		}
		for _, p := range []string{"Link.md", "Pipe.md"} {
			if _, ok := m.Note(p); ok {
				t.Errorf("%s is a note", p)
			}
		}
	})
}

func TestChangesByOthersAreSeen(t *testing.T) {
	h := newHome(t, map[string]string{"d/A.md": "[[X]]", "empty/.keep": ""})
	ix := h.ready(quietly)
	see := func(what string, want ...string) {
		t.Helper()
		eventually(t, what, func() bool { return slices.Equal(want, linking(t, ix, "X.md")) })
	}
	h.write("empty/B.md", "[[X]]")
	see("a note in a folder that was empty", "d/A.md", "empty/B.md")
	h.write("d/A.md", "[[Y]]")
	see("a note that was written", "empty/B.md")
	h.write("d/A.md~", "[[X]]")
	must(t, os.Rename(h.path("d/A.md~"), h.path("d/A.md")))
	see("an editor's atomic save", "d/A.md", "empty/B.md")
	h.write("new/deep/er/C.md", "[[X]]")
	see("a tree that was made at once", "d/A.md", "empty/B.md", "new/deep/er/C.md")
	must(t, os.Rename(h.path("new"), h.path("old")))
	see("a tree that moved", "d/A.md", "empty/B.md", "old/deep/er/C.md")
	h.write("old/deep/er/D.md", "[[X]]")
	see("a note in a tree that moved", "d/A.md", "empty/B.md", "old/deep/er/C.md", "old/deep/er/D.md")
	must(t, os.RemoveAll(h.path("old")))
	see("a tree that was removed", "d/A.md", "empty/B.md")
	h.write(".vault-mcp-1-1", "[[X]]")
	must(t, os.Rename(h.path(".vault-mcp-1-1"), h.path("E.md")))
	see("a note that this program wrote", "E.md", "d/A.md", "empty/B.md")
}

func TestAFolderOfAThousandNotesMoves(t *testing.T) {
	h := newHome(t, nil)
	for i := range 1000 {
		h.write(fmt.Sprintf("from/%d/N%d.md", i%7, i), fmt.Sprintf("[[X]] %d", i))
	}
	ix := h.ready(quietly)
	ids := map[string]uint32{}
	read(t, ix, func(m *Model) {
		for n := range m.NotesBelow("from") {
			ids[strings.TrimPrefix(n.Path, "from/")] = n.ID
		}
	})
	must(t, os.Rename(h.path("from"), h.path("to")))
	eventually(t, "all have moved", func() bool {
		all := linking(t, ix, "X.md")
		return len(all) == 1000 && strings.HasPrefix(all[0], "to/")
	})
	kept := 0
	read(t, ix, func(m *Model) {
		for n := range m.NotesBelow("to") {
			if ids[strings.TrimPrefix(n.Path, "to/")] == n.ID {
				kept++
			}
		}
	})
	if kept != 1000 {
		t.Errorf("%d of 1000 notes were known again", kept)
	}
}

func TestLostEventsAndFoldersWithoutEvents(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "a"})
	ix := h.open(Options{Sweep: -1, NoWatch: true})
	eventually(t, "it is ready", func() bool { return ix.Status(nil).Phase == Ready })
	h.write("B.md", "[[X]]")
	eventually(t, "the periodic check finds it", func() bool { return len(linking(t, ix, "X.md")) == 1 })
	if ix.Status(nil).Watching {
		t.Error("it watches")
	}
	ix.Close()

	ix = h.open(quietly)
	eventually(t, "it is ready", func() bool { return ix.Status(nil).Phase == Ready })
	w, err := newWatcher(h.dir)
	must(t, err)
	w.fs.Errors <- overflow
	if b := <-w.out; !b.all {
		t.Error("lost events do not ask for a comparison of all files")
	}
	l := &leader{ix: ix, epoch: ix.Status(nil).Epoch, watcher: w}
	w.limited = "the system's limit of watched folders is reached"
	must(t, l.compare(t.Context()))
	if s := ix.Status(nil); s.Watching || !strings.HasPrefix(s.Warning, "the system's limit") || time.Until(l.next) > polledMost {
		t.Errorf("at the limit of watches: %+v", s)
	}
	if l.watcher != nil {
		t.Error("it still watches")
	}
}

func TestManyEventsAreOneComparison(t *testing.T) {
	dir := t.TempDir()
	w, err := newWatcher(dir)
	must(t, err)
	defer w.close()
	w.add("")
	for i := range maxEvents + 10 {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600))
	}
	seen := 0
	for {
		b := <-w.out
		if seen += len(b.paths); b.all || seen > maxEvents {
			break
		}
	}
}

func TestAVaultThatIsGoneLosesNoNotes(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	h.age("A.md", "Start.md")
	ix := h.ready(Options{Sweep: -1, NoWatch: true})
	before := revs(t, ix)
	away := t.TempDir()
	for _, p := range []string{"A.md", "Start.md"} {
		must(t, os.Rename(h.path(p), filepath.Join(away, p)))
	}
	eventually(t, "it says so", func() bool { return ix.Status(nil).Phase == Degraded })
	if s := ix.Status(nil); s.Reason != "the vault's folder cannot be read, or is empty" {
		t.Errorf("reason: %q", s.Reason)
	}
	for _, p := range []string{"A.md", "Start.md"} {
		must(t, os.Rename(filepath.Join(away, p), h.path(p)))
	}
	eventually(t, "it is back", func() bool { return ix.Status(nil).Phase == Ready })
	wants(t, "linking", []string{"A.md"}, linking(t, ix, "X.md"))
	wants(t, "rows", before, revs(t, ix))
}

// A note that is made whole, or goes, is named no more.
func TestWhatIsFlawedIsFollowed(t *testing.T) {
	h := newHome(t, map[string]string{"a.md": "---\na: [\n---\n", "b.md": "\xff", "c.md": "c"})
	ix := h.ready(quietly)
	flawed := func() (paths []string) {
		read(t, ix, func(m *Model) {
			for _, n := range m.Flawed() {
				paths = append(paths, n.Path)
			}
		})
		return paths
	}
	wants(t, "at first", []string{"a.md", "b.md"}, flawed())
	h.write("a.md", "a")
	h.write("c.md", "c\x00")
	must(t, os.Remove(h.path("b.md")))
	must(t, ix.Changed(t.Context(), []string{"a.md", "b.md", "c.md"}))
	wants(t, "later", []string{"c.md"}, flawed())
	ix.Close()
	ix = h.ready(quietly)
	wants(t, "after a warm start", []string{"c.md"}, flawed())
}
