package link

import (
	"math/rand/v2"
	"strings"
	"testing"

	"vault-mcp/vault/note"
	"vault-mcp/vault/settings"
)

func TestText(t *testing.T) {
	const crafts = "crafts/Forge.md log/day.md img/fire_pit.png"
	md := Options{Markdown: true}
	tests := []struct {
		name, files, from, to string
		o                     Options
		want                  string
	}{
		{"shortest", crafts, "log/day.md", "crafts/Forge.md", Options{}, "[[Forge]]"},
		{"shortest, taken", crafts + " town/Forge.md", "log/day.md", "crafts/Forge.md", Options{}, "[[crafts/Forge]]"},
		{"shortest, taken in another case", crafts + " town/forge.md", "log/day.md", "crafts/Forge.md", Options{}, "[[crafts/Forge]]"},
		{"shortest, taken by a hidden one", crafts + " town/Forge.md", "log/day.md", "crafts/Forge.md",
			Options{Visible: func(p string) bool { return p != "town/Forge.md" }}, "[[Forge]]"},
		{"shortest, taken in the root", "Kiln.md a/Kiln.md x.md", "x.md", "Kiln.md", Options{}, "[[Kiln]]"},
		{"absolute", crafts, "log/day.md", "crafts/Forge.md", Options{Format: settings.Absolute}, "[[crafts/Forge]]"},
		{"relative", crafts, "log/day.md", "crafts/Forge.md", Options{Format: settings.Relative}, "[[../crafts/Forge]]"},
		{"relative, same folder", crafts + " log/x.md", "log/day.md", "log/x.md", Options{Format: settings.Relative}, "[[x]]"},
		{"relative, below", crafts + " log/a/b/x.md", "log/day.md", "log/a/b/x.md", Options{Format: settings.Relative}, "[[a/b/x]]"},
		{"relative, beside a folder with the same beginning", "ab/x.md a/y.md", "a/y.md", "ab/x.md", Options{Format: settings.Relative}, "[[../ab/x]]"},
		{"relative, where the name alone leads elsewhere", "N.md a/N.md a/x.md", "a/x.md", "a/N.md", Options{Format: settings.Relative}, "[[./N]]"},
		{"text", crafts, "log/day.md", "crafts/Forge.md", Options{Text: "the hot place"}, "[[Forge|the hot place]]"},
		{"text like the target", crafts, "log/day.md", "crafts/Forge.md", Options{Text: "Forge"}, "[[Forge]]"},
		{"sub-path", crafts, "log/day.md", "crafts/Forge.md", Options{Subpath: HeadingSubpath("Saws: old")}, "[[Forge#Saws old]]"},
		{"sub-path without #", crafts, "log/day.md", "crafts/Forge.md", Options{Subpath: "^b1"}, "[[Forge#^b1]]"},
		{"part of the note itself", crafts, "log/day.md", "log/day.md", Options{Subpath: "#Tools"}, "[[#Tools]]"},
		{"the note itself", crafts, "log/day.md", "log/day.md", Options{}, "[[day]]"},
		{"embed", crafts, "log/day.md", "img/fire_pit.png", Options{Embed: true, Text: "100x50"}, "![[fire pit.png|100x50]]"},
		{"embed in Markdown", crafts, "log/day.md", "img/fire_pit.png", Options{Embed: true, Markdown: true}, "![](fire%20pit.png)"},
		{"Markdown", crafts, "log/day.md", "crafts/Forge.md", md, "[Forge](Forge.md)"},
		{"Markdown with sub-path", crafts, "log/day.md", "crafts/Forge.md", Options{Markdown: true, Subpath: "#Big Saws"}, "[Forge > Big Saws](Forge.md#Big%20Saws)"},
		{"Markdown to the note itself", crafts, "log/day.md", "log/day.md", Options{Markdown: true, Subpath: "#Tools"}, "[Tools](#Tools)"},
		{"Markdown to a file", crafts, "log/day.md", "img/fire_pit.png", md, "[fire pit.png](fire%20pit.png)"},
		{"Markdown keeps what is no blank", "Süd_(2)_[x]&'é.md n.md", "n.md", "Süd_(2)_[x]&'é.md", md, "[Süd (2) [x]&'é](Süd%20(2)%20[x]&'é.md)"},
		{"Markdown with a single parenthesis", "a(b.md n.md", "n.md", "a(b.md", md, "[a(b](a%28b.md)"},
		{"Markdown with a single bracket", "a]b.md n.md", "n.md", "a]b.md", md, `[a\]b](a]b.md)`},
		{"Markdown with a harmless percent", "100%.md n.md", "n.md", "100%.md", md, "[100%](100%.md)"},
		{"Markdown with a percent beside a blank", "100%_a.md n.md", "n.md", "100%_a.md", md, "[100% a](100%25%20a.md)"},
		{"Markdown with a percent that looks like an escape", "a%20b.md n.md", "n.md", "a%20b.md", md, "[a%20b](a%2520b.md)"},
		{"Markdown with what looks like a scheme", "Re:_x.md n.md", "n.md", "Re:_x.md", md, "[Re: x](/Re:%20x.md)"},
		{"a bracket at the end needs the extension", "a_[x].md n.md", "n.md", "a_[x].md", Options{}, "[[a [x].md]]"},
		{"two brackets make it Markdown", "a]]b.md n.md", "n.md", "a]]b.md", Options{}, `[a\]\]b](a]]b.md)`},
		{"a bar makes it Markdown", "a|b.md n.md", "n.md", "a|b.md", Options{}, "[a|b](a|b.md)"},
		{"brackets in the text make it Markdown", crafts, "log/day.md", "crafts/Forge.md", Options{Text: "see ]]"}, `[see \]\]](Forge.md)`},
		{"a note called like a picture", "p.png p.png.md n.md", "n.md", "p.png.md", Options{}, "[[p.png.md]]"},
		{"a twin", "N.md n.md x.md", "x.md", "n.md", Options{}, "[[n]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := NewIndex(strings.Split(strings.ReplaceAll(strings.ReplaceAll(tt.files, " ", "\n"), "_", " "), "\n"))
			got, ok := x.Text(tt.from, strings.ReplaceAll(tt.to, "_", " "), tt.o)
			if got != tt.want || !ok {
				t.Errorf("%s, %v; want %s", got, ok, tt.want)
			}
		})
	}
}

