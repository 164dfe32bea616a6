package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/racing"
	"vault-mcp/internal/run"
)

// noProgram is a machine without the git program.
func noProgram(o *Options) {
	o.Programs = run.New(run.Options{Paths: map[string]string{"git": filepath.Join(os.TempDir(), "there is none")}})
}

func TestHasProgram(t *testing.T) {
	r := newRepo(t)
	if !r.changer("").hasProgram() || r.changer("", noProgram).hasProgram() || r.open("").hasProgram() {
		t.Error("it is looked for wrong")
	}
}

// refusedAlone are the kinds of repositories in which nothing is staged alone.
var refusedAlone = map[string]string{
	"autocrlf": "autocrlf", "attributes": "attributes", "sparse": "sparse", "sparse index": "sparse", "split index": "split_index",
}

// What a commit can be made of with no file of the work tree read is committed in
// these too.
func TestCommitAloneOfAnyIndex(t *testing.T) {
	for _, tt := range kinds {
		if refusedAlone[tt.name] == "" {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			ours, theirs := twins(t, func(r *repo) {
				tt.make(r)
				r.git(append([]string{"add", "--"}, tt.paths...)...)
			})
			if _, err := commitNow(t, ours.changer("", noProgram), "x"); err != nil {
				t.Fatal(err)
			}
			theirs.git("commit", "-q", "-m", "x")
			if diff := cmp.Diff(theirs.state(), ours.state()); diff != "" {
				t.Error(diff)
			}
			ours.whole()
		})
	}
}

