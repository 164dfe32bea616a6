package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/racing"
	"vault-mcp/internal/run"
)

// changer is r opened for a vault in its folder sub, with the git program and
// the environment of r, which stands still from here on.
func (r *repo) changer(sub string, edit ...func(*Options)) *Repo {
	r.t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		r.t.Fatal(err)
	}
	vars := map[string]string{}
	for _, v := range r.env() {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	o := Options{
		Programs: run.New(run.Options{Paths: map[string]string{"git": program}, Vaults: []string{filepath.Join(r.dir, sub)}}),
		Env:      func(name string) string { return vars[name] },
	}
	for _, e := range edit {
		e(&o)
	}
	got, err := Open(filepath.Join(r.dir, sub), o)
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func hooksOn(o *Options) { o.Hooks = true }

// twins are two repositories that were made in the same way. The commits that
// come next in both have the same dates.
func twins(t *testing.T, make func(r *repo)) (ours, theirs *repo) {
	t.Helper()
	both := []*repo{newRepo(t), newRepo(t)}
	for _, r := range both {
		make(r)
		r.clock = 10_000
	}
	return both[0], both[1]
}

// state is all of a repository that a change may touch.
func (r *repo) state() string {
	r.t.Helper()
	clock := r.clock
	defer func() { r.clock = clock }()
	head, _ := r.try("rev-parse", "HEAD")
	branch, _ := r.try("symbolic-ref", "-q", "HEAD")
	log, _ := r.try("log", "-g", "--format=%H %gd %gs %cI")
	return strings.Join([]string{
		"status", strings.ReplaceAll(r.git("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--ignore-submodules=dirty"), "\x00", "\n"),
		"index", r.git("ls-files", "--stage", "-t"),
		"head", head + branch, "log", log,
	}, "\n")
}

// whole fails if anything in the repository is broken, or a lock is left.
func (r *repo) whole() {
	r.t.Helper()
	r.git("fsck", "--strict", "--no-dangling")
	for _, dir := range []string{r.git("rev-parse", "--absolute-git-dir"), r.git("rev-parse", "--path-format=absolute", "--git-common-dir")} {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if name := filepath.Base(path); err == nil && (strings.HasPrefix(name, private) || strings.HasSuffix(name, ".lock") && name != ours) {
				r.t.Errorf("left behind: %s", path)
			}
			return nil
		})
	}
}

// kindOf is the kind of a refusal, or "" for another error or none.
func kindOf(err error) string {
	if e, ok := errors.AsType[*RefusedError](err); ok {
		return e.Kind
	}
	return ""
}

func wantKind(t *testing.T, err error, kind string) {
	t.Helper()
	if kindOf(err) != kind || err == nil {
		t.Errorf("got %v, want a refusal of kind %s", err, kind)
	}
}

// commitNow holds the index and commits.
func commitNow(t *testing.T, r *Repo, message string) (Committed, error) {
	t.Helper()
	h, err := r.Hold(t.Context())
	if err != nil {
		return Committed{}, err
	}
	return h.Commit(t.Context(), message, func(tree, parent, commit ID) error { return nil })
}

func executable(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		t.Fatal(err)
	}
}

func (r *repo) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) remove(path string) { r.must(os.Remove(filepath.Join(r.dir, path))) }

