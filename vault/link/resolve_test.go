package link

import (
	"cmp"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
)

func TestResolve(t *testing.T) {
	tests := []struct {
		name         string
		files        string // separated by blanks, _ for a blank
		from, target string
		want         string
	}{
		{"nothing is the note itself", "a/N.md", "a/N.md", "", "a/N.md"},
		{"only a sub-path too", "a/N.md N.md", "a/N.md", "#H", "a/N.md"},
		{"blanks around", "a/N.md n.md", "n.md", "\u00a0N \t", "n.md"},
		{"slashes collapse", "a/b/N.md N.md", "N.md", "a//b///N", "a/b/N.md"},
		{"a slash at the start means nothing", "a/N.md x.md", "x.md", "/N", "a/N.md"},
		{"relative in the root", "a/N.md x.md", "x.md", "./a/N", "a/N.md"},
		{"relative with extension", "a/N.md a/x.md", "a/x.md", "./N.md#h", "a/N.md"},
		{"relative ignores case", "Top/N.md Top/a/x.md", "Top/a/x.md", "../n", "Top/N.md"},
		{"relative needs the whole path", "a/b/N.md x/n.md", "x/n.md", "../b/N", ""},
		{"relative above the root", "N.md x.md", "x.md", "../N", ""},
		{"relative to a folder", "a.md a/b/x.md", "a/b/x.md", "..", ""},
		{"relative through folders that are not there", "a/N.md a/x.md", "a/x.md", "./q/../N", "a/N.md"},
		{"dots inside are names", "a/b/N.md x.md", "x.md", "a/./b/N", ""},
		{"a part of a name is none", "a/bNote.md x.md", "x.md", "Note", ""},
		{"a part of a folder is none", "ab/N.md x.md", "x.md", "b/N", ""},
		{"own folder for a path of several names", "a/b/N.md b/b/N.md a/b/x.md", "a/b/x.md", "b/N", "a/b/N.md"},
		{"a folder below the own one is not own", "a/b/N.md b/N.md a/x.md", "a/x.md", "N", "b/N.md"},
		{"length counts UTF-16 units of the composed path", "e\u0301e\u0301/N.md abc/N.md x.md", "x.md", "N", "e\u0301e\u0301/N.md"},
		{"beyond the basic plane a character counts twice", "😀😀/N.md abc/N.md x.md", "x.md", "N", "abc/N.md"},
		{"equal length: byte order", "b/N.md a/N.md x.md", "x.md", "N", "a/N.md"},
		{"equal length: as spelled", "b/N.md a/n.md x.md", "x.md", "N", "b/N.md"},
		{"twins: as spelled", "N.md n.md", "x.md", "n", "n.md"},
		{"twins: else byte order", "N.md n.md", "x.md", "n.MD", "N.md"},
		{"twin folders: the very own one", "A/N.md a/N.md a/x.md q/N.md", "a/x.md", "N", "a/N.md"},
		{"attachments by name", "img/Map.png x.md", "x.md", "map.PNG", "img/Map.png"},
		{"attachments need the extension", "img/Map.png x.md", "x.md", "Map", ""},
		{"the file that has the name is before the note", "p.png.md p.png x.md", "x.md", "p.png", "p.png"},
		{"a note may have any name", "p.png.md x.md", "x.md", "p.png", "p.png.md"},
		{"a root path with .md beats all", "p.png.md a/p.png a/x.md", "a/x.md", "p.png", "p.png.md"},
		{"the own folder beats a file of the name elsewhere", "a/p.png.md b/p.png a/x.md", "a/x.md", "p.png", "a/p.png.md"},
		{"a bare name is a note", "LICENSE docs/LICENSE.md x.md", "x.md", "LICENSE", "docs/LICENSE.md"},
		{"a file without extension if there is no note", "docs/LICENSE x.md", "x.md", "LICENSE", "docs/LICENSE"},
		{"# ends the path", "ca#ve/Map.md ca.md", "ca.md", "ca#ve/Map", "ca.md"},
		{"^ cannot be reached", "a^b.md x.md", "x.md", "a^b", ""},
		{"but what is below it can", "a^b/N.md x.md", "x.md", "N", "a^b/N.md"},
		{"blanks that do not break", "a\u00a0b.md x.md", "x.md", "a_b", "a\u00a0b.md"},
		{"full folding", "Straße.md x.md", "x.md", "STRASSE", "Straße.md"},
		{"trash is not there", ".trash/N.md x.md", "x.md", "N", ""},
		{"a URL is a name", "x.md", "x.md", "https://example.org/x", ""},
		{"no path is that long", "x.md", "x.md", strings.Repeat("a/", 3000) + "x", ""},
		{"the note itself must be there", "x.md", "y.md", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := strings.Fields(strings.ReplaceAll(tt.files, "\u00a0", "\x00"))
			for i, f := range files {
				files[i] = strings.NewReplacer("_", " ", "\x00", "\u00a0").Replace(f)
			}
			got, ok := NewIndex(files).Resolve(tt.from, strings.ReplaceAll(tt.target, "_", " "), nil)
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("%q, %v; want %q", got, ok, tt.want)
			}
		})
	}
}

