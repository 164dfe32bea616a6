//go:build unix

package git

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The work tree as people have it: repositories in it, links, what is no file, and
// what the index is told not to look at.
func TestStatusAloneOfOddTrees(t *testing.T) {
	r := newRepo(t)
	for _, n := range []string{"mode.md", "gone.md", "skip.md", "skip-there.md", "assume.md", "linked/a.md", "ign/tracked.md", "in/side/t.md", "pipe", "empty.md", "vault/a.md", "vault/ign/t.md", "same.md"} {
		r.write(n, n+"\n")
	}
	r.write("empty.md", "")
	r.write(".gitignore", "ign/\n*.tmp\n")
	r.git("add", "-f", "ign", "vault/ign")
	r.commit("first")
	r.git("update-index", "--skip-worktree", "skip.md", "skip-there.md")
	r.git("update-index", "--assume-unchanged", "assume.md")
	r.remove("skip.md")
	r.write("skip-there.md", "changed\n")
	r.write("assume.md", "changed, too\n")
	r.must(os.Chmod(filepath.Join(r.dir, "mode.md"), 0o755))
	r.remove("gone.md")
	r.remove("linked/a.md")
	r.remove("linked")
	r.must(os.Symlink("vault", filepath.Join(r.dir, "linked")))
	r.must(os.Symlink("nowhere", filepath.Join(r.dir, "dangling")))
	r.write("ign/other.md", "x\n")
	r.write("ign/tracked.md", "changed\n")
	r.write("vault/ign/u.md", "x\n")
	r.write("vault/new.md", "x\n")
	r.write("x.tmp", "x\n")
	r.remove("pipe")
	r.must(syscall.Mkfifo(filepath.Join(r.dir, "pipe"), 0o600))
	r.must(syscall.Mkfifo(filepath.Join(r.dir, "pipe2"), 0o600))
	r.write("empty.md", "no more\n")
	r.write("same.md", "same.md\n")
	r.git("init", "-q", "nested")
	r.write("nested/n.md", "n\n")
	r.git("init", "-q", "nested/deeper")
	r.git("init", "-q", "in")
	r.write("in/u.md", "u\n")
	r.write("broken/.git/x", "")
	r.write("broken/u.md", "u\n")
	r.write("file/.git", "gitdir: ../nowhere\n")
	r.write("file/u.md", "u\n")
	r.write("intent.md", "x\n")
	r.write("intent-gone.md", "x\n")
	r.git("add", "-N", "intent.md", "intent-gone.md")
	r.remove("intent-gone.md")
	r.must(os.Mkdir(filepath.Join(r.dir, "nothing"), 0o755))
	r.must(os.Symlink("../.gitignore", filepath.Join(r.dir, "vault", ".gitignore")))
	r.write("vault/y.md", "x\n")
	r.write("../all", "*\n")
	r.must(os.Symlink(filepath.Join(r.dir, "..", "all"), filepath.Join(r.dir, "in", ".gitignore")))
	check := func(sub string) {
		t.Helper()
		s, err := r.changer(sub, noProgram).Status(t.Context())
		r.must(err)
		var paths []string
		if sub != "" {
			paths = []string{sub}
		}
		if diff := cmp.Diff(r.short(paths...), s.short()); diff != "" {
			t.Errorf("%q: %s", sub, diff)
		}
	}
	for _, sub := range []string{"", "vault", "vault/ign"} {
		check(sub)
	}
	r.git("config", "core.fileMode", "false")
	r.git("config", "core.symlinks", "false")
	check("")
	r.git("config", "core.sparseCheckout", "true")
	check("")
}

