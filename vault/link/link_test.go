package link

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct {
		markup string
		want   Link
	}{
		{"[[Guide]]", Link{Path: "Guide"}},
		{"[[Guide#Tools#Saws|the saws]]", Link{Path: "Guide", Subpath: "#Tools#Saws", Text: "the saws"}},
		{"![[map.png|120x80]]", Link{Path: "map.png", Text: "120x80", Embed: true}},
		{"![[plan.pdf#page=3]]", Link{Path: "plan.pdf", Subpath: "#page=3", Embed: true}},
		{"[[#Here]]", Link{Subpath: "#Here"}},
		{"[[Guide#^b1]]", Link{Path: "Guide", Subpath: "#^b1"}},
		{"[[Guide|one | two]]", Link{Path: "Guide", Text: "one | two"}},
		{"[[Guide||dbl]]", Link{Path: "Guide", Text: "|dbl"}},
		{"[[|shown]]", Link{Path: "|shown"}},
		{"[[|]]", Link{Path: "|"}},
		{`[[Saw\|the saw]]`, Link{Path: "Saw", Text: "the saw"}},
		{"[[Sq]uid]]", Link{Path: "Sq]uid"}},
		{"[[a%20b]]", Link{Path: "a%20b"}},
		{"[[https://example.org/page]]", Link{Path: "https://example.org/page"}},
		{"[the orchard](Old%20Orchard.md)", Link{Path: "Old Orchard.md", Text: "the orchard", Markdown: true}},
		{"[g](<Old Forge.md#Big Tools>)", Link{Path: "Old Forge.md", Subpath: "#Big Tools", Text: "g", Markdown: true}},
		{`[x](Forge.md "tip")`, Link{Path: "Forge.md", Text: "x", Markdown: true}},
		{`[x](<a b.md> 'tip')`, Link{Path: "a b.md", Text: "x", Markdown: true}},
		{`[x]( Forge.md (tip) )`, Link{Path: "Forge.md", Text: "x", Markdown: true}},
		{"![](Forge.md)", Link{Path: "Forge.md", Markdown: true, Embed: true}},
		{"[c](C++%20(draft).md)", Link{Path: "C++ (draft).md", Text: "c", Markdown: true}},
		{"[t](#Tools)", Link{Subpath: "#Tools", Text: "t", Markdown: true}},
		{"[a [b] c](d.md)", Link{Path: "d.md", Text: "a [b] c", Markdown: true}},
		{"[w](https://example.org/#a)", Link{Path: "https://example.org/#a", Text: "w", Markdown: true, External: true}},
	}
	for _, tt := range tests {
		got, ok := Parse(tt.markup)
		if diff := cmp.Diff(tt.want, got); !ok || diff != "" {
			t.Errorf("%s: %v\n%s", tt.markup, ok, diff)
		}
	}
}

func TestParseRefusesWhatIsNoLink(t *testing.T) {
	for _, markup := range []string{
		"", "!", "Guide", "[[]]", "[[", "[[]", "[[a", "[[a]", "[[a]] and [[b]]", "[[Outer [[Inner]] tail]]", "[[Multi\nLine]]",
		" [[a]]", "[[a]].", "[]()", "[x]()", "[x](<>)", "[w](Sub/Wet Clay.md)", "[x](a.md", "[x](<a.md)", "[x](a.md b)",
		`[x](a.md "tip`, "[x](a)b)", "[x][a]", `\[[a]]`, "[x] (a.md)",
	} {
		if l, ok := Parse(markup); ok {
			t.Errorf("%q is taken for %+v", markup, l)
		}
	}
}

func TestDisplay(t *testing.T) {
	tests := []struct{ markup, want string }{
		{"[[Guide#Tools]]", "Guide > Tools"},
		{"[[Guide#Tools#Saws]]", "Guide > Tools > Saws"},
		{"[[#Here]]", "Here"},
		{"[[Guide#^b1]]", "Guide > ^b1"},
		{"[[Guide.md]]", "Guide.md"},
		{"[[x/Guide]]", "x/Guide"},
		{"[[x/Guide#A|b]]", "b"},
		{"[[Guide|]]", "Guide"},
		{"[[|]]", "|"},
		{"[](Guide.md)", ""},
	}
	for _, tt := range tests {
		l, _ := Parse(tt.markup)
		if got := l.Display(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.markup, got, tt.want)
		}
	}
}

func TestSize(t *testing.T) {
	tests := []struct {
		markup string
		w, h   int
		ok     bool
	}{
		{"![[map.png|120x80]]", 120, 80, true},
		{"![[map.png|120]]", 120, 0, true},
		{"![[map.png|a map|120]]", 120, 0, true},
		{"![alt|90](map.png)", 90, 0, true},
		{"![90](map.png)", 90, 0, true},
		{"![[map.png|120x]]", 0, 0, false},
		{"![[map.png|-1]]", 0, 0, false},
		{"![[map.png|99999999999999999999]]", 0, 0, false},
		{"![[map.png]]", 0, 0, false},
		{"[[map.png|120]]", 0, 0, false},
	}
	for _, tt := range tests {
		l, _ := Parse(tt.markup)
		if w, h, ok := l.Size(); w != tt.w || h != tt.h || ok != tt.ok {
			t.Errorf("%s: %d, %d, %v", tt.markup, w, h, ok)
		}
	}
}

func TestExternal(t *testing.T) {
	for _, dest := range []string{"https://a.b/c", "HTTP://a", "mailto:ana@example.org", "obsidian://open?vault=v", "file:///x", "tel:+1"} {
		if !External(dest) {
			t.Errorf("%q is not taken for external", dest)
		}
	}
	for _, dest := range []string{"", ":", "a.md", "C:/x.md", `C:\x`, "a b:c", "1a:b", "#a:b", "./a:b", "//host/x", "über:x", "%20a:b"} {
		if External(dest) {
			t.Errorf("%q is taken for external", dest)
		}
	}
}

func TestDecode(t *testing.T) {
	tests := []struct{ dest, want string }{
		{"Wet%20Clay.md", "Wet Clay.md"},
		{"B%C3%BCcher/%c3%84pfel%20&%20%C3%96l.md", "Bücher/Äpfel & Öl.md"},
		{"a%2520b", "a%20b"},
		{"100%.md", "100%.md"},
		{"100%%20sure", "100% sure"},
		{"%FF%20a", "%FF%20a"},
		{"%zz%2", "%zz%2"},
		{"%23", "#"},
	}
	for _, tt := range tests {
		if got := Decode(tt.dest); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.dest, got, tt.want)
		}
	}
}
