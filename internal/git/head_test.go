package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// head fails unless Head is what git says.
func (r *repo) head(t *testing.T, sub string) Head {
	t.Helper()
	got, err := r.open(sub).Head()
	if err != nil {
		t.Fatal(err)
	}
	ref, _ := r.try("-C", sub, "symbolic-ref", "-q", "HEAD")
	commit, err := r.try("-C", sub, "rev-parse", "-q", "--verify", "HEAD")
	if err != nil {
		commit = ""
	}
	if got.Ref != trimLine(ref) || string(got.Commit) != trimLine(commit) {
		t.Errorf("%s: %+v; git says %q %q", sub, got, ref, commit)
	}
	return got
}

func trimLine(s string) string { return strings.TrimSuffix(s, "\n") }

func TestHead(t *testing.T) {
	r := newRepo(t)
	if h := r.head(t, "."); h.Ref != "refs/heads/main" || h.Commit != "" {
		t.Errorf("unborn: %+v", h)
	}
	r.write("a.md", "a\n")
	first := r.commit("one")
	if h := r.head(t, "."); h.Commit != first {
		t.Errorf("loose: %+v", h)
	}
	r.git("pack-refs", "--all")
	if h := r.head(t, "."); h.Commit != first {
		t.Errorf("packed: %+v", h)
	}
	r.write("a.md", "b\n")
	if second := r.commit("two"); r.head(t, ".").Commit != second {
		t.Error("a loose ref does not beat the packed one")
	}
	r.git("tag", "-a", "-m", "x", "v1", "main~1")
	r.git("pack-refs", "--all")
	r.git("worktree", "add", "-q", "-b", "side", "../linked", "main~1")
	if h := r.head(t, "../linked"); h.Ref != "refs/heads/side" || h.Commit != first {
		t.Errorf("linked: %+v", h)
	}
	// A folder that git left where a packed ref has its file.
	if err := os.MkdirAll(filepath.Join(r.dir, ".git", "refs", "heads", "main"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.head(t, ".")
	r.git("checkout", "-q", "--detach", "HEAD~1")
	if h := r.head(t, "."); h.Ref != "" || h.Commit != first {
		t.Errorf("detached: %+v", h)
	}
	r.git("checkout", "-q", "--orphan", "feature/ünïcode")
	if h := r.head(t, "."); h.Ref != "refs/heads/feature/ünïcode" || h.Commit != "" {
		t.Errorf("orphan: %+v", h)
	}
	r.git("checkout", "-q", "-f", "main")
	r.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	r.git("symbolic-ref", "HEAD", "refs/heads/alias")
	if h, err := r.open(".").Head(); err != nil || h.Commit == "" {
		t.Errorf("alias: %+v %v", h, err)
	}
	os.Remove(filepath.Join(r.dir, ".git", "HEAD"))
	if err := os.Symlink("refs/heads/main", filepath.Join(r.dir, ".git", "HEAD")); err != nil {
		t.Fatal(err)
	}
	if h := r.head(t, "."); h.Ref != "refs/heads/main" {
		t.Errorf("link: %+v", h)
	}
}

// A ref that cannot be read must never look like a branch without commits.
func TestHeadUnreadable(t *testing.T) {
	for name, harm := range map[string]struct{ file, text string }{
		"HEAD empty":        {"HEAD", ""},
		"HEAD garbage":      {"HEAD", "what\n"},
		"HEAD leads out":    {"HEAD", "ref: refs/../config\n"},
		"HEAD names no ref": {"HEAD", "ref: config\n"},
		"branch empty":      {"refs/heads/main", ""},
		"branch cut":        {"refs/heads/main", "0123456789abcdef\n"},
		"branch in circles": {"refs/heads/main", "ref: refs/heads/main\n"},
		"packed garbage":    {"packed-refs", "<<<<<<< HEAD\n"},
	} {
		r := newRepo(t)
		r.write("a.md", "a\n")
		r.commit("one")
		repo := r.open(".")
		if harm.file == "packed-refs" {
			r.git("pack-refs", "--all")
		}
		if err := os.WriteFile(filepath.Join(r.dir, ".git", harm.file), []byte(harm.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if h, err := repo.Head(); err == nil {
			t.Errorf("%s: %+v", name, h)
		}
	}
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	r := newRepo(t)
	r.write("a.md", "a\n")
	r.commit("one")
	repo := r.open(".")
	if err := os.Chmod(filepath.Join(r.dir, ".git", "refs", "heads", "main"), 0); err != nil {
		t.Fatal(err)
	}
	if h, err := repo.Head(); err == nil {
		t.Errorf("no rights: %+v", h)
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		word string
		args [][]string
	}{
		"merge":       {"merge", [][]string{{"merge", "side"}}},
		"rebase":      {"rebase", [][]string{{"rebase", "side"}}},
		"rebase am":   {"rebase", [][]string{{"rebase", "--apply", "side"}}},
		"cherry-pick": {"cherry-pick", [][]string{{"cherry-pick", "side"}}},
		"cherry-pick stopped and reset": {"cherry-pick", [][]string{{"cherry-pick", "side", "main~1"},
			{"checkout", "-q", "HEAD", "--", "."}, {"commit", "-q", "--allow-empty", "-m", "x"}}},
		"revert": {"revert", [][]string{{"revert", "--no-edit", "HEAD~1"}}},
		"bisect": {"bisect", [][]string{{"bisect", "start"}}},
		"none":   {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.write("a.md", "base\n")
			r.commit("base")
			r.git("checkout", "-q", "-b", "side")
			r.write("a.md", "side\n")
			r.commit("side")
			r.git("checkout", "-q", "main")
			r.write("a.md", "main\n")
			r.commit("main")
			r.write("a.md", "main 2\n")
			r.commit("main 2")
			r.git("worktree", "add", "-q", "--detach", "../linked")
			for _, a := range c.args {
				r.try(a...)
			}
			if got := r.open(".").Busy(); got != c.word {
				t.Errorf("%q", got)
			}
			if got := r.open("../linked").Busy(); got != "" {
				t.Errorf("the other work tree: %q", got)
			}
		})
	}
	t.Run("am", func(t *testing.T) {
		r := newRepo(t)
		r.write("a.md", "base\n")
		r.commit("base")
		r.write("a.md", "other\n")
		r.commit("other")
		r.git("format-patch", "-q", "-1", "-o", "..")
		r.git("reset", "-q", "--hard", "HEAD~1")
		r.write("a.md", "third\n")
		r.commit("third")
		r.try("am", "../0001-other.patch")
		if got := r.open(".").Busy(); got != "am" {
			t.Errorf("%q", got)
		}
	})
}
