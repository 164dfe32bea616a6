package git

import (
	"bytes"
	"context"
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault-mcp/internal/racing"
)

// states make the repositories that the index and what is staged are compared in.
// Each begins with some files and one commit.
var states = map[string]func(r *repo){
	"clean":  func(*repo) {},
	"unborn": func(r *repo) { r.git("update-ref", "-d", "HEAD") },
	"unborn and empty": func(r *repo) {
		r.git("update-ref", "-d", "HEAD")
		r.git("rm", "-q", "-r", "--cached", ".")
	},
	"emptied": func(r *repo) { r.git("rm", "-q", "-r", "--cached", ".") },
	"no index": func(r *repo) {
		if err := os.Remove(filepath.Join(r.dir, ".git", "index")); err != nil {
			r.t.Fatal(err)
		}
	},
	"some of each": someOfEach,
	"cached tree": func(r *repo) {
		someOfEach(r)
		r.git("write-tree")
	},
	"no cached tree": func(r *repo) {
		someOfEach(r)
		r.git("update-index", "--force-remove", "zz") // rewrites it
		r.git("read-tree", "--reset", r.git("write-tree"))
	},
	"v4": func(r *repo) {
		r.git("update-index", "--index-version", "4")
		someOfEach(r)
		r.git("add", "-N", "intent.md")
	},
	"v3":       func(r *repo) { r.write("intent.md", "x\n"); r.git("add", "-N", "intent.md") },
	"skipHash": func(r *repo) { r.git("-c", "index.skipHash=true", "update-index", "--force-write-index") },
	"split": func(r *repo) {
		r.git("update-index", "--split-index")
		someOfEach(r)
		r.git("add", "-N", "intent.md")
	},
	"split again": func(r *repo) {
		r.git("config", "splitIndex.maxPercentChange", "100")
		r.git("update-index", "--split-index")
		for i := range 200 {
			r.write(fmt.Sprintf("Many/%03d.md", i), fmt.Sprint(i))
		}
		r.git("add", "Many")
		r.git("commit", "-q", "-m", "many")
		r.git("update-index", "--split-index")
		someOfEach(r)
		r.git("rm", "-q", "--cached", "Many/01*.md", "Many/02*.md", "Many/1*.md", "Many/003.md")
	},
	"split v4": func(r *repo) {
		r.git("config", "splitIndex.maxPercentChange", "100")
		r.git("update-index", "--index-version", "4")
		r.git("update-index", "--split-index")
		someOfEach(r)
	},
	"sparse checkout": func(r *repo) {
		r.git("sparse-checkout", "set", "Notes")
		r.write("Notes/a.md", "changed\n")
		r.git("add", "Notes/a.md")
	},
	"sparse index": func(r *repo) {
		r.git("sparse-checkout", "set", "--cone", "--sparse-index", "Notes")
		r.write("Notes/a.md", "changed\n")
		r.git("add", "Notes/a.md")
	},
	"flags": func(r *repo) {
		r.git("update-index", "--assume-unchanged", "Notes/a.md")
		r.git("update-index", "--skip-worktree", "Daily/2024-01-01.md")
		r.git("update-index", "--untracked-cache")
		r.git("status")
	},
	"intent to add": func(r *repo) {
		r.write("intent.md", "x\n")
		r.write("Notes/intent.md", "x\n")
		r.git("add", "-N", ".")
		r.git("rm", "-q", "--cached", "Notes/a.md")
		r.git("add", "-N", "Notes/a.md")
	},
	"conflicts": func(r *repo) {
		r.git("checkout", "-q", "-b", "side")
		r.write("Notes/a.md", "side\n")
		r.write("both.md", "side\n")
		r.git("rm", "-q", "Daily/2024-01-01.md")
		r.commit("side")
		r.git("checkout", "-q", "main")
		r.write("Notes/a.md", "main\n")
		r.write("both.md", "main\n")
		r.write("Daily/2024-01-01.md", "main\n")
		r.commit("main")
		r.try("merge", "side")
	},
	"submodule": func(r *repo) {
		r.git("clone", "-q", ".", "../lib")
		r.git("submodule", "--quiet", "add", "../lib", "lib")
	},
	"file and folder": func(r *repo) {
		r.git("rm", "-q", "Notes/a.md", "Notes.txt")
		r.git("rm", "-q", "-r", "Notes")
		r.write("Notes", "a file now\n")
		r.write("Notes.txt/in.md", "in a folder now\n")
		r.git("add", "-A")
	},
	"type": func(r *repo) {
		os.Remove(filepath.Join(r.dir, "Notes", "a.md"))
		if err := os.Symlink("b.md", filepath.Join(r.dir, "Notes", "a.md")); err != nil {
			r.t.Fatal(err)
		}
		r.git("update-index", "--chmod=+x", "Notes/b.md")
		r.git("add", "-A")
	},
	"cherry-pick on top": func(r *repo) {
		r.git("commit", "-q", "--allow-empty", "-m", "more")
		r.git("reset", "-q", "--soft", "HEAD~1")
	},
}

