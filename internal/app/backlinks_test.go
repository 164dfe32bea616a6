package app_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBacklinksSeePropertiesCanvasesAndEmbedsButNoCode(t *testing.T) {
	a := linked(t, crafts)
	out := links(t, a, "get_backlinks", args{"path": "lathe"})
	want := []string{
		"Drill.md1:5 wikilink [[Lathe|the lathe]]", "Drill.md1:25 embed ![[Lathe#Speed slow]]", "Drill.md1:47 markdown [l](Lathe.md#^b1)",
		"Drill.md1:65 markdown [l](<Lathe.md> \"t\")", "Drill.md1:85 markdown [l](./Lathe%2Emd)", "Drill.md1:117 wikilink [[Lathe]]",
		"Drill.md10:3 wikilink [[Lathe\\|x]]",
		"Lathe.md9:5 wikilink [[#Setup]] self",
		"Shop.md2:156 wikilink [[Lathe#Nowhere]]",
		"wall.canvas3:3 canvas Lathe.md", "wall.canvas4:3 canvas Lathe.md#Setup",
	}
	if d := cmp.Diff(want, brief(out.Backlinks)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if out.Total != len(want) || out.Sources != 4 {
		t.Errorf("total %d of %d sources", out.Total, out.Sources)
	}
	if b := out.Backlinks[0]; b.Display != "the lathe" || !strings.Contains(b.Snippet, "[[Lathe|the lathe]]") {
		t.Errorf("%+v", b)
	}
	if b := out.Backlinks[10]; b.Node != "2" || b.Heading != "Setup" {
		t.Errorf("%+v", b)
	}
	if d := cmp.Diff([]string{"Lathe.md3:6 wikilink [[Shop#Tools]] in up", "Lathe.md9:20 wikilink [[ shop ]]", "Shop.md2:146 wikilink [[#None]] self"},
		brief(links(t, a, "get_backlinks", args{"path": "Shop.md"}).Backlinks)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff([]string{"Lathe.md5:6 wikilink [[Drill|d]] in more", "Old/Alone.md1:79 wikilink [[Drill|Lathe]]"},
		brief(links(t, a, "get_backlinks", args{"path": "Drill.md"}).Backlinks)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestBacklinksOfFilesThatAreNoNotes(t *testing.T) {
	a := linked(t, crafts)
	for path, want := range map[string]int{"fire pit.png": 3, "doc.pdf": 1, "wall.canvas": 1, "Old/drill.base": 0} {
		if got := links(t, a, "get_backlinks", args{"path": path}); got.Total != want {
			t.Errorf("%s: %v", path, brief(got.Backlinks))
		}
	}
}

func TestBacklinksWithContext(t *testing.T) {
	long := strings.Repeat("wörter ", 200)
	a := linked(t, map[string]string{"a.md": "one\r\ntwo\r\nsee [[b]] here\r\nfour\r\n", "b.md": "", "c.md": long + "[[b]]" + long})
	out := links(t, a, "get_backlinks", args{"path": "b", "context": 1})
	if got, want := out.Backlinks[0].Snippet, "two\nsee [[b]] here\nfour"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if s := out.Backlinks[1].Snippet; len(s) > 1000 || !strings.Contains(s, "[[b]]") || !strings.HasPrefix(s, "…") || !strings.HasSuffix(s, "…") {
		t.Errorf("%d bytes: %q", len(s), s)
	}
}

func TestUnlinkedMentionsAreWholeWordsOutsideLinksAndCode(t *testing.T) {
	a := linked(t, crafts)
	out := links(t, a, "get_backlinks", args{"path": "Lathe.md", "unlinked": true})
	var mentions []linkRow
	for _, r := range out.Backlinks {
		if r.Kind == "mention" {
			mentions = append(mentions, r)
		}
	}
	want := []string{"Old/Alone.md1:5 mention lathe", "Old/Alone.md1:15 mention turning bench", "Old/Alone.md1:95 mention Lathe"}
	if d := cmp.Diff(want, brief(mentions)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if out.Unlinked == nil || *out.Unlinked != len(want) || out.Total != 11 {
		t.Errorf("%v unlinked, %d linked", out.Unlinked, out.Total)
	}
	if !strings.Contains(mentions[1].Snippet, "turning bench;") {
		t.Errorf("%+v", mentions[1])
	}
	a = linked(t, map[string]string{"東京.md": "", "n.md": "私は東京に住む\n", "Über.md": "", "m.md": "über alles, U\u0308BER, Übers\n"})
	for path, want := range map[string]int{"東京": 1, "Über": 2} {
		if got := links(t, a, "get_backlinks", args{"path": path, "unlinked": true}); *got.Unlinked != want {
			t.Errorf("%s: %v", path, brief(got.Backlinks))
		}
	}
}

func TestTerseBacklinksSayWhereAndNoMore(t *testing.T) {
	a := linked(t, map[string]string{"a.md": "one [[b|that]] two\n", "b.md": ""})
	got := links(t, a, "get_backlinks", args{"path": "b.md", "verbosity": "terse"})
	if got.Total != 1 || len(got.Backlinks) != 1 {
		t.Fatalf("%+v", got)
	}
	if r := got.Backlinks[0]; r.Source != "a.md" || r.Line != 1 || r.Col != 5 || r.Snippet != "" || r.Raw != "" {
		t.Errorf("%+v", r)
	}
}
