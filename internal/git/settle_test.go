package git

import (
	"os"
	"path/filepath"
	"testing"
)

// Whether an intended commit was made is found out later, whatever the person
// did since; and where it cannot be, that is said.
func TestSettle(t *testing.T) { bothWays(t, testSettle) }

func testSettle(t *testing.T, way func(*Options)) {
	start := func(t *testing.T) (r *repo, tree, parent, commit ID) {
		r = newRepo(t)
		r.write("a.md", "a\n")
		parent = r.commit("first")
		r.write("a.md", "b\n")
		r.git("add", "a.md")
		tree = ID(r.git("write-tree"))
		commit = ID(r.git("commit-tree", string(tree), "-p", string(parent), "-m", "x"))
		return r, tree, parent, commit
	}
	done := func(r *repo, commit ID) { r.git("update-ref", "-m", "commit: x", "refs/heads/main", string(commit)) }
	noLog := func(r *repo) {
		r.must(os.RemoveAll(filepath.Join(r.dir, ".git/logs")))
		r.git("config", "core.logAllRefUpdates", "false")
	}
	for _, tt := range []struct {
		name        string
		then        func(r *repo, commit ID)
		done, known bool
	}{
		{"nothing since", func(r *repo, commit ID) {}, false, true},
		{"nothing since, no log", func(r *repo, commit ID) { noLog(r) }, false, true},
		{"another commit", func(r *repo, commit ID) { r.git("commit", "-q", "-m", "other", "--allow-empty") }, false, true},
		{"another commit, no log", func(r *repo, commit ID) { noLog(r); r.write("z", "z"); r.commit("other") }, false, false},
		{"done", done, true, true},
		{"done and more", func(r *repo, commit ID) { done(r, commit); r.write("z", "z"); r.commit("more") }, true, true},
		{"done and more, no log", func(r *repo, commit ID) { noLog(r); done(r, commit); r.write("z", "z"); r.commit("more") }, true, true},
		{"done and taken back", func(r *repo, commit ID) { done(r, commit); r.git("reset", "-q", "--hard", "HEAD~1") }, true, true},
		{"done, another branch since", func(r *repo, commit ID) { done(r, commit); r.git("checkout", "-q", "-b", "x", "HEAD~1") }, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, tree, parent, commit := start(t)
			tt.then(r, commit)
			// With hooks its id was not known.
			for _, id := range []ID{commit, ""} {
				if id == "" && tt.name == "another commit" {
					continue // it has the very tree and parent, so it is the one
				}
				done, known, err := r.changer("", way).Settle(t.Context(), tree, parent, id)
				if err != nil || done != tt.done || known != tt.known {
					t.Errorf("%q: done %v, known %v, %v", id, done, known, err)
				}
			}
		})
	}
	t.Run("unborn", func(t *testing.T) {
		r := newRepo(t)
		r.write("a.md", "a\n")
		r.git("add", "a.md")
		tree := ID(r.git("write-tree"))
		for _, id := range []ID{"", ID(r.git("commit-tree", string(tree), "-m", "x"))} {
			if done, known, err := r.changer("", way).Settle(t.Context(), tree, "", id); err != nil || done || !known {
				t.Errorf("done %v, known %v, %v", done, known, err)
			}
		}
		r.git("commit", "-q", "-m", "x")
		if done, known, err := r.changer("", way).Settle(t.Context(), tree, "", ""); err != nil || !done || !known {
			t.Errorf("done %v, known %v, %v", done, known, err)
		}
	})
}

func TestMessagesAreCleanedAsGitDoes(t *testing.T) {
	r := newRepo(t)
	for _, m := range []string{"a", "a\n", "\n\n a \n", "a\r\n\r\n\r\nb\t \n", "# a\n\n\n\n  b", "a\n \n\t\nb\n\n\n", "ü\u00a0\n\v\f\nx\v", "a\rb\n"} {
		got, err := cleanMessage(m)
		r.must(err)
		r.write("../m", m)
		r.git("commit", "-q", "--allow-empty", "--cleanup=whitespace", "-F", filepath.Join(r.dir, "..", "m"))
		out, err := r.try("cat-file", "commit", "HEAD")
		r.must(err)
		if want := out[len(out)-len(got):]; want != got || out[len(out)-len(got)-2:len(out)-len(got)] != "\n\n" {
			t.Errorf("%q: got %q, in %q", m, got, out)
		}
	}
}
