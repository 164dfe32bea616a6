package git

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/racing"
)

// short is what git status says in its other format.
func (r *repo) short(paths ...string) []string {
	r.t.Helper()
	out, err := r.try(append([]string{"status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--"}, paths...)...)
	r.must(err)
	var all []string
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(fields) && out != ""; i++ {
		line := strings.ReplaceAll(fields[i][:2], " ", ".") + " " + fields[i][3:]
		if fields[i][0] == 'R' {
			i++
			line += " < " + fields[i]
		}
		all = append(all, line)
	}
	return all
}

func (s *Status) short() []string {
	var all []string
	for _, p := range s.Paths {
		letters := string([]byte{p.Staged, p.Work})
		for l, said := range conflicts {
			if said == p.Conflict {
				letters = l
			}
		}
		if p.Untracked {
			letters = "??"
		}
		if p.From != "" {
			p.Path += " < " + p.From
		}
		all = append(all, letters+" "+p.Path)
	}
	return all
}

func TestStatusSaysWhatGitSays(t *testing.T) {
	racing.Skips(t)
	t.Parallel()
	for _, tt := range kinds {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t)
			tt.make(r)
			c := r.changer("")
			check := func() {
				t.Helper()
				s, err := c.Status(t.Context())
				r.must(err)
				if diff := cmp.Diff(r.short(), s.short()); diff != "" {
					t.Error(diff)
				}
				head, err := c.Head()
				if err != nil || head != s.Head {
					t.Errorf("HEAD is %+v, %v; got %+v", head, err, s.Head)
				}
			}
			check()
			r.must(c.Stage(t.Context(), tt.paths))
			check()
		})
	}
}

func TestStatusOfRenamesAndUpstream(t *testing.T) { bothWays(t, testStatusOfRenamesAndUpstream) }

func testStatusOfRenamesAndUpstream(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	conflicted(r)
	text := strings.Repeat("a line of some length\n", 20)
	r.write("old name.md", text)
	r.commit("more")
	r.git("update-ref", "refs/remotes/origin/main", "side")
	r.git("config", "remote.origin.url", "../none")
	r.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
	r.git("config", "branch.main.remote", "origin")
	r.git("config", "branch.main.merge", "refs/heads/main")
	r.git("config", "status.renames", "false")
	r.git("config", "status.showUntrackedFiles", "no")
	r.git("mv", "old name.md", "new name.md")
	r.write("new name.md", text+"more\n")
	r.write("untracked/x.md", "x\n")
	s, err := r.changer("", way).Status(t.Context())
	r.must(err)
	if want := []string{"RM new name.md < old name.md", "?? untracked/x.md"}; !cmp.Equal(want, s.short()) {
		t.Errorf("got %q", s.short())
	}
	if s.Upstream != "origin/main" || !s.Compared || s.Ahead != 2 || s.Behind != 1 {
		t.Errorf("got %+v", s)
	}
}

// The vault may be a folder of the repository, and the repository a worktree.
func TestVaultBelowAndWorktree(t *testing.T) { bothWays(t, testVaultBelowAndWorktree) }