// kinds of repositories and what is to be staged in them.
var kinds = []struct {
	name  string
	make  func(r *repo)
	paths []string
}{
	{"unborn", func(r *repo) { r.write("a.md", "a\n"); r.write("b/c.md", "c\n") }, []string{"a.md", "b/c.md"}},
	{"changed, new and gone", func(r *repo) {
		r.write("a.md", "a\n")
		r.write("gone.md", "gone\n")
		r.write("stays.md", "x\n")
		r.commit("first")
		r.write("a.md", "aa\n")
		r.write("new.md", "n\n")
		r.write("stays.md", "not staged\n")
		r.remove("gone.md")
	}, []string{"a.md", "gone.md", "new.md"}},
	{"mode", func(r *repo) {
		r.write("a.md", "a\n")
		r.commit("first")
		r.must(os.Chmod(filepath.Join(r.dir, "a.md"), 0o755))
	}, []string{"a.md"}},
	{"fileMode off", func(r *repo) {
		r.write("a.md", "a\n")
		r.commit("first")
		r.git("config", "core.fileMode", "false")
		r.must(os.Chmod(filepath.Join(r.dir, "a.md"), 0o755))
		r.write("a.md", "b\n")
	}, []string{"a.md"}},
	{"autocrlf", func(r *repo) {
		r.git("config", "core.autocrlf", "true")
		r.write("a.md", "one\r\ntwo\r\n")
	}, []string{"a.md"}},
	{"attributes", func(r *repo) {
		r.git("config", "filter.shout.clean", "tr a-z A-Z")
		r.write(".gitattributes", "*.txt text eol=crlf\n*.loud filter=shout\n*.u16 text working-tree-encoding=UTF-16LE\n")
		r.write("a.txt", "one\r\ntwo\r\n")
		r.write("b.loud", "quiet\n")
		r.write("c.u16", "h\x00i\x00\n\x00")
	}, []string{".gitattributes", "a.txt", "b.loud", "c.u16"}},
	{"intent to add", func(r *repo) {
		r.write("a.md", "a\n")
		r.commit("first")
		r.write("n.md", "n\n")
		r.write("m.md", "m\n")
		r.git("add", "-N", "n.md", "m.md")
		r.write("a.md", "b\n")
	}, []string{"n.md", "a.md"}},
	{"names", func(r *repo) {
		for _, n := range []string{"é.md", "e\u0301.md", "tab\there.md", "[x] *?.md", ":(top)a.md", "-n.md", "日本/ノート.md", "\"q\".md", "line\nend.md"} {
			r.write(n, n)
		}
	}, []string{"é.md", "e\u0301.md", "tab\there.md", "[x] *?.md", ":(top)a.md", "-n.md", "日本/ノート.md", "\"q\".md", "line\nend.md"}},
	{"a file for a folder and back", func(r *repo) {
		r.write("d/f.md", "f\n")
		r.write("e", "e\n")
		r.commit("first")
		r.remove("d/f.md")
		r.remove("d")
		r.write("d", "file\n")
		r.remove("e")
		r.write("e/g.md", "g\n")
	}, []string{"d", "d/f.md", "e", "e/g.md"}},
	{"a link", func(r *repo) {
		r.write("a.md", "a\n")
		r.commit("first")
		r.remove("a.md")
		r.must(os.Symlink("elsewhere", filepath.Join(r.dir, "a.md")))
	}, []string{"a.md"}},
	{"sparse", func(r *repo) {
		r.write("in/a.md", "a\n")
		r.write("out/b.md", "b\n")
		r.commit("first")
		r.git("sparse-checkout", "set", "in")
		r.write("in/a.md", "aa\n")
		r.write("in/n.md", "n\n")
	}, []string{"in/a.md", "in/n.md"}},
	{"sparse index", func(r *repo) {
		r.write("in/a.md", "a\n")
		r.write("out/b.md", "b\n")
		r.commit("first")
		r.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
		r.write("in/a.md", "aa\n")
	}, []string{"in/a.md"}},
	{"split index", func(r *repo) {
		r.write("a.md", "a\n")
		r.write("b.md", "b\n")
		r.commit("first")
		r.git("update-index", "--split-index")
		r.write("b.md", "bb\n")
		r.write("n.md", "n\n")
		r.git("add", "n.md")
	}, []string{"b.md"}},
	{"ten thousand files", func(r *repo) {
		for i := range 10_000 {
			r.write(fmt.Sprintf("Folder %02d/Note %05d.md", i%40, i), fmt.Sprintf("# Note %d\n", i))
		}
		r.commit("first")
		r.write("Folder 07/Note 00007.md", "changed\n")
		r.remove("Folder 08/Note 00008.md")
		r.write("Folder 09/New.md", "new\n")
	}, []string{"Folder 07/Note 00007.md", "Folder 08/Note 00008.md", "Folder 09/New.md"}},
	{"index v4", func(r *repo) {
		r.git("config", "index.version", "4")
		r.write("a.md", "a\n")
		r.commit("first")
		r.write("ab.md", "b\n")
	}, []string{"ab.md"}},
	{"packed and detached", func(r *repo) {
		r.write("a.md", "a\n")
		r.commit("first")
		r.git("checkout", "-q", "--detach")
		r.git("pack-refs", "--all")
		r.write("a.md", "b\n")
	}, []string{"a.md"}},
	{"beside a submodule", func(r *repo) {
		other := &repo{t: r.t, dir: filepath.Join(filepath.Dir(r.dir), "other"), home: r.home}
		other.write("x.md", "x\n")
		other.git("init", "-q", "-b", "main")
		other.commit("other")
		r.git("submodule", "--quiet", "add", other.dir, "sub")
		r.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ../other\n")
		r.commit("first")
		r.write("sub/y.md", "y\n")
		r.write("a.md", "a\n")
	}, []string{"a.md"}},
}

// What is staged and committed is what git itself makes of it in a twin; without
// the program too, or it is refused with nothing changed.
func TestStageAndCommitAsGitDoes(t *testing.T) {
	t.Parallel()
	bothWays(t, testStageAndCommitAsGitDoes)
}