// Conflicts of every kind have their names, and are resolved by staging.
func TestConflictsAlone(t *testing.T) {
	r := newRepo(t)
	for _, n := range []string{"both.md", "we.md", "they.md", "link"} {
		r.write(n, "base of "+n+"\n")
	}
	r.commit("base")
	r.git("checkout", "-q", "-b", "side")
	r.write("both.md", "side\n")
	r.write("we.md", "side\n")
	r.write("added.md", "side\n")
	r.remove("they.md")
	r.commit("side")
	r.git("checkout", "-q", "main")
	r.write("both.md", "main\n")
	r.write("they.md", "main\n")
	r.write("added.md", "main\n")
	r.remove("we.md")
	r.commit("main")
	if _, err := r.try("merge", "side"); err == nil {
		t.Fatal("there is no conflict")
	}
	c := r.changer("", noProgram)
	s, err := c.Status(t.Context())
	r.must(err)
	if diff := cmp.Diff(r.short(), s.short()); diff != "" {
		t.Error(diff)
	}
	r.whole()
}

// A branch may have any place among the others.
func TestCommitAloneOnAnyBranch(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(r *repo)
		kind string
	}{
		{"packed", func(r *repo) { r.git("pack-refs", "--all") }, ""},
		{"unborn, in a folder", func(r *repo) { r.git("checkout", "-q", "--orphan", "a/b/c") }, ""},
		{"unborn, over empty folders", func(r *repo) {
			r.git("checkout", "-q", "--orphan", "x")
			r.must(os.MkdirAll(filepath.Join(r.dir, ".git/refs/heads/x/y"), 0o755))
			r.must(os.MkdirAll(filepath.Join(r.dir, ".git/logs/refs/heads/x/y"), 0o755))
		}, ""},
		{"unborn, beside one that is packed", func(r *repo) {
			r.git("branch", "x")
			r.git("pack-refs", "--all")
			r.git("symbolic-ref", "HEAD", "refs/heads/x/y")
		}, "branch"},
		{"no log", func(r *repo) {
			r.git("config", "core.logAllRefUpdates", "false")
			r.must(os.RemoveAll(filepath.Join(r.dir, ".git/logs")))
		}, ""},
		{"squashed", func(r *repo) {
			r.write(".git/SQUASH_MSG", "x")
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ours, theirs := twins(t, func(r *repo) {
				r.write("a.md", "a\n")
				r.commit("first")
				tt.make(r)
				r.write("a.md", "b\n")
				r.git("add", "a.md")
			})
			_, err := commitNow(t, ours.changer("", noProgram), "x")
			if tt.kind != "" {
				wantKind(t, err, tt.kind)
				ours.whole()
				return
			}
			ours.must(err)
			theirs.git("commit", "-q", "-m", "x")
			if diff := cmp.Diff(theirs.state(), ours.state()); diff != "" {
				t.Error(diff)
			}
			ours.whole()
		})
	}
}

// A file that changed in the moment in which it was staged is known as changed by git
// itself, although the index is younger now: only the content tells.
func TestRacyFilesStayChangedForGit(t *testing.T) {
	r := newRepo(t)
	r.git("config", "core.trustCtime", "false")
	at := time.Now().Add(-time.Hour)
	when := func(path string) { r.must(os.Chtimes(filepath.Join(r.dir, path), at, at)) }
	r.write("a.md", "one\n")
	r.write("b.md", "b\n")
	when("a.md")
	r.git("add", "a.md")
	r.write("a.md", "two\n")
	when("a.md")
	when(".git/index")
	r.must(r.changer("", noProgram).Stage(t.Context(), []string{"b.md"}))
	if diff := cmp.Diff([]string{"AM a.md", "A. b.md"}, r.short()); diff != "" {
		t.Error(diff)
	}
}

// The branch moves after all was checked: it is seen under its lock.
func TestBranchMovesUnderTheLock(t *testing.T) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	first := r.commit("first")
	other := r.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "other")
	r.write("a.md", "b\n")
	r.git("add", "a.md")
	c := r.changer("", noProgram, func(o *Options) {
		o.at = func(step string) {
			if step == "ref locked" {
				if _, err := r.try("update-ref", "refs/heads/main", other, string(first)); err == nil {
					t.Error("git moves a branch that is locked")
				}
				r.write(".git/refs/heads/main", other+"\n")
			}
		}
	})
	_, err := commitNow(t, c, "x")
	wantKind(t, err, "moved")
	if got := r.git("rev-parse", "HEAD"); got != other {
		t.Errorf("HEAD is at %s", got)
	}
	r.whole()
}
