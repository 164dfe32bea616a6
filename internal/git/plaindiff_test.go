package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A diff made alone lists what git lists, and its patch makes the same tree.
func TestDiffAloneAsGitShows(t *testing.T) {
	r := newRepo(t)
	many(r)
	r.write("crlf.txt", "one\n\nno end")
	r.write("new empty.md", "")
	r.git("add", "-N", "new empty.md")
	r.write("was empty", "")
	r.git("add", "was empty")
	r.git("commit", "-q", "-m", "second", "was empty")
	r.write("was empty", "now a line\n")
	alone, program := r.changer("", noProgram), r.changer("")
	check := func(o DiffOptions) *Diff {
		t.Helper()
		got, err := alone.Diff(t.Context(), o, 1<<20)
		r.must(err)
		want, err := program.Diff(t.Context(), o, 1<<20)
		r.must(err)
		for i, f := range want.Files { // what git lists as a rename is two files here
			if f.Status == 'R' {
				t.Fatalf("%d is a rename: %+v", i, f)
			}
		}
		// How lines are paired may be otherwise, and so their counts.
		heads := func(d *Diff) string {
			var b strings.Builder
			for _, f := range d.Files {
				b.WriteString(string(f.Status) + " " + f.Path + "\n")
				for line := range strings.Lines(f.Text) {
					if strings.HasPrefix(line, "@@") {
						break
					}
					b.WriteString(line)
				}
			}
			return b.String()
		}
		if diff := cmp.Diff(heads(want), heads(got)); diff != "" {
			t.Error(diff)
		}
		return got
	}
	// apply makes what a patch makes of a commit.
	apply := func(from ID, d *Diff) string {
		t.Helper()
		var b strings.Builder
		for _, f := range d.Files {
			if !f.Binary {
				b.WriteString(f.Text)
			}
		}
		r.write("../patch", b.String())
		r.write("../index", "")
		index := filepath.Join(r.dir, "..", "index")
		r.must(os.Remove(index))
		with := &repo{t: t, dir: r.dir, home: r.home, extra: []string{"GIT_INDEX_FILE=" + index}}
		with.git("read-tree", string(from))
		with.git("apply", "--cached", filepath.Join(r.dir, "..", "patch"))
		return with.git("ls-files", "--stage")
	}
	first := ID(r.git("rev-parse", "HEAD"))
	unstaged := check(DiffOptions{})
	got := apply(first, unstaged)
	r.git("add", "-u")
	r.git("reset", "-q", "bin")
	if diff := cmp.Diff(r.git("ls-files", "--stage"), got); diff != "" {
		t.Error(diff)
	}
	check(DiffOptions{Staged: true})
	check(DiffOptions{From: first})
	check(DiffOptions{From: first, Paths: []string{"bin", "changed.md"}})
	r.write("changed.md", "changed.md\n"+strings.Repeat("a line of some length\n", 20)) // as it was
	check(DiffOptions{From: first})
	r.git("commit", "-q", "-m", "third")
	third := ID(r.git("rev-parse", "HEAD"))
	if diff := cmp.Diff(r.git("ls-files", "--stage"), apply(first, check(DiffOptions{From: first, To: third}))); diff != "" {
		t.Error(diff)
	}
	check(DiffOptions{From: third, To: first})
}

// What would be shown otherwise than git stores it is refused.
func TestDiffAloneRefuses(t *testing.T) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	r.commit("first")
	r.git("config", "core.autocrlf", "true")
	r.write("a.md", "a\r\nb\r\n")
	_, err := r.changer("", noProgram).Diff(t.Context(), DiffOptions{}, 1<<20)
	wantKind(t, err, "autocrlf")
}