// Each thing that git would do otherwise is refused by name, and nothing is changed.
func TestAloneRefusesByName(t *testing.T) {
	racing.Skips(t)
	t.Parallel()
	config := func(key, value string) func(r *repo) {
		return func(r *repo) { r.git("config", key, value) }
	}
	home := func(text string) func(r *repo) {
		return func(r *repo) { r.write("../home/.gitconfig", text) }
	}
	crlf := func(path string) func(r *repo) {
		return func(r *repo) { r.write("n.md", "one\r\n"); r.write(path, "*.md text\n") }
	}
	both := func(fs ...func(r *repo)) func(r *repo) {
		return func(r *repo) {
			for _, f := range fs {
				f(r)
			}
		}
	}
	const user = "[user]\n\tname = Ada\n\temail = a@b\n"
	for _, tt := range []struct {
		name          string
		make          func(r *repo)
		opts          func(o *Options)
		stage, commit string
	}{
		{name: "nothing", make: func(r *repo) {}},
		{name: "autocrlf", make: both(config("core.autocrlf", "input"), func(r *repo) { r.write("n.md", "x\r\n") }), stage: "autocrlf"},
		{name: "autocrlf, only line feeds", make: config("core.autocrlf", "true")},
		{name: "safecrlf", make: both(config("core.autocrlf", "true"), config("core.safecrlf", "true")), stage: "autocrlf"},
		{name: "text in .gitattributes", make: crlf(".gitattributes"), stage: "attributes"},
		{name: "text in info/attributes", make: crlf(".git/info/attributes"), stage: "attributes"},
		{name: "text in core.attributesFile", make: both(config("core.attributesFile", "~/attributes"), crlf("../home/attributes")), stage: "attributes"},
		{name: "text in XDG", make: crlf("../home/.config/git/attributes"), stage: "attributes"},
		{name: "text, but not of this file", make: func(r *repo) {
			r.write("n.md", "x\r\n")
			r.write(".gitattributes", "* text=auto\n[!a-m].md -text\n*.txt filter=x\n")
		}},
		{name: "filter", make: func(r *repo) { r.write(".gitattributes", "n* filter=lfs\n") }, stage: "attributes"},
		{name: "filter by macro", make: func(r *repo) { r.write(".gitattributes", "[attr]lfs filter=lfs -text\nn* lfs\n") }, stage: "attributes"},
		{name: "ident", make: func(r *repo) { r.write(".gitattributes", "\"n.md\" ident\n") }, stage: "attributes"},
		{name: "encoding", make: func(r *repo) { r.write(".gitattributes", "/n.md working-tree-encoding=UTF-16\n") }, stage: "attributes"},
		{name: "attributes only in the index", make: func(r *repo) {
			r.write(".gitattributes", "*.md filter=x\n")
			r.git("add", ".gitattributes")
			r.remove(".gitattributes")
		}, stage: "attributes"},
		{name: "shared", make: config("core.sharedRepository", "group"), stage: "shared", commit: "shared"},
		{name: "hooks", make: func(r *repo) {}, opts: hooksOn, commit: "hooks"},
		{name: "signing", make: config("commit.gpgSign", "true"), commit: "signing"},
		{name: "signing at home", make: home(user + "[commit]\n\tgpgsign\n"), commit: "signing"},
		{name: "identity", make: home(""), commit: "identity"},
		{name: "identity of blanks", make: home("[user]\n\tname = \" <>, \"\n\temail = x\n"), commit: "identity"},
		{name: "identity by condition", make: both(home(user+"[includeIf \"gitdir:~/\"]\n\tpath = other\n"), func(r *repo) {
			r.write("../home/other", "[user]\n\tname = Other\n")
		}), commit: "identity"},
		{name: "identity by include", make: both(home("[include]\n\tpath = ~/other\n"), func(r *repo) { r.write("../home/other", user) })},
		{name: "line ends by condition", make: both(home(user+"[includeIf \"onbranch:x\"]\n\tpath = other\n"), func(r *repo) {
			r.write("../home/other", "[core]\n\tautocrlf = true\n")
		}), stage: "include", commit: "include"},
		{name: "locked", make: func(r *repo) { r.write(".git/index.lock", "") }, stage: "locked", commit: "locked"},
		{name: "locked branch", make: func(r *repo) { r.write(".git/refs/heads/main.lock", "") }, commit: "locked"},
		{name: "branch of a branch", make: func(r *repo) {
			r.git("branch", "other")
			r.write(".git/refs/heads/main", "ref: refs/heads/other\n")
		}, commit: "branch"},
		{name: "split index", make: func(r *repo) { r.git("update-index", "--split-index") }, stage: "split_index"},
		{name: "sparse", make: config("core.sparseCheckout", "true"), stage: "sparse"},
		{name: "skip-worktree", make: func(r *repo) { r.git("update-index", "--skip-worktree", "a.md") }},
		{name: "assume-unchanged", make: func(r *repo) { r.git("update-index", "--assume-unchanged", "a.md") }},
		{name: "fsmonitor and untracked cache", make: func(r *repo) { r.git("update-index", "--force-untracked-cache") }},
		{name: "bad list of ignored files", make: func(r *repo) {
			r.must(os.Remove(filepath.Join(r.dir, ".git/info/exclude")))
			r.must(os.Symlink("/dev/null", filepath.Join(r.dir, ".git/info/exclude")))
		}, stage: "excludes"},
		{name: "case", make: both(config("core.ignoreCase", "true"), func(r *repo) { r.write("N.md", "N\n"); r.git("-c", "core.ignoreCase=false", "add", "N.md") }), stage: "case"},
		{name: "date", make: func(r *repo) {}, opts: func(o *Options) {
			env := o.Env
			o.Env = func(name string) string {
				if name == "GIT_AUTHOR_DATE" {
					return "yesterday"
				}
				return env(name)
			}
		}, commit: "identity"},
		{name: "replaced", make: func(r *repo) {
			r.git("replace", "HEAD", r.git("commit-tree", "HEAD^{tree}", "-m", "other"))
		}, commit: "replace"},
		{name: "missing content", make: func(r *repo) {
			id := r.git("rev-parse", ":staged.md")
			r.must(os.Remove(filepath.Join(r.dir, ".git/objects", id[:2], id[2:])))
		}, commit: "missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ours, theirs := twins(t, func(r *repo) {
				r.write("a.md", "a\n")
				r.commit("first")
				r.write("staged.md", "staged\n")
				r.git("add", "staged.md")
				r.write("n.md", "n\n")
				tt.make(r)
			})
			opts := []func(*Options){noProgram}
			if tt.opts != nil {
				opts = append(opts, tt.opts)
			}
			c := ours.changer("", opts...)
			files := tracked(ours)
			for _, try := range []struct {
				kind string
				err  error
			}{{tt.commit, second(commitNow(t, c, "x"))}, {tt.stage, c.Stage(t.Context(), []string{"n.md"})}} {
				if try.kind != "" {
					wantKind(t, try.err, try.kind)
				} else if try.err != nil {
					t.Error(try.err)
				}
			}
			if tt.commit != "" && tt.stage != "" {
				if diff := cmp.Diff(files, tracked(ours)); diff != "" {
					t.Errorf("changed: %s", diff)
				}
			}
			for name, lock := range map[string]string{"locked": "index.lock", "locked branch": "refs/heads/main.lock"} {
				if _, err := os.Stat(filepath.Join(ours.dir, ".git", lock)); tt.name == name && err != nil {
					t.Errorf("the lock of somebody else is gone: %v", err)
				}
			}
			if tt.name == "missing content" || tt.name == "locked" {
				return
			}
			if tt.commit == "" {
				theirs.clock = 10_000
				theirs.git("commit", "-q", "-m", "x")
			}
			if tt.stage == "" {
				theirs.git("add", "n.md")
			}
			if tt.name != "locked branch" && tt.name != "branch of a branch" {
				if diff := cmp.Diff(theirs.state()+theirs.git("ls-files", "-v"), ours.state()+ours.git("ls-files", "-v")); diff != "" {
					t.Error(diff)
				}
				ours.whole()
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// tracked is what the git folder holds of the index and the refs.
func tracked(r *repo) string {
	r.t.Helper()
	var b strings.Builder
	for _, name := range []string{"index", "HEAD", "refs/heads/main", "logs/HEAD", "packed-refs"} {
		text, err := os.ReadFile(filepath.Join(r.dir, ".git", name))
		if err != nil && !os.IsNotExist(err) {
			r.t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}

// bothWays runs a test with the git program and without it.
func bothWays(t *testing.T, test func(t *testing.T, way func(*Options))) {
	t.Run("with the program", func(t *testing.T) { test(t, func(*Options) {}) })
	t.Run("alone", func(t *testing.T) { test(t, noProgram) })
}