func testStageAndCommitAsGitDoes(t *testing.T, way func(*Options)) {
	const message = "  Two  words \n\n\n\ntext \t\n# no comment\n\n"
	for i, tt := range kinds {
		if racing.Thins(i) {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && tt.name == "names" {
				t.Skip("these names are none on Windows")
			}
			ours, theirs := twins(t, tt.make)
			c := ours.changer("", way)
			same := func(what string) {
				t.Helper()
				if diff := cmp.Diff(theirs.state(), ours.state()); diff != "" {
					t.Errorf("%s otherwise: %s", what, diff)
				}
				s, err := c.Status(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(theirs.short(), s.short()); diff != "" {
					t.Errorf("status after it was %s: %s", what, diff)
				}
				ours.whole()
			}
			same("made")
			if kind := refusedAlone[tt.name]; kind != "" && !c.hasProgram() {
				wantKind(t, c.Stage(t.Context(), tt.paths), kind)
				same("refused")
				return
			}
			ours.must(c.Stage(t.Context(), tt.paths))
			theirs.git(append([]string{"--literal-pathspecs", "add", "--"}, tt.paths...)...)
			same("staged")
			some := tt.paths[:1]
			if tt.name == "a file for a folder and back" {
				some = tt.paths
			}
			ours.must(c.Unstage(t.Context(), some))
			theirs.git(append([]string{"--literal-pathspecs", "reset", "-q", "--"}, some...)...)
			same("unstaged")
			ours.must(c.Stage(t.Context(), some))
			theirs.git(append([]string{"--literal-pathspecs", "add", "--"}, some...)...)
			ours.clock, theirs.clock = 20_000, 20_000
			c = ours.changer("", way)
			made, err := commitNow(t, c, message)
			if err != nil {
				t.Fatal(err)
			}
			theirs.git("commit", "-q", "--cleanup=whitespace", "-m", message)
			same("committed")
			for _, ref := range []string{"HEAD", "main"} {
				logs := func(r *repo) string {
					out, _ := r.try("log", "-g", "--format=%H %gn %ge %gd %gs", "--date=raw", ref)
					return out
				}
				if diff := cmp.Diff(logs(theirs), logs(ours)); diff != "" {
					t.Errorf("the log of %s: %s", ref, diff)
				}
			}
			if string(made.ID) != theirs.git("rev-parse", "HEAD") || string(made.Tree) != theirs.git("rev-parse", "HEAD^{tree}") || made.Subject != "  Two  words" {
				t.Errorf("got %+v", made)
			}
			_, err = commitNow(t, c, "again")
			if left := theirs.git("diff", "--cached", "--name-only"); left == "" {
				wantKind(t, err, "nothing")
			}
		})
	}
}

// Where nothing can be staged, or more than was asked for would be, nothing is.
func TestStageRefuses(t *testing.T) { bothWays(t, testStageRefuses) }

func testStageRefuses(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	r.write(".gitignore", "*.log\n")
	r.write("folder/a.md", "a\n")
	r.write("folder/b.md", "b\n")
	r.write("was/c.md", "c\n")
	r.commit("first")
	r.write("folder/a.md", "aa\n")
	r.write("x.log", "x\n")
	r.write("ex.md", "x\n")
	r.write("home.md", "x\n")
	r.must(os.WriteFile(filepath.Join(r.dir, ".git/info/exclude"), []byte("ex.md\n"), 0o644))
	r.write("../home/ignore", "home.md\n")
	r.git("config", "core.excludesFile", filepath.Join(r.home, "ignore"))
	r.remove("was/c.md")
	r.remove("was")
	r.write("was", "a file\n")
	r.must(os.Symlink("folder", filepath.Join(r.dir, "link")))
	r.git("init", "-q", "nested")
	r.write("nested/n.md", "n\n")
	r.write("ok.md", "ok\n")
	before := r.state()
	c := r.changer("", way)
	for _, tt := range []struct{ path, kind string }{
		{"x.log", "ignored"}, {"ex.md", "ignored"}, {"home.md", "ignored"}, {"folder", "folder"}, {"was", "folder"},
		{"link/a.md", "link"}, {"nested/n.md", "submodule"}, {"nested", "folder"}, {"none.md", "absent"}, {"folder/none.md", "absent"},
		{"../home/ignore", "path"}, {".git/config", "path"}, {"folder/.GIT/config", "path"}, {"", "path"}, {".", "path"},
		{"folder/", "path"}, {"/etc/passwd", "path"}, {"a\x00b", "path"}, {"folder/../ok.md", "path"},
	} {
		wantKind(t, c.Stage(t.Context(), []string{"ok.md", tt.path}), tt.kind)
		if diff := cmp.Diff(before, r.state()); diff != "" {
			t.Fatalf("%s: %s", tt.path, diff)
		}
	}
	wantKind(t, c.Stage(t.Context(), nil), "nothing")
	wantKind(t, c.Unstage(t.Context(), []string{"none.md"}), "absent")
	r.git("add", "folder/a.md")
	wantKind(t, c.Unstage(t.Context(), []string{"folder"}), "folder")
	r.whole()
}

