package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestForeignLockIsLeft(t *testing.T) { bothWays(t, testForeignLockIsLeft) }

func testForeignLockIsLeft(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	lock := filepath.Join(r.dir, ".git", "index.lock")
	for _, text := range []string{"", "DIRC", marker + "x"} {
		r.must(os.WriteFile(lock, []byte(text), 0o644))
		c := r.changer("", way)
		wantKind(t, c.Stage(t.Context(), []string{"a.md"}), "locked")
		if got, err := os.ReadFile(lock); err != nil || string(got) != text {
			t.Errorf("got %q, %v", got, err)
		}
		s, err := c.Status(t.Context()) // reading needs no lock
		if err != nil || len(s.Paths) != 1 {
			t.Errorf("got %+v, %v", s, err)
		}
	}
	r.must(os.Remove(lock))
	r.whole()
}

// While the index is held git itself refuses, and so does another of ours.
func TestHeldForAll(t *testing.T) { bothWays(t, testHeldForAll) }

func testHeldForAll(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	c := r.changer("", way)
	h, err := c.Hold(t.Context())
	r.must(err)
	if _, err := r.try("add", "a.md"); err == nil || !strings.Contains(err.Error(), "index.lock") {
		t.Errorf("git got %v", err)
	}
	_, err = r.changer("", way).Hold(t.Context())
	wantKind(t, err, "locked")
	h.Release()
	h.Release()
	r.git("add", "a.md")
	r.whole()
}

// On a disk without links the lock is written, and is as exclusive.
func TestLockWithoutLinks(t *testing.T) { bothWays(t, testLockWithoutLinks) }

func testLockWithoutLinks(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	h := &Held{r: r.changer("", way)}
	r.must(h.takeByWriting())
	if !isOurs(h.r.indexLock()) {
		t.Error("it has no marker")
	}
	if err := h.takeByWriting(); !errors.Is(err, os.ErrExist) {
		t.Errorf("taken twice: %v", err)
	}
	if _, err := commitNow(t, h.r, "x"); kindOf(err) != "nothing" {
		t.Errorf("one that was left over is in the way: %v", err)
	}
	r.whole()
}

// A file that changed in the moment in which it was staged is known as changed:
// the index has its size and time, so only the content tells.
func TestRacyFilesStayChanged(t *testing.T) { bothWays(t, testRacyFilesStayChanged) }

func testRacyFilesStayChanged(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	r.write("a.md", "one\n")
	r.write("b.md", "b\n")
	at := "2024-01-01T00:00:00Z"
	when := func(path string) {
		t.Helper()
		if out, err := exec.Command("touch", "-d", at, filepath.Join(r.dir, path)).CombinedOutput(); err != nil {
			t.Skipf("%s: %v", out, err)
		}
	}
	when("a.md")
	r.git("add", "a.md")
	when(".git/index")
	r.write("a.md", "two\n")
	when("a.md")
	c := r.changer("", way)
	r.must(c.Stage(t.Context(), []string{"b.md"}))
	s, err := c.Status(t.Context())
	r.must(err)
	if i := slices.IndexFunc(s.Paths, func(p PathStatus) bool { return p.Path == "a.md" }); i < 0 || s.Paths[i].Work != 'M' {
		t.Errorf("got %+v", s.Paths)
	}
}
