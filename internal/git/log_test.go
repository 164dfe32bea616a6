package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// log is the ids that Log visits, and its changes of the path.
func (r *repo) log(path string) (ids, changes []string) {
	r.t.Helper()
	repo := r.open(".")
	head, err := repo.Head()
	if err != nil {
		r.t.Fatal(err)
	}
	err = repo.Log(context.Background(), LogOptions{From: head.Commit, Path: path}, func(l Logged) error {
		ids = append(ids, string(l.ID))
		change := fmt.Sprintf("%c %s", l.Change.Status, l.Change.Path)
		if l.Change.From != "" {
			change += " < " + l.Change.From
		}
		changes = append(changes, change)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return ids, changes
}

// branchy makes a history with branches, merges and commits of the same second.
func branchy(t *testing.T) *repo {
	r := newRepo(t)
	for i := range 5 {
		r.write("a.md", fmt.Sprint(i))
		r.commit(fmt.Sprintf("main %d\n\nbody ünï\n\n  indented\n", i))
	}
	r.git("checkout", "-q", "-b", "side", "HEAD~3")
	for i := range 3 {
		r.write("side.md", fmt.Sprint(i))
		r.commit(fmt.Sprintf("side\nstill subject %d\n\nbody", i))
	}
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--no-ff", "-m", "join", "side")
	r.git("checkout", "-q", "--orphan", "other")
	r.git("rm", "-rfq", ".")
	r.write("root.md", "another root")
	r.commit("another root")
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--allow-unrelated-histories", "-m", "roots", "other")
	r.git("checkout", "-q", "-b", "octo", "HEAD~1")
	at := r.clock
	r.write("octo.md", "o")
	r.commit("octo")
	r.git("checkout", "-q", "-b", "octo2", "HEAD~1")
	r.clock = at // of the same second
	r.write("octo2.md", "o")
	r.commit("octo2")
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "-m", "three", "octo", "octo2")
	return r
}

func TestLogIsWhatGitSays(t *testing.T) {
	r := branchy(t)
	for _, packed := range []bool{false, true} {
		if packed {
			r.git("gc", "-q")
		}
		ids, _ := r.log("")
		if got, want := strings.Join(ids, "\n"), r.git("log", "--format=%H"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		for _, path := range []string{"a.md", "side.md", "root.md", "octo2.md", "none.md"} {
			ids, _ := r.log(path)
			if got, want := strings.Join(ids, "\n"), r.git("log", "--format=%H", "--", path); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
			}
		}
	}
}

func TestLogTellsChanges(t *testing.T) {
	r := branchy(t)
	repo := r.open(".")
	head, err := repo.Head()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = repo.Log(context.Background(), LogOptions{From: head.Commit}, func(l Logged) error {
		n++
		got, err := l.Changes()
		if want := r.git("show", "--format=", "--raw", "-z", "--no-abbrev", "-M", "--diff-merges=first-parent", string(l.ID)); rawRenames(got) != want {
			t.Errorf("%s: got\n%q\nwant\n%q", l.Subject(), rawRenames(got), want)
		}
		return err
	})
	if err != nil || n != 14 {
		t.Errorf("%d %v", n, err)
	}
}

func TestCommitIsWhatGitShows(t *testing.T) {
	r := branchy(t)
	r.git("-c", "user.name=Müller, Ö. <x", "-c", "user.email=m@example.org", "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", "\n\n  lead \t\nand more  \n\n\nlast\n\n")
	r.git("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "latin \xfc\xdf")
	r.git("commit", "-q", "--allow-empty", "--allow-empty-message", "--date", "1500000000 -0830", "-m", "")
	repo := r.open(".")
	for _, id := range strings.Fields(r.git("log", "--format=%H")) {
		c, err := repo.Commit(ID(id))
		if err != nil {
			t.Fatal(err)
		}
		parents := []string{}
		for _, p := range c.Parents {
			parents = append(parents, string(p))
		}
		got := strings.Join([]string{string(c.ID), string(c.Tree), strings.Join(parents, " "), c.Author.Name, c.Author.Email, c.Author.When.Format(time.RFC3339),
			c.Committer.Name, c.Committer.Email, c.Committer.When.Format(time.RFC3339), c.Subject(), c.Message}, "\n")
		if want := r.git("show", "-s", "--format=%H%n%T%n%P%n%an%n%ae%n%aI%n%cn%n%ce%n%cI%n%s%n%B", id); strings.TrimRight(got, "\n") != want {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
	}
	blob := ID(r.git("rev-parse", "HEAD:a.md"))
	if c, err := repo.Commit(blob); err == nil || !strings.Contains(err.Error(), "blob") {
		t.Errorf("%v %v", c, err)
	}
	if _, err := repo.Commit("0123456789012345678901234567890123456789"); kind(err) != "missing" {
		t.Error(err)
	}
	if _, err := repo.Commit("HEAD"); err == nil {
		t.Error("HEAD is no id")
	}
}

// lines is a text of n lines that differ.
func lines(n int, tag string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of %s\n", i, tag)
	}
	return b.String()
}

func TestLogFollowsRenames(t *testing.T) {
	r := newRepo(t)
	r.write("first.md", lines(20, "x"))
	r.write("other.md", lines(20, "y"))
	r.commit("born")
	r.write("first.md", lines(20, "x")+"more\n")
	r.commit("grown")
	r.git("mv", "first.md", "second.md")
	r.commit("moved")
	r.git("mv", "second.md", "Folder/", "-k")
	r.write("Folder/third.md", strings.Replace(lines(20, "x")+"more\n", "line 3 ", "LINE 3 ", 1))
	r.git("rm", "-q", "second.md")
	r.commit("moved and edited")
	r.write("unrelated.md", "z")
	r.commit("unrelated")
	r.git("rm", "-q", "Folder/third.md")
	r.commit("gone")
	r.write("Folder/third.md", "new life\n")
	r.commit("new life")
	_, changes := r.log("Folder/third.md")
	want := "A Folder/third.md|D Folder/third.md|R Folder/third.md < second.md|R second.md < first.md|M first.md|A first.md"
	if got := strings.Join(changes, "|"); got != want {
		t.Errorf("%s\n%s", got, want)
	}
	r.git("reset", "-q", "--hard", "HEAD~2")
	ids, _ := r.log("Folder/third.md")
	if got, want := strings.Join(ids, "\n"), r.git("log", "--follow", "--format=%H", "--", "Folder/third.md"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	ids, _ = r.log("Folder")
	if got, want := strings.Join(ids, "\n"), r.git("log", "--format=%H", "--", "Folder"); got != want {
		t.Errorf("a folder: got\n%s\nwant\n%s", got, want)
	}
	// By two names on two branches.
	r.git("checkout", "-q", "-b", "side", "HEAD~3")
	r.write("first.md", "side\n"+lines(20, "x")+"more\n")
	r.commit("side")
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "-m", "joined", "side")
	_, changes = r.log("Folder/third.md")
	want = "M Folder/third.md|M first.md|R Folder/third.md < second.md|R second.md < first.md|M first.md|A first.md"
	if got := strings.Join(changes, "|"); got != want {
		t.Errorf("merged\n%s\n%s", got, want)
	}
}

func TestLogEnds(t *testing.T) {
	r := branchy(t)
	repo := r.open(".")
	head, _ := repo.Head()
	n := 0
	err := repo.Log(context.Background(), LogOptions{From: head.Commit}, func(l Logged) error {
		if n++; n == 3 {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil || n != 3 {
		t.Errorf("%d %v", n, err)
	}
	mine := errors.New("mine")
	if err := repo.Log(context.Background(), LogOptions{From: head.Commit}, func(Logged) error { return mine }); err != mine {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = repo.Log(ctx, LogOptions{From: head.Commit}, func(Logged) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := repo.Log(context.Background(), LogOptions{}, func(Logged) error { return mine }); err != nil {
		t.Errorf("unborn: %v", err)
	}
}

func TestShallowAndReplaced(t *testing.T) {
	r := branchy(t)
	r.git("clone", "-q", "--depth", "3", "file://"+r.dir, "../shallow")
	s := *r
	s.dir = filepath.Join(filepath.Dir(r.dir), "shallow")
	ids, _ := s.log("")
	if got, want := strings.Join(ids, "\n"), s.git("log", "--format=%H"); got != want || len(ids) >= 13 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	ids, _ = s.log("a.md")
	if got, want := strings.Join(ids, "\n"), s.git("log", "--format=%H", "--", "a.md"); got != want {
		t.Errorf("a path: got\n%s\nwant\n%s", got, want)
	}
	old := r.git("rev-parse", "HEAD~2")
	r.git("replace", "--graft", old)
	head, _ := r.open(".").Head()
	if err := r.open(".").Log(context.Background(), LogOptions{From: head.Commit}, func(Logged) error { return nil }); kind(err) != "replace" {
		t.Errorf("%v", err)
	}
	r.git("pack-refs", "--all")
	if _, err := r.open(".").Commit(ID(old)); kind(err) != "replace" {
		t.Errorf("packed: %v", err)
	}
}

// Of a partial clone only the files that are not here cannot be read.
func TestPartialClone(t *testing.T) {
	r := newRepo(t)
	r.write("a.md", lines(20, "a"))
	first := r.commit("one")
	r.git("mv", "a.md", "b.md")
	r.write("b.md", lines(19, "a"))
	second := r.commit("two")
	r.git("config", "uploadpack.allowFilter", "true")
	r.git("clone", "-q", "--filter=blob:none", "file://"+r.dir, "../partial")
	s := *r
	s.dir = filepath.Join(filepath.Dir(r.dir), "partial")
	if ids, _ := s.log(""); len(ids) != 2 {
		t.Errorf("%v", ids)
	}
	got, err := s.open(".").Changes(context.Background(), first, second)
	if err != nil || len(got) != 2 || got[0].Status != 'D' {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := s.open(".").Blob(got[0].Old, 1<<20); kind(err) != "missing" || !strings.Contains(err.Error(), "partial clone") {
		t.Error(err)
	}
}

func TestChangesIsWhatGitSays(t *testing.T) {
	r := newRepo(t)
	r.write("a.md", lines(30, "a"))
	r.write("Notes/b.md", lines(30, "b"))
	r.write("Notes/c.md", lines(30, "c"))
	r.write("Notes.txt", "x\n")
	r.write("empty.md", "")
	r.write("run.sh", "#!\n")
	if err := os.Symlink("a.md", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	first := r.commit("one")
	r.git("mv", "a.md", "Notes/a.md")
	r.write("Notes/d.md", strings.Replace(lines(30, "b"), "line 7", "zeile 7", 1))
	r.git("rm", "-q", "Notes/b.md")
	r.write("Notes/c.md", lines(29, "c"))
	r.write("Notes/aa.md", lines(30, "z"))
	r.git("update-index", "--chmod=+x", "run.sh")
	r.git("mv", "Notes.txt", "x")
	r.write("Notes.txt/in.md", "y\n")
	os.Remove(filepath.Join(r.dir, "link"))
	r.write("link", "no link now\n")
	r.git("add", "-A")
	r.git("update-index", "--chmod=+x", "run.sh")
	r.git("commit", "-q", "-m", "two")
	second := ID(r.git("rev-parse", "HEAD"))
	repo := r.open(".")
	for _, c := range [][2]ID{{first, second}, {second, first}, {"", first}, {first, ""}, {first, first}} {
		got, err := repo.Changes(context.Background(), c[0], c[1])
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"diff", "--raw", "-z", "--no-abbrev", "-M"}
		for _, id := range c {
			if id == "" {
				id = emptyTree.id()
			}
			args = append(args, string(id))
		}
		if got, want := rawRenames(got), withoutScores(r.git(args...)); got != want {
			t.Errorf("%v: got\n%q\nwant\n%q", c, got, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := repo.Changes(ctx, first, second); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Of files with the same content each becomes the one that kept its name.
func TestRenamesOfTwins(t *testing.T) {
	r := newRepo(t)
	r.write("z/one.md", "twin\n")
	r.write("a/two.md", "twin\n")
	first := r.commit("one")
	r.git("mv", "z", "b")
	r.git("mv", "a", "n")
	second := r.commit("two")
	got, err := r.open(".").Changes(context.Background(), first, second)
	if err != nil || len(got) != 2 || got[0].From != "z/one.md" || got[0].Path != "b/one.md" || got[1].From != "a/two.md" || got[1].Path != "n/two.md" {
		t.Errorf("%+v %v", got, err)
	}
}

func rawRenames(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		line := raw([]Change{c})
		if c.From != "" {
			line = strings.Replace(line, "\x00", "\x00"+c.From+"\x00", 1)
		}
		b.WriteString(line)
	}
	return b.String()
}

// withoutScores leaves out how similar git found files.
func withoutScores(raw string) string {
	parts := strings.Split(raw, "\x00")
	for i, p := range parts {
		if at := strings.LastIndex(p, " R"); strings.HasPrefix(p, ":") && at > 0 {
			parts[i] = p[:at+2]
		}
	}
	return strings.Join(parts, "\x00")
}
