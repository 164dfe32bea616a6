package link

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIndexHoldsOnlyPathsOfFiles(t *testing.T) {
	x := NewIndex(nil)
	for _, p := range []string{"", "/", "/a.md", "a/", "a//b.md", ".trash/a.md", "a/.b.md", "./a.md", "../a.md", "a/../b.md"} {
		if x.Add(p) || x.Remove(p) || NewIndex([]string{p}).Len() != 0 {
			t.Errorf("%q is taken for a file", p)
		}
	}
	if !x.Add("a.md") || x.Add("a.md") || !x.Add("A.md") || x.Len() != 2 {
		t.Error("a path is in the set once, and its twin beside it")
	}
	if !x.Has("A.MD") || x.Has("b.md") || x.Has("x/a.md") {
		t.Error("Has ignores case, and nothing else")
	}
	if x.Remove("A.MD") || !x.Remove("A.md") || x.Remove("A.md") || x.Len() != 1 {
		t.Error("only the path as spelled is removed, and once")
	}
	if got := NewIndex([]string{"a.md", "x/a.md", "a.md", "x/a.md", "a.md"}).Len(); got != 2 {
		t.Errorf("%d files of 2 that came several times", got)
	}
}

// What an Index answers depends on the set of its paths, not on how they came in.
func TestIndexOrderDoesNotMatter(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		v := newRandomVault(rnd)
		grown := NewIndex(nil)
		for _, p := range v.paths {
			grown.Add(p)
		}
		var kept []string
		for _, i := range rnd.Perm(len(v.paths)) {
			if p := v.paths[i]; rnd.IntN(3) == 0 {
				if !grown.Remove(p) {
					t.Fatalf("%q is missing", p)
				}
			} else {
				kept = append(kept, p)
			}
		}
		fresh := NewIndex(kept)
		if fresh.Len() != grown.Len() {
			t.Fatalf("%d files, want %d", grown.Len(), fresh.Len())
		}
		for range 30 {
			from, target := v.link(rnd)
			want := fresh.Candidates(from, target, 0, nil)
			got := grown.Candidates(from, target, 0, nil)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%q from %q: %s", target, from, diff)
			}
			path, _ := fresh.Resolve(from, target, nil)
			if again, _ := grown.Resolve(from, target, nil); again != path {
				t.Fatalf("%q from %q: %q, want %q", target, from, again, path)
			}
		}
	}
}

func TestClone(t *testing.T) {
	x := NewIndex([]string{"a/N.md", "bb/N.md", "M.md"})
	c := x.Clone()
	c.Remove("a/N.md")
	c.Add("b/N.md")
	c.Add("O.md")
	if got, _ := c.Resolve("M.md", "N", nil); got != "b/N.md" {
		t.Errorf("the copy has %q", got)
	}
	if got, _ := x.Resolve("M.md", "N", nil); got != "a/N.md" || x.Len() != 3 {
		t.Errorf("the original has %q", got)
	}
}

func TestIndexIsSafeForReadersAndAWriter(t *testing.T) {
	x := NewIndex([]string{"a/N.md", "n.md"})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 300 {
				if i == 0 {
					p := fmt.Sprintf("%d/N.md", j%7)
					if !x.Add(p) {
						x.Remove(p)
					}
					continue
				}
				if got, ok := x.Resolve("n.md", "a/N", nil); !ok || got != "a/N.md" {
					t.Errorf("%q", got)
				}
				x.Candidates("n.md", "N", 3, nil)
				x.Text("n.md", "a/N.md", Options{})
				x.Clone()
			}
		})
	}
	wg.Wait()
}

func TestAppendKeyIsKey(t *testing.T) {
	for _, target := range []string{
		"", "A", "Folder/Note.MD", "/x/", "a//B ", " Caf\u00c9", "Caf\u00c9/Plain", "a\u00a0B", "x^y", "..", "a/..", "Note#Part", "#Part", "K\u212a", "../Up",
	} {
		if got := string(AppendKey([]byte("before "), target)); got != "before "+Key(target) {
			t.Errorf("%q: got %q, want %q", target, got, Key(target))
		}
	}
	if got := testing.AllocsPerRun(10, func() { AppendKey(make([]byte, 0, 64), "Folder/Some Note#Part") }); got > 0 {
		t.Errorf("it allocates %v times", got)
	}
}

func TestKeysOf(t *testing.T) {
	for path, want := range map[string][]string{
		"a/Wet Clay.md":       {"wet clay.md", "wet clay"},
		"Atlas.CANVAS":        {"atlas.canvas"},
		"x/Cafe\u0301.md":     {"café.md", "café"},
		"x/a\u00a0b.MD":       {"a b.md", "a b"},
		"x/v1.2.md":           {"v1.2.md", "v1.2"},
		"x/\u03a3\u03c2.md":   {"\u03c3\u03c3.md", "\u03c3\u03c3"},
		"x/Straße/LICENSE":    {"license"},
		"x/Straße/Gasse 1.md": {"gasse 1.md", "gasse 1"},
	} {
		if diff := cmp.Diff(want, KeysOf(path)); diff != "" {
			t.Errorf("%q: %s", path, diff)
		}
	}
	for target, want := range map[string]string{
		"": "", "#a": "", "../": "", "/": "", "a^b": "", " Wet  Clay ": "wet  clay", "a//B#c": "b", "./x/B.md": "b.md", "/B/": "b",
	} {
		if got := Key(target); got != want {
			t.Errorf("%q: key %q, want %q", target, got, want)
		}
	}
}

// randomVault is a small vault in which most names are taken more than once, with twins and odd names.
type randomVault struct{ paths []string }

func pick(rnd *rand.Rand, from ...string) string { return from[rnd.IntN(len(from))] }

func randomPath(rnd *rand.Rand) string {
	p := ""
	for rnd.IntN(2) == 0 {
		p += pick(rnd, "a", "b", "A", "long name", "é", "e\u0301", "c.d", "x\u00a0y") + "/"
	}
	return p + pick(rnd, "N", "n", "Note", "v1.2", "a b", "a\u00a0b", "é", "e\u0301", "(x", "100% a", "p%20q", "[s]", "N.md", "ſ") +
		pick(rnd, ".md", ".md", ".md", ".MD", ".png", "", ".canvas")
}

func newRandomVault(rnd *rand.Rand) randomVault {
	var v randomVault
	for range 1 + rnd.IntN(14) {
		if p := randomPath(rnd); !slices.Contains(v.paths, p) {
			v.paths = append(v.paths, p)
		}
	}
	return v
}

// link is a link that has a fair chance to lead somewhere.
func (v randomVault) link(rnd *rand.Rand) (from, target string) {
	from, target = pick(rnd, v.paths...), pick(rnd, v.paths...)
	if rnd.IntN(4) == 0 {
		target = randomPath(rnd)
	}
	if rnd.IntN(2) == 0 {
		target = nameOf(target)
	}
	if rnd.IntN(2) == 0 && isNote(target) {
		target = target[:len(target)-3]
	}
	return from, pick(rnd, "", "", "", "", "/", "./", "../", " ", "b//") + target + pick(rnd, "", "", "", "#h", "/", " ")
}