func TestCandidates(t *testing.T) {
	x := NewIndex([]string{"N.md", "a/N.md", "bbb/N.md", "cc/n.md", "cc/N", "x/N.png"})
	want := []string{"N.md", "a/N.md", "cc/n.md", "bbb/N.md", "cc/N"}
	if diff := gocmp.Diff(want, x.Candidates("a/x.md", "N", 0, nil)); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff(want[:2], x.Candidates("a/x.md", "N", 2, nil)); diff != "" {
		t.Error(diff)
	}
	if got := x.Candidates("a/x.md", "./N", 0, nil); len(got) != 1 || got[0] != "a/N.md" {
		t.Errorf("%q", got)
	}
	if got := x.Candidates("a/x.md", "q^", 0, nil); got != nil {
		t.Errorf("%q", got)
	}
}

// oracle is the rules once more, over a plain list and without any index.
func oracle(paths []string, from, target string) string {
	norms := func(s string) string { return fold(strings.TrimSpace(s)) }
	text, _, _ := strings.Cut(target, "#")
	if norms(text) == "" {
		if slices.Contains(paths, from) {
			return from
		}
		return ""
	}
	written := strings.TrimSpace(text)
	for strings.Contains(written, "//") {
		written = strings.ReplaceAll(written, "//", "/")
	}
	relative := strings.HasPrefix(written, "./") || strings.HasPrefix(written, "../")
	written = strings.Trim(written, "/")
	if relative {
		written = path.Join(folderOf(from), written)
	}
	if n := nameOf(written); n == ".." || n == "." || n == "" {
		return ""
	}
	text = fold(written)

	type hit struct {
		path              string
		exact, own, exten bool
		length            int
		ext               string
	}
	var hits []hit
	for _, p := range paths {
		for _, ext := range []string{"", ".md"} {
			f := fold(p)
			exact := f == text+ext
			if !exact && (relative || !strings.HasSuffix(f, "/"+text+ext)) {
				continue
			}
			hits = append(hits, hit{
				path: p, exact: exact, own: folderOf(f) == fold(folderOf(from)), ext: ext,
				exten:  ext == "" && strings.LastIndexByte(nameOf(text), '.') <= 0,
				length: len(utf16.Encode([]rune(norm.NFC.String(p)))),
			})
		}
	}
	if len(hits) == 0 {
		return ""
	}
	better := func(a, b hit) int {
		c := cmp.Or(first(!a.exten, !b.exten), first(a.exact, b.exact))
		if c == 0 && !a.exact {
			c = first(a.own, b.own)
			if c == 0 && !a.own {
				c = cmp.Compare(a.length, b.length)
			}
		}
		spelled := func(h hit) bool { return strings.HasSuffix(h.path[:len(h.path)-len(h.ext)], written) }
		return cmp.Or(c, strings.Compare(a.ext, b.ext),
			first(!a.exact && folderOf(a.path) == folderOf(from), !b.exact && folderOf(b.path) == folderOf(from)),
			first(spelled(a), spelled(b)), strings.Compare(a.path, b.path))
	}
	return slices.MinFunc(hits, better).path
}

func TestResolveAgainstOracle(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	resolved := 0
	for range 3000 {
		v := newRandomVault(rnd)
		x := NewIndex(v.paths)
		for range 10 {
			from, target := v.link(rnd)
			hidden := map[string]bool{}
			for _, p := range v.paths {
				hidden[p] = rnd.IntN(4) == 0
			}
			shown := slices.DeleteFunc(slices.Clone(v.paths), func(p string) bool { return hidden[p] })
			visible := func(p string) bool { return !hidden[p] }

			want := oracle(shown, from, target)
			got, ok := x.Resolve(from, target, visible)
			if got != want || ok != (want != "") {
				t.Fatalf("%q from %q in %q: %q, want %q", target, from, shown, got, want)
			}
			all := x.Candidates(from, target, 0, visible)
			if ok != (len(all) > 0) || ok && all[0] != got {
				t.Fatalf("%q from %q in %q: %q, but candidates %q", target, from, shown, got, all)
			}
			if slices.ContainsFunc(all, func(p string) bool { return hidden[p] }) {
				t.Fatalf("%q: a hidden one is among %q", target, all)
			}
			for _, p := range all {
				if key := Key(target); !slices.Contains(KeysOf(p), key) && (key != "" || p != from) {
					t.Fatalf("%q can lead to %q, whose keys %q lack %q", target, p, KeysOf(p), key)
				}
			}
			if ok {
				resolved++
			}
		}
	}
	if resolved < 5000 {
		t.Errorf("only %d links led somewhere", resolved)
	}
}