func testVaultBelowAndWorktree(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	r.write("notes/a.md", "a\n")
	r.write("code/x.go", "x\n")
	r.commit("first")
	r.git("worktree", "add", "-q", "-b", "other", filepath.Join(r.dir, "..", "tree"))
	tree := &repo{t: t, dir: filepath.Join(filepath.Dir(r.dir), "tree"), home: r.home, clock: 500}
	tree.write("notes/a.md", "b\n")
	tree.write("notes/n.md", "n\n")
	tree.write("code/x.go", "y\n")
	c := tree.changer("notes", way)
	s, err := c.Status(t.Context())
	r.must(err)
	if want := []string{".M notes/a.md", "?? notes/n.md"}; !cmp.Equal(want, s.short()) || s.Head.Ref != "refs/heads/other" {
		t.Errorf("got %q, %+v", s.short(), s.Head)
	}
	d, err := c.Diff(t.Context(), DiffOptions{}, 1<<20)
	if err != nil || len(d.Files) != 1 || d.Files[0].Path != "notes/a.md" {
		t.Errorf("got %+v, %v", d, err)
	}
	before := r.state()
	r.must(c.Stage(t.Context(), []string{"notes/n.md", "code/x.go"}))
	made, err := commitNow(t, c, "in the worktree")
	r.must(err)
	if made.Ref != "refs/heads/other" || r.git("rev-parse", "other") != string(made.ID) || tree.git("log", "-g", "--format=%gs", "-1", "HEAD") != "commit: in the worktree" {
		t.Errorf("got %+v", made)
	}
	if diff := cmp.Diff(before, r.state()); diff != "" {
		t.Error(diff)
	}
	if got := tree.git("status", "--porcelain"); got != " M notes/a.md" {
		t.Errorf("got %q", got)
	}
	tree.whole()
}

// Looking leaves the index as it is, even where git would refresh it.
func TestStatusAndDiffLeaveTheIndex(t *testing.T) { bothWays(t, testStatusAndDiffLeaveTheIndex) }

func testStatusAndDiffLeaveTheIndex(t *testing.T, way func(*Options)) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	r.commit("first")
	index := filepath.Join(r.dir, ".git", "index")
	old := time.Now().Add(-time.Hour)
	r.must(os.Chtimes(filepath.Join(r.dir, "a.md"), old, old))
	before, err := os.ReadFile(index)
	r.must(err)
	c := r.changer("", way)
	_, err = c.Status(t.Context())
	r.must(err)
	_, err = c.Diff(t.Context(), DiffOptions{}, 100)
	r.must(err)
	if after, err := os.ReadFile(index); err != nil || !bytes.Equal(before, after) {
		t.Errorf("it was written: %v", err)
	}
	r.git("status")
	if after, err := os.ReadFile(index); err != nil || bytes.Equal(before, after) {
		t.Errorf("the test shows nothing: %v", err)
	}
}

func FuzzStatus(f *testing.F) {
	f.Add("# branch.oid (initial)\x00# branch.head main\x00# branch.ab +1 -2\x00? a\x00")
	f.Add("1 M. N... 100644 100644 100644 a b p q\x002 R. N... 100644 100644 100644 a b R100 new\x00old\x00")
	f.Add("u UU N... 100644 100644 100644 100644 a b c path\x00! ign\x00")
	f.Fuzz(func(t *testing.T, out string) {
		s, err := parseStatus(out)
		if err != nil {
			return
		}
		for _, p := range s.Paths {
			if p.Path == "" || !strings.Contains(out, p.Path+"\x00") || !strings.Contains(out, p.From) || p.Staged == 0 || p.Work == 0 {
				t.Errorf("%q from %q", fmt.Sprint(p), out)
			}
		}
	})
}

// BenchmarkStatus is ours and git's own, over 10,000 notes.
func BenchmarkStatus(b *testing.B) {
	r := newRepo(b)
	for i := range 10_000 {
		r.write(fmt.Sprintf("Folder %02d/Note %05d.md", i%40, i), fmt.Sprintf("# Note %d\n", i))
	}
	r.commit("one")
	r.write("Folder 01/Note 00001.md", "changed\n")
	r.git("status")
	c := r.changer("")
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			if s, err := c.Status(b.Context()); err != nil || len(s.Paths) != 1 {
				b.Fatal(s, err)
			}
		}
	})
	alone := r.changer("", noProgram)
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			if s, err := alone.Status(b.Context()); err != nil || len(s.Paths) != 1 {
				b.Fatal(s, err)
			}
		}
	})
	b.Run("git", func(b *testing.B) {
		for b.Loop() {
			r.git("status", "--porcelain", "--untracked-files=all")
		}
	})
}
