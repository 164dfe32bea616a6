package git

import (
	"crypto/sha1"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// An index is written as it was read: by git of every version and with every flag.
func TestIndexIsWrittenAsRead(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		r := newRepo(t)
		r.write("a.md", "a\n")
		for _, n := range []string{"d/e/f.md", "d/e2.md", "d2/x.md", strings.Repeat(strings.Repeat("long", 50)+"/", 4) + "x.md"} {
			r.write(n, n)
		}
		r.commit("first")
		r.write("new.md", "n\n")
		r.git("add", "-N", "new.md")
		r.git("update-index", "--skip-worktree", "a.md")
		r.git("update-index", "--assume-unchanged", "d/e2.md")
		r.git("update-index", "--index-version", version)
		before := r.git("ls-files", "--stage", "--debug", "-t", "-v")
		ix, err := r.open("").Index()
		r.must(err)
		d, err := ix.draft()
		r.must(err)
		r.must(os.WriteFile(filepath.Join(r.dir, ".git/index"), d.bytes(), 0o644))
		if diff := cmp.Diff(before, r.git("ls-files", "--stage", "--debug", "-t", "-v")); diff != "" {
			t.Errorf("version %s: %s", version, diff)
		}
		again, err := r.open("").Index()
		r.must(err)
		if len(ix.trees) == 0 || len(again.trees) != len(ix.trees) || again.version != ix.version {
			t.Errorf("version %s: %d trees became %d, %d", version, len(ix.trees), len(again.trees), again.version)
		}
		r.whole()
	}
}

// The folders of the index stay known but for those that change: git takes them
// for what they are, and commits the right tree.
func TestTreesOfTheIndexStayRight(t *testing.T) {
	ours, theirs := twins(t, func(r *repo) {
		for _, n := range []string{"a/b/c.md", "a/d.md", "e/f.md", "g.md", "h/i/j/k.md"} {
			r.write(n, n)
		}
		r.commit("first")
		r.remove("h/i/j/k.md")
		r.write("a/b/c.md", "changed")
		r.write("new/n.md", "n")
	})
	paths := []string{"a/b/c.md", "h/i/j/k.md", "new/n.md"}
	ours.must(ours.changer("", noProgram).Stage(t.Context(), paths))
	ix, err := ours.open("").Index()
	ours.must(err)
	if _, ok := ix.trees["e/"]; !ok || len(ix.trees) != 1 {
		t.Errorf("known are %v", ix.trees)
	}
	theirs.git(append([]string{"add", "--"}, paths...)...)
	for _, r := range []*repo{ours, theirs} {
		r.git("commit", "-q", "-m", "x")
	}
	if a, b := ours.git("rev-parse", "HEAD"), theirs.git("rev-parse", "HEAD"); a != b {
		t.Errorf("the commit is %s, not %s", a, b)
	}
	ours.whole()
}

func FuzzIndexWrite(f *testing.F) {
	r := newRepo(f)
	r.write("a/b.md", "b\n")
	r.write("a.md", "a\n")
	r.commit("first")
	for _, version := range []string{"2", "4"} {
		r.git("update-index", "--index-version", version)
		b, err := os.ReadFile(filepath.Join(r.dir, ".git/index"))
		r.must(err)
		f.Add(b[:len(b)-20])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha1.Sum(body)
		ix, link, err := parseIndex(append(body[:len(body):len(body)], sum[:]...))
		if err != nil || link != nil {
			return
		}
		d, err := ix.draft()
		if err != nil {
			t.Fatal(err)
		}
		d.smudge(time.Unix(1<<30, 0))
		again, _, err := parseIndex(d.bytes())
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if diff := cmp.Diff(ix.Entries, again.Entries); diff != "" && len(ix.Entries)+len(again.Entries) > 0 {
			t.Error(diff)
		}
		if len(ix.trees) != len(again.trees) || string(ix.undo) != string(again.undo) {
			t.Errorf("trees %v became %v", ix.trees, again.trees)
		}
	})
}
