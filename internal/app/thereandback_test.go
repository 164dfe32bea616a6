package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A name that is given back gives every link back as it was written, though no
// link showed it meanwhile.
func TestANameGivenBackLeavesNoTrace(t *testing.T) {
	files := map[string]string{
		"Evergreen.md": "see [[EVERGREEN#a]]\n", "a.md": "[[evergreen]] [[Evergreen|evergreen]] [x](EverGreen.md)\r\n",
		"b.md": "---\nup: \"[[eVergreen]]\"\n---\n![[evergreen#part|p]]\n", "c.canvas": `{"nodes":[{"id":"1","type":"file","file":"Evergreen.md","x":0,"y":0,"width":1,"height":1}]}`,
	}
	a, dir := writable(t, files, true)
	var out written
	for _, m := range [][2]string{{"Evergreen.md", "Else/Other.md"}, {"Else/Other.md", "Evergreen.md"}} {
		if err := call(t, a, "move_note", args{"from": m[0], "to": m[1]}, &out); err != nil {
			t.Fatal(err)
		}
	}
	for p, want := range files {
		if d := cmp.Diff(want, content(t, dir, p)); d != "" {
			t.Errorf("%s (-want +got):\n%s", p, d)
		}
	}
	// What was changed in between is not given back, and nothing of it is lost.
	if err := call(t, a, "move_note", args{"from": "Evergreen.md", "to": "Other.md"}, &out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("[[Other]] and more\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := call(t, a, "move_note", args{"from": "Other.md", "to": "Evergreen.md"}, &out); err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir, "a.md"); got != "[[Evergreen]] and more\n" {
		t.Errorf("%q", got)
	}
	if got := content(t, dir, "b.md"); got != files["b.md"] {
		t.Errorf("%q", got)
	}
}