func someOfEach(r *repo) {
	r.write("Notes/a.md", "changed\n")
	r.write("Notes/Deep/new.md", "new\n")
	r.write("intent.md", "later\n")
	r.git("add", "Notes")
	r.git("rm", "-q", "Daily/2024-01-01.md")
	r.git("mv", "Notes/b.md", "Zettel/b.md")
}

func TestIndexAndStagedAreWhatGitSays(t *testing.T) {
	racing.Skips(t)
	t.Parallel()
	for name, make := range states {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.git("config", "core.precomposeUnicode", "false")
			for path, text := range map[string]string{
				"Notes/a.md": "a\n", "Notes/b.md": "b\n", "Notes/Deep/c.md": "c\n", "Notes.txt": "t\n", "Notes-2/x.md": "x\n",
				"Daily/2024-01-01.md": "d\n", "Daily/2024-01-02.md": "e\n", "Zettel/über.md": "u\n", "Zettel/uber\u0308.md": "nfd\n",
				"Zettel/日本 語.md": "j\n", "Zettel/new\nline \"q\".md": "q\n", "empty.md": "",
			} {
				r.write(path, text)
			}
			r.commit("base")
			make(r)
			b, err := os.ReadFile(filepath.Join(r.dir, ".git", "index"))
			if err != nil && name != "no index" {
				t.Fatal(err)
			}
			for word, extension := range map[string]string{"split": "link\x00\x00\x00", "sparse index": "sdir\x00\x00\x00"} {
				if strings.Contains(name, word) != bytes.Contains(b, []byte(extension)) {
					t.Fatalf("the index is not what the test is about: %q", b)
				}
			}
			indexIsWhatGitLists(t, r)
			stagedIsWhatGitSays(t, r)
		})
	}
}

// stages is the index as git ls-files --stage -z writes it.
func stages(ix *Index) string {
	var b strings.Builder
	for _, e := range ix.Entries {
		fmt.Fprintf(&b, "%06o %s %d\t%s\x00", e.Mode, e.ID, e.Stage, e.Path)
	}
	return b.String()
}

func indexIsWhatGitLists(t *testing.T, r *repo) {
	ix, err := r.open(".").Index()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := stages(ix), r.git("ls-files", "--stage", "-z"); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	skip, intent := "", ""
	for _, e := range ix.Entries {
		if e.SkipWorktree {
			skip += "S " + e.Path + "\x00"
		}
		if e.IntentToAdd {
			intent += e.Path + "\x00"
		}
	}
	want := ""
	for line := range strings.SplitAfterSeq(r.git("ls-files", "-t", "-z"), "\x00") {
		if strings.HasPrefix(line, "S ") {
			want += line
		}
	}
	if skip != want {
		t.Errorf("skip-worktree %q, want %q", skip, want)
	}
	if list := strings.Join(append(ix.IntentToAdd(), ""), "\x00"); list != intent {
		t.Errorf("%q", list)
	}
	unmerged := strings.Join(append(ix.Conflicts(), ""), "\x00")
	if want := r.git("diff", "--name-only", "--diff-filter=U", "-z"); unmerged != want {
		t.Errorf("conflicts %q, want %q", unmerged, want)
	}
}

func stagedIsWhatGitSays(t *testing.T, r *repo) {
	repo := r.open(".")
	head, err := repo.Head()
	if err != nil {
		t.Fatal(err)
	}
	ix, err := repo.Index()
	if err != nil {
		t.Fatal(err)
	}
	got, err := repo.Staged(context.Background(), head, ix)
	if err != nil {
		t.Fatal(err)
	}
	want := r.git("diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames")
	if raw(got) != want {
		t.Errorf("got\n%q\nwant\n%q", raw(got), want)
	}
	ix.trees = nil // the same without what the index says of folders
	if again, err := repo.Staged(context.Background(), head, ix); err != nil || raw(again) != want {
		t.Errorf("without the cached tree: %q %v", raw(again), err)
	}
}

// raw is how git writes changes with --raw -z, sorted by path.
func raw(changes []Change) string {
	id := func(id ID) string {
		if id == "" {
			return strings.Repeat("0", 40)
		}
		return string(id)
	}
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, ":%06o %06o %s %s %c\x00", c.OldMode, c.NewMode, id(c.Old), id(c.New), c.Status)
		b.WriteString(c.Path + "\x00")
	}
	return b.String()
}

