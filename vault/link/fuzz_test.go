package link

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"vault-mcp/vault"
	"vault-mcp/vault/note"
	"vault-mcp/vault/settings"
)

func FuzzResolve(f *testing.F) {
	f.Add("a/N.md\nb/N.md\nN.md", "a/N.md", "N", uint8(0))
	f.Add("p.png\np.png.md\nx/p.PNG", "p.png.md", "./p.png#a", uint8(1))
	f.Add("a\u00a0b.md\na b.md\ne\u0301.md\né.md", "é.md", "../a  b", uint8(7))
	f.Add("Straße/ſ.MD\nSTRASSE/s.md\nC#.md\na^b/x", "a^b/x", "strasse//S/", uint8(2))
	f.Add("[x].md\na|b.md\n100% %20.md\nRe: (.md", "[x].md", " /re: (", uint8(12))
	f.Fuzz(func(t *testing.T, list, from, target string, mode uint8) {
		paths := strings.Split(list, "\n")
		if len(paths) > 50 {
			return
		}
		visible := func(p string) bool { return len(p)%3 != int(mode)%4 }
		var files, shown []string
		for _, p := range paths {
			if isPath(p) && !slices.Contains(files, p) {
				files = append(files, p)
				if visible(p) {
					shown = append(shown, p)
				}
			}
		}
		x, seen := NewIndex(paths), NewIndex(shown)
		if x.Len() != len(files) {
			t.Fatalf("%d files of %q", x.Len(), files)
		}
		got, ok := x.Resolve(from, target, visible)
		if ok && !slices.Contains(shown, got) {
			t.Fatalf("%q is none of %q", got, shown)
		}
		if again, _ := seen.Resolve(from, target, nil); again != got {
			t.Fatalf("%q with filter, %q without the others", got, again)
		}
		if key := Key(target); ok && !slices.Contains(KeysOf(got), key) && (key != "" || vault.FoldName(got) != vault.FoldName(from)) {
			t.Fatalf("%q leads to %q, which lacks the key %q", target, got, key)
		}
		if all := seen.Candidates(from, target, 0, nil); ok != (len(all) > 0) || ok && all[0] != got {
			t.Fatalf("%q, but candidates %q", got, all)
		}
		o := Options{
			Format:   []settings.LinkFormat{settings.Shortest, settings.Relative, settings.Absolute}[mode%3],
			Markdown: mode&8 != 0, Embed: mode&16 != 0,
		}
		for _, to := range shown {
			markup, ok := seen.Text(from, to, o)
			if !ok {
				if canLink(to, shown) {
					t.Fatalf("no link leads from %q to %q in %q, not even %q", from, to, shown, markup)
				}
				continue
			}
			l, isLink := Parse(markup)
			if got, leads := seen.Resolve(from, l.Path, nil); !isLink || !leads || got != to {
				t.Fatalf("%q leads from %q to %q, not %q", markup, from, got, to)
			}
		}
	})
}

// canLink is sure that a link can lead to a file: it has an extension, nothing that a link cannot say, and no twin.
func canLink(path string, all []string) bool {
	twins := 0
	for _, p := range all {
		if fold(p) == fold(path) {
			twins++
		}
	}
	return twins == 1 && hasExtension(path) && len(path) < maxTarget && utf8.ValidString(path) &&
		!strings.ContainsAny(path, "#^\r") && strings.TrimSpace(nameOf(path)) == nameOf(path)
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"[[a#b|c]]", "![[a|100x20]]", `[a [b]](<c d.md#e> "t")`, "[x](a%20(b).md)", `[[a\|b]]`, "[[]]", "[](https://a)", "%C3%28%", "#a##b#",
	} {
		f.Add(s)
	}
	n := note.Scan([]byte("# A\n\n## b\n\ntext ^id\n"))
	f.Fuzz(func(t *testing.T, s string) {
		path, sub := Split(s)
		if path+sub != s || strings.Contains(path, "#") || sub != "" && sub[0] != '#' {
			t.Fatalf("%q: %q and %q", s, path, sub)
		}
		if External(s) && !strings.Contains(s, ":") {
			t.Fatalf("%q has no scheme", s)
		}
		if l, ok := Parse(s); ok {
			l.Size()
			if l.External && (l.Subpath != "" || !l.Markdown) {
				t.Fatalf("%q: %+v", s, l)
			}
			if !l.Markdown && !strings.Contains(s, l.Target()) {
				t.Fatalf("%q: target %q", s, l.Target())
			}
		}
		encoded := Destination{}.Encode(s)
		if d := Decode(encoded); d != s && utf8.ValidString(s) {
			t.Fatalf("%q becomes %q by way of %q", s, d, encoded)
		}
		if d := Decode(s); utf8.ValidString(s) && !utf8.ValidString(d) {
			t.Fatalf("%q is decoded to %q", s, d)
		}
		if dest, rest, ok := cutDestination(encoded); s != "" && (!ok || rest != "" || dest != encoded) {
			t.Fatalf("%q is no whole destination", encoded)
		}
		if sub := HeadingSubpath(s); strings.LastIndexByte(sub, '#') != 0 {
			t.Fatalf("%q becomes %q", s, sub)
		}
		Locate(n, sub)
		Display(s)
	})
}
