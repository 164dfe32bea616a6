package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/racing"
)

// What servers of this kind are known to get wrong in reading, each with the
// right answer.
func TestKnownHarms(t *testing.T) {
	picked := func(rows any, key string) string { // the values of a key, by row
		var all []string
		list, _ := rows.([]any)
		for _, r := range list {
			all = append(all, fmt.Sprint(r.(map[string]any)[key]))
		}
		return strings.Join(all, ", ")
	}
	for _, c := range []struct {
		harm  string
		files map[string]string
		tool  string
		args  args
		// got is what is compared with want.
		got  func(answer map[string]any) any
		want any
	}{
		{
			harm:  "attachments, canvases and addresses are called unresolved",
			files: map[string]string{"a.md": "[[Foo]] [[pic.png]] [[x.canvas]] [p](file.pdf) [m](mailto:a@b.c)\n", "Foo.md": "", "pic.png": "x", "x.canvas": "{}", "file.pdf": "x"},
			tool:  "find_unresolved_links", args: args{},
			got: func(a map[string]any) any { return a["total"] }, want: 0.0,
		},
		{
			harm:  "a link in a property is no backlink",
			files: map[string]string{"a.md": "---\nup: \"[[d]]\"\n---\n", "d.md": ""},
			tool:  "get_backlinks", args: args{"path": "d.md"},
			got: func(a map[string]any) any { return picked(a["backlinks"], "property") }, want: "up",
		},
		{
			harm:  "tags are cut where they leave ASCII",
			files: map[string]string{"a.md": "#größe #日本語 #🌱garden #naïve/café\n"},
			tool:  "get_note_tags", args: args{"path": "a.md"},
			got: func(a map[string]any) any { return fmt.Sprint(a["all"]) }, want: "[größe 日本語 🌱garden naïve/café]",
		},
		{
			harm:  "tasks in code count, those in callouts and with own marks do not",
			files: map[string]string{"a.md": "```\n- [ ] code\n```\n- [!] important\n\n> [!todo]\n> - [ ] inside\n"},
			tool:  "list_tasks", args: args{},
			got: func(a map[string]any) any { return picked(a["items"], "description") }, want: "important, inside",
		},
		{
			harm:  "properties behind a byte order mark are text",
			files: map[string]string{"a.md": "\ufeff---\nkind: plant\n---\nText\n"},
			tool:  "read_property", args: args{"path": "a.md", "key": "kind"},
			got: func(a map[string]any) any { return a["value"] }, want: "plant",
		},
		{
			harm:  "an empty block of properties is text",
			files: map[string]string{"a.md": "---\n---\nText\n"},
			tool:  "search_text", args: args{"query": "---"},
			got: func(a map[string]any) any { return a["notes"] }, want: 1.0, // as the app's search sees the file
		},
		{
			harm:  "a whole word that ends in a letter with an accent is not found",
			files: map[string]string{"a.md": "the café opens\n", "b.md": "cafés\n"},
			tool:  "search_text", args: args{"query": "café", "whole_word": true},
			got: func(a map[string]any) any { return picked(a["items"], "path") }, want: "a.md",
		},
		{
			harm:  "a link that names a folder leads to another one",
			files: map[string]string{"A/note.md": "[[../B/Foo]]\n", "A/Foo.md": "", "B/Foo.md": ""},
			tool:  "get_outgoing_links", args: args{"path": "A/note.md"},
			got: func(a map[string]any) any { return picked(a["links"], "target_path") }, want: "B/Foo.md",
		},
		{
			harm:  "a link with a wrong folder leads to a file of the same name",
			files: map[string]string{"a.md": "[[Nowhere/Foo]]\n", "B/Foo.md": ""},
			tool:  "find_unresolved_links", args: args{},
			got: func(a map[string]any) any { return a["total"] }, want: 1.0,
		},
		{
			harm:  "a fence closed by another sign turns code and text around",
			files: map[string]string{"a.md": "~~~\n[[one]]\n```\n[[two]]\n~~~\n\n[[three]]\n\n````\n```\n[[four]]\n````\n[[five]]\n"},
			tool:  "get_outgoing_links", args: args{"path": "a.md"},
			got: func(a map[string]any) any { return picked(a["links"], "target") }, want: "three, five",
		},
		{
			harm:  "a comment in code is a heading",
			files: map[string]string{"a.md": "# Top\n```bash\n# Setup\n```\n## Next ##\nhere\n"},
			tool:  "read_section", args: args{"path": "a.md", "heading": []string{"Top", "Next"}, "format": "json"},
			got: func(a map[string]any) any { return a["content"] }, want: "## Next ##\nhere\n",
		},
		{
			harm:  "one missing or denied note fails the batch",
			files: map[string]string{"a.md": "alpha\n"},
			tool:  "read_notes", args: args{"paths": []string{"a.md", "gone.md"}},
			got: func(a map[string]any) any { return picked(a["notes"], "path") }, want: "a.md",
		},
	} {
		t.Run(c.harm, func(t *testing.T) {
			a := over(t, c.files, "")
			raw, err := json.Marshal(c.args)
			if err != nil {
				t.Fatal(err)
			}
			res, err := do(t.Context(), a, c.tool, string(raw))
			if err != nil {
				t.Fatal(err)
			}
			var answer map[string]any
			if err := json.Unmarshal(res.Structured, &answer); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, c.got(answer)); d != "" {
				t.Errorf("-want +got:\n%s\n%s", d, res.Structured)
			}
		})
	}
}

// A cursor that orders otherwise than the list repeats notes and loses others.
func TestPagesOfMixedNamesAreWhole(t *testing.T) {
	names := []string{"_x.md", "a.md", "B.md", "c.md", "z.md", "z/1.md", "z/2.md", "Ä.md"}
	files := map[string]string{}
	for _, n := range names {
		files[n] = "x"
	}
	seen := map[string]int{}
	for _, p := range list(t, over(t, files, ""), args{"limit": 2}) {
		seen[p]++
	}
	for _, n := range names {
		if seen[n] != 1 {
			t.Errorf("%s came %d times", n, seen[n])
		}
	}
}

// A ring of 20,000 notes is no reason to run out of stack.
func TestALargeRingIsOneCycle(t *testing.T) {
	racing.Skips(t)
	dir := filepath.Join(t.TempDir(), "vault")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	for i := range n {
		text := fmt.Sprintf("[[%d]]\n", (i+1)%n)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir))
	var out struct {
		Total  int
		Cycles [][]string
	}
	if err := call(t, a, "find_link_cycles", args{}, &out); err != nil {
		t.Fatal(err)
	}
	if out.Total != 1 || len(out.Cycles) != 1 {
		t.Errorf("%d cycles, %d listed", out.Total, len(out.Cycles))
	}
}