func TestSumIsOfWhatIsStaged(t *testing.T) {
	r := newRepo(t)
	for i := range 20 {
		r.write(fmt.Sprintf("n/%02d.md", i), fmt.Sprint(i))
	}
	r.commit("one")
	repo := r.open(".")
	sum := func() [32]byte {
		ix, err := repo.Index()
		if err != nil {
			t.Fatal(err)
		}
		return ix.Sum()
	}
	index := func() []byte {
		b, err := os.ReadFile(filepath.Join(r.dir, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	start, bytesBefore := sum(), index()
	late := time.Unix(1700000000, 0)
	if err := os.Chtimes(filepath.Join(r.dir, "n", "03.md"), late, late); err != nil {
		t.Fatal(err)
	}
	r.git("status")
	r.git("update-index", "--refresh")
	if bytes.Equal(index(), bytesBefore) {
		t.Error("git did not refresh the index: the test shows nothing")
	}
	r.write("n/04.md", "not staged")
	for _, args := range [][]string{{"update-index", "--index-version", "4"}, {"update-index", "--split-index"}, {"update-index", "--no-split-index"}, {"read-tree", "HEAD"}} {
		r.git(args...)
		if sum() != start {
			t.Errorf("after %q the sum is another", args)
		}
	}
	seen := map[[32]byte]string{start: "start"}
	for _, args := range [][]string{
		{"add", "n/04.md"}, {"update-index", "--chmod=+x", "n/05.md"}, {"rm", "-q", "--cached", "n/06.md"},
		{"add", "-N", "n/06.md"}, {"update-index", "--skip-worktree", "n/07.md"}, {"mv", "n/08.md", "n/08b.md"},
	} {
		r.git(args...)
		s := sum()
		if before, ok := seen[s]; ok {
			t.Errorf("after %q the sum is as after %q", args, before)
		}
		seen[s] = strings.Join(args, " ")
	}
}

func TestSumCountsEachField(t *testing.T) {
	e := Entry{Path: "a", Mode: fileMode, ID: emptyTree.id()}
	seen := map[[32]byte]int{(&Index{}).Sum(): -1}
	for i, change := range []func(*Entry){
		func(*Entry) {}, func(e *Entry) { e.Path = "b" }, func(e *Entry) { e.Mode = execMode }, func(e *Entry) { e.ID = "1" + e.ID[1:] },
		func(e *Entry) { e.Stage = 1 }, func(e *Entry) { e.Stage = 2 }, func(e *Entry) { e.SkipWorktree = true }, func(e *Entry) { e.IntentToAdd = true },
	} {
		other := e
		change(&other)
		sum := (&Index{Entries: []Entry{other}}).Sum()
		if before, ok := seen[sum]; ok {
			t.Errorf("%d is as %d", i, before)
		}
		seen[sum] = i
	}
}

// indexFile is an index of some body, with the right checksum.
func indexFile(body string) []byte {
	sum := sha1.Sum([]byte(body))
	return append([]byte(body), sum[:]...)
}

func TestIndexRefusesWhatIsNotWhole(t *testing.T) {
	r := newRepo(t)
	r.write("a.md", "a\n")
	r.write("b.md", "b\n")
	r.commit("one")
	path := filepath.Join(r.dir, ".git", "index")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	repo := r.open(".")
	try := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if ix, err := repo.Index(); err == nil {
			t.Errorf("%s: %v", name, ix.Entries)
		}
	}
	for n := range good {
		try(fmt.Sprintf("cut at %d", n), good[:n])
	}
	for n := range good {
		b := bytes.Clone(good)
		b[n] ^= 1
		try(fmt.Sprintf("bit of byte %d", n), b)
	}
	body := string(good[:len(good)-20])
	try("unknown extension", indexFile(body+"evil\x00\x00\x00\x00"))
	try("bytes at the end", indexFile(body+"abc"))
	try("version 5", indexFile("DIRC\x00\x00\x00\x05"+body[8:]))
	try("too many", indexFile(body[:8]+"\xff\xff\xff\xff"+body[12:]))
	a, b := good[12:12+72], good[12+72:12+144]
	try("not sorted", indexFile(body[:12]+string(b)+string(a)))
	try("twice", indexFile(body[:12]+string(a)+string(a)))
	if os.WriteFile(path, indexFile(body+"ABCD\x00\x00\x00\x00"), 0o644) != nil {
		t.Fatal()
	}
	if _, err := repo.Index(); err != nil {
		t.Errorf("an extension that may be ignored: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Index(); err == nil {
		t.Error("a folder is no index")
	}
}

// However the bytes are, reading them ends, and takes no more memory than they have
// many times over.
func FuzzIndex(f *testing.F) {
	for _, seed := range []string{
		"DIRC\x00\x00\x00\x02\x00\x00\x00\x00",
		"DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\x00", 60) + "\x00\x04\x00a.md\x00",
		"DIRC\x00\x00\x00\x02\x00\x00\x00\x00TREE\x00\x00\x00\x19\x000 0\n" + strings.Repeat("x", 20),
		"DIRC\x00\x00\x00\x02\x00\x00\x00\x00link\x00\x00\x00\x14" + strings.Repeat("x", 20),
	} {
		f.Add([]byte(seed), []byte("\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00"))
	}
	shared, _, err := parseIndex(indexFile("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\x00", 60) + "\x00\x04\x00a.md\x00"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body, maps []byte) {
		if ix, _, err := parseIndex(indexFile(string(body))); err == nil {
			if len(ix.Entries)*63 > len(body) {
				t.Errorf("%d entries of %d bytes", len(ix.Entries), len(body))
			}
			ix.Sum()
			if _, err := join(ix, shared, maps); err == nil {
				ix.Conflicts()
			}
		}
		if ix, err := join(shared, &Index{}, maps); err == nil && len(ix.Entries) > 1 {
			t.Errorf("%v", ix.Entries)
		}
	})
}