func conflicted(r *repo) {
	r.write("a.md", "base\n")
	r.write("b.md", "b\n")
	r.commit("base")
	r.git("checkout", "-q", "-b", "side")
	r.write("a.md", "side\n")
	r.commit("side")
	r.git("checkout", "-q", "main")
	r.write("a.md", "main\n")
	r.commit("main")
}

func TestConflictsAndWhatIsInProgress(t *testing.T) { bothWays(t, testConflictsAndWhatIsInProgress) }

func testConflictsAndWhatIsInProgress(t *testing.T, way func(*Options)) {
	for _, tt := range []struct {
		kind string
		args []string
	}{
		{"merge", []string{"merge", "side"}}, {"rebase", []string{"rebase", "side"}},
		{"cherry-pick", []string{"cherry-pick", "side"}}, {"revert", []string{"revert", "HEAD~1"}},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			r := newRepo(t)
			conflicted(r)
			if tt.kind == "revert" {
				r.write("a.md", "later\n")
				r.commit("later")
			}
			if _, err := r.try(tt.args...); err == nil {
				t.Fatal("there is no conflict")
			}
			c := r.changer("", way)
			wantKind(t, c.Stage(t.Context(), []string{"a.md"}), "conflict")
			wantKind(t, c.Unstage(t.Context(), []string{"a.md"}), "conflict")
			s, err := c.Status(t.Context())
			if err != nil || len(s.Paths) != 1 || s.Paths[0].Conflict != "both modified" {
				t.Errorf("got %+v, %v", s, err)
			}
			before := r.state()
			_, err = commitNow(t, c, "x")
			wantKind(t, err, tt.kind)
			if diff := cmp.Diff(before, r.state()); diff != "" {
				t.Error(diff)
			}
			r.write("a.md", "resolved\n")
			r.git("add", "a.md")
			_, err = commitNow(t, c, "x")
			wantKind(t, err, tt.kind)
			r.whole()
		})
	}
	t.Run("after reset of MERGE_HEAD", func(t *testing.T) {
		r := newRepo(t)
		conflicted(r)
		_, _ = r.try("merge", "side")
		r.remove(".git/MERGE_HEAD")
		_, err := commitNow(t, r.changer("", way), "x")
		wantKind(t, err, "conflict")
	})
}

func TestCommitRefuses(t *testing.T) { bothWays(t, testCommitRefuses) }

func testCommitRefuses(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	c := r.changer("", way)
	_, err := commitNow(t, c, "x")
	wantKind(t, err, "nothing")
	r.write("a.md", "a\n")
	r.git("add", "-N", "a.md")
	_, err = commitNow(t, c, "x")
	wantKind(t, err, "nothing")
	r.commit("first")
	_, err = commitNow(t, c, "x")
	wantKind(t, err, "nothing")
	r.write("a.md", "b\n")
	r.git("add", "a.md")
	before := r.state()
	for _, m := range []string{"", " \n\t\n", "a\x00b"} {
		_, err = commitNow(t, c, m)
		wantKind(t, err, "message")
	}
	h, err := c.Hold(t.Context())
	r.must(err)
	no := errors.New("no")
	if _, err := h.Commit(t.Context(), "x", func(tree, parent, commit ID) error { return no }); err != no {
		t.Errorf("got %v", err)
	}
	r.write("../home/.gitconfig", "[user]\n\tuseConfigOnly = true\n")
	_, err = commitNow(t, r.changer("", way), "x")
	wantKind(t, err, "identity")
	if diff := cmp.Diff(before, r.state()); diff != "" {
		t.Error(diff)
	}
	r.whole()
}

// The branch moves between the approval and the end of the commit: theirs stays.
func TestHeadMovesMeanwhile(t *testing.T) { bothWays(t, testHeadMovesMeanwhile) }

func testHeadMovesMeanwhile(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	r.commit("first")
	r.write("a.md", "b\n")
	r.git("add", "a.md")
	h, err := r.changer("", way).Hold(t.Context())
	r.must(err)
	other := r.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "other")
	_, err = h.Commit(t.Context(), "x", func(tree, parent, commit ID) error {
		r.git("update-ref", "refs/heads/main", other)
		return nil
	})
	wantKind(t, err, "moved")
	if got := r.git("rev-parse", "HEAD"); got != other {
		t.Errorf("HEAD is at %s", got)
	}
	r.whole()
}