func TestTextSaysWhenNoLinkLeadsThere(t *testing.T) {
	x := NewIndex([]string{"C#.md", "a^b.md", "hidden.md", "n.md", "LICENSE", "LICENSE.md"})
	for to, want := range map[string]string{
		"C#.md": "[[C#]]", "a^b.md": "[[a^b]]", "hidden.md": "[[hidden]]", "gone.md": "[[gone]]", "LICENSE": "[[LICENSE]]",
	} {
		got, ok := x.Text("n.md", to, Options{Visible: func(p string) bool { return p != "hidden.md" }})
		if ok || got != want {
			t.Errorf("%s: %s, %v", to, got, ok)
		}
	}
}

// Every file that a link can reach at all is reached by the one that is written for it.
func TestTextLeadsToTheFile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 1500 {
		v := newRandomVault(rnd)
		x := NewIndex(v.paths)
		for _, to := range v.paths {
			from := pick(rnd, v.paths...)
			o := Options{
				Format:   settings.LinkFormat(pick(rnd, "", "shortest", "relative", "absolute")),
				Markdown: rnd.IntN(2) == 0, Embed: rnd.IntN(2) == 0,
				Text: pick(rnd, "", "x", "a]]b", "a\nb", "[", `\`), Subpath: pick(rnd, "", "#A b", "#^id", "#a [x]", "#50%20"),
			}
			markup, ok := x.Text(from, to, o)
			if !ok && hasExtension(to) {
				t.Fatalf("%q from %q in %q: %s leads nowhere", to, from, v.paths, markup)
			}
			l, isLink := Parse(markup)
			if got, _ := x.Resolve(from, l.Path, nil); ok && (!isLink || got != to || l.Subpath != o.Subpath || l.Embed != o.Embed) {
				t.Fatalf("%q from %q in %q: %s leads to %q, %q", to, from, v.paths, markup, got, l.Subpath)
			}
		}
	}
}

// hasExtension is what a file needs so that no note can take its links.
func hasExtension(path string) bool { return strings.LastIndexByte(nameOf(path), '.') > 0 }

func TestLocate(t *testing.T) {
	n := note.Scan([]byte(`# Oven: preheat

## tools

A line. ^One

# Tue

## Tools

### Small tools

- item ^one

## ???
`))
	tests := []struct {
		subpath string
		want    int
	}{
		{"#Oven preheat", 1},
		{"#Oven: preheat", 1},
		{"#Tools", 3}, // the first, although another is spelled so
		{"#Tue#Tools", 9},
		{"#Tue#Small tools", 11},
		{"#Tools#small  TOOLS", 11},
		{"#Tools#Tue", 0},
		{"#Oven preheat#Small tools", 0},
		{"#^one", 5},
		{"#Tue#^one", 5},
		{"#^two", 0},
		{"#???", 15},
		{"#", 0},
		{"# ", 0},
		{"", 0},
		{"#page=3", 0},
	}
	for _, tt := range tests {
		if got, ok := Locate(n, tt.subpath); got.Line != tt.want || ok != (tt.want > 0) {
			t.Errorf("%q: line %d, %v; want %d", tt.subpath, got.Line, ok, tt.want)
		}
	}
}

func TestHeadingSubpathFindsTheHeading(t *testing.T) {
	for _, title := range []string{"Oven: preheat", "C# | F#", `a\b ^c`, "100%% sure", "see [[Note|this]] now", "1:2:3", "  many   blanks "} {
		n := note.Scan([]byte("# Other\n\n# " + title + "\n"))
		sub := HeadingSubpath(title)
		if strings.ContainsAny(sub[1:], `:#|^\`) || strings.Contains(sub, "[[") {
			t.Errorf("%q: %q", title, sub)
		}
		if p, ok := Locate(n, sub); !ok || p.Line != 3 {
			t.Errorf("%q is not found by %q", title, sub)
		}
	}
	if got := HeadingSubpath("A: b", "C"); got != "#A b#C" {
		t.Errorf("%q", got)
	}
}

func TestNewNote(t *testing.T) {
	at := func(where settings.NewFileLocation) settings.Settings {
		s := settings.Default()
		s.NewFileLocation, s.NewFileFolder = where, "In/box"
		return s
	}
	tests := []struct {
		from, target string
		s            settings.Settings
		want         string
	}{
		{"log/day.md", "New", at(settings.InRoot), "New.md"},
		{"log/day.md", "New", at(settings.InCurrent), "log/New.md"},
		{"log/day.md", "New", at(settings.InFolder), "In/box/New.md"},
		{"log/day.md", "New.md#H", at(settings.InFolder), "In/box/New.md"},
		{"log/day.md", "v1.2", at(settings.InRoot), "v1.2.md"},
		{"log/day.md", "a/New", at(settings.InFolder), "a/New.md"},
		{"log/day.md", "/New", at(settings.InFolder), "New.md"},
		{"log/day.md", "./New", at(settings.InFolder), "log/New.md"},
		{"log/day.md", "../x/New", at(settings.InFolder), "x/New.md"},
		{"log/day.md", " Cafe\u0301\u00a01 ", at(settings.InRoot), "Café 1.md"},
		{"log/day.md", "../../New", at(settings.InRoot), ""},
		{"log/day.md", "a/../New", at(settings.InRoot), ""},
		{"log/day.md", ".New", at(settings.InRoot), ""},
		{"log/day.md", "", at(settings.InRoot), ""},
		{"log/day.md", "#H", at(settings.InRoot), ""},
		{"log/day.md", "a^b", at(settings.InRoot), ""},
	}
	for _, tt := range tests {
		if got, ok := NewNote(tt.from, tt.target, tt.s); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q: %q, %v; want %q", tt.target, got, ok, tt.want)
		}
	}
}

func TestFreePath(t *testing.T) {
	x := NewIndex([]string{"pic.png", "PIC 1.png", "a.b/c", "a.b/c 1", "x.tar.gz"})
	for p, want := range map[string]string{
		"new.png": "new.png", "Pic.png": "Pic 2.png", "pic 1.png": "pic 1 1.png", "a.b/c": "a.b/c 2", "x.tar.gz": "x.tar 1.gz",
	} {
		if got, ok := FreePath(p, x.Has); got != want || !ok {
			t.Errorf("%q: %q, %v; want %q", p, got, ok, want)
		}
	}
	if p, ok := FreePath("a", func(string) bool { return true }); ok {
		t.Errorf("%q is free where all is taken", p)
	}
	for _, name := range []string{"", "..", "a/", "a/.b"} {
		if p, ok := AttachmentPath("n.md", name, settings.Default(), x.Has); ok {
			t.Errorf("%q becomes %q", name, p)
		}
	}
}
