package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/app"
	"vault-mcp/internal/racing"
)

// over serves a vault of these files.
func over(t *testing.T, files map[string]string, more string) *app.App {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault")
	plant(t, dir, files)
	return start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q%s}]\n", dir, more))
}

type warningRow struct {
	Path   string
	Line   int
	Reason string
}

type tagRow struct {
	Tag           string
	Count, Places int
}

type metadataOut struct {
	Tags       []tagRow
	Properties []struct {
		Key      string
		Count    int
		Types    []string
		Examples []string
	}
	Matches []struct {
		Path  string
		Tags  []string
		Value any
		Cut   bool
	}
	Frontmatter, Inline, All []string
	Scanned                  int `json:"notes_scanned"`
	Total                    int
	Excluded                 int
	Truncated                bool
	Warnings                 []warningRow
}

func (o metadataOut) paths() []string {
	paths := []string{}
	for _, m := range o.Matches {
		paths = append(paths, m.Path)
	}
	return paths
}

func (o metadataOut) tags() []string {
	tags := []string{}
	for _, t := range o.Tags {
		tags = append(tags, fmt.Sprintf("%s %d %d", t.Tag, t.Count, t.Places))
	}
	return tags
}

func ask(t *testing.T, a *app.App, tool string, in args) metadataOut {
	t.Helper()
	var out metadataOut
	if err := call(t, a, tool, in, &out); err != nil {
		t.Fatalf("%s %v: %v", tool, in, err)
	}
	return out
}

// fieldCase is a case of testdata/field.
type fieldCase struct {
	ID    string
	Files map[string]any
	Op    struct {
		What string
		Args args
	}
	Expect    map[string]any
	Certainty string
}

// fieldCases runs those cases of a kind that are certain and have one of the
// operations, each over a vault of its own.
func fieldCases(t *testing.T, kind string, run map[string]func(*testing.T, *app.App, fieldCase)) {
	b, err := os.ReadFile("../../testdata/field/" + kind + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []fieldCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range cases {
		f := run[c.Op.What]
		if f == nil || c.Certainty != "high" {
			continue
		}
		ran++
		t.Run(c.ID, func(t *testing.T) {
			files := map[string]string{}
			for path, text := range c.Files {
				files[path] = text.(string)
			}
			f(t, over(t, files, ""), c)
		})
	}
	if ran == 0 {
		t.Error("no case was run")
	}
}

// One broken note failed ten tools of the whole vault.
func TestOneBadNoteFailsNoCall(t *testing.T) {
	files := map[string]string{
		"good.md": "---\ntags: [x]\nk: 1\n---\n- [ ] t\n", "broken.md": "---\nfoo: [1, 2\n---\n#x\n- [ ] u\n", "utf16.md": "\xff\xfea\x00",
		"latin.md": "caf\xe9 #x\n",
	}
	a := over(t, files, "")
	want := []string{"broken.md", "latin.md", "utf16.md"}
	for tool, in := range map[string]args{
		"list_tags": {}, "find_notes_by_tag": {"tag": "x"}, "list_properties": {}, "find_notes_by_property": {"key": "k", "op": "missing"},
	} {
		out := ask(t, a, tool, in)
		var named []string
		for _, w := range out.Warnings {
			named = append(named, w.Path)
			if w.Reason == "" || w.Path == "broken.md" && w.Line < 2 {
				t.Errorf("%s: warning %+v", tool, w)
			}
		}
		if !slices.Equal(named, want) {
			t.Errorf("%s warns of %q, want %q", tool, named, want)
		}
	}
	if got := ask(t, a, "find_notes_by_tag", args{"tag": "x"}).paths(); !slices.Equal(got, []string{"broken.md", "good.md"}) {
		t.Errorf("the tags of the text are lost: %q", got)
	}
	// What a broken note lacks nobody knows.
	if out := ask(t, a, "find_notes_by_property", args{"key": "k", "op": "missing"}); out.Total != 0 {
		t.Errorf("missing: %+v", out)
	}
	if out := ask(t, a, "get_note_tags", args{"path": "broken"}); len(out.Warnings) != 1 || !slices.Equal(out.All, []string{"x"}) {
		t.Errorf("tags of a broken note: %+v", out)
	}
	if out := ask(t, a, "get_note_tags", args{"path": "latin"}); len(out.Warnings) != 1 || len(out.All) != 0 {
		t.Errorf("tags of a note that is no text: %+v", out)
	}
	if got := taskPage(t, a, args{}); len(got.Items) != 2 || len(got.Warnings) != 3 {
		t.Errorf("tasks: %+v", got)
	}
}

func TestWarningsAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 35 {
		files[fmt.Sprintf("b%02d.md", i)] = "---\n\t: [\n---\n"
	}
	dir := t.TempDir()
	plant(t, dir, files)
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\ngovernor: {soft_list_bytes: 100000}\n", dir))
	out := ask(t, a, "list_tags", args{})
	if len(out.Warnings) != 21 || !strings.HasPrefix(out.Warnings[20].Reason, "15 more") {
		t.Errorf("%d warnings, last %+v", len(out.Warnings), out.Warnings[len(out.Warnings)-1])
	}
}

// rowsOf are the rows of all pages of a list.
func rowsOf(t *testing.T, a *app.App, tool string, in args) []string {
	t.Helper()
	in = cloned(in)
	rows := []string{}
	for range 1000 {
		raw, _ := json.Marshal(in)
		res, err := do(t.Context(), a, tool, string(raw))
		if err != nil {
			t.Fatalf("%s %s: %v", tool, raw, err)
		}
		var out struct {
			Tags, Properties, Matches, Items []json.RawMessage
			Total                            int
			Next                             *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(res.Structured, &out); err != nil {
			t.Fatal(err)
		}
		for _, r := range slices.Concat(out.Tags, out.Properties, out.Matches, out.Items) {
			rows = append(rows, string(r))
		}
		if out.Next == nil {
			if out.Total != len(rows) {
				t.Errorf("%s %v: total %d of %d rows", tool, in, out.Total, len(rows))
			}
			return rows
		}
		in["cursor"] = *out.Next
	}
	t.Fatal("the pages do not end")
	return nil
}

// A page ends early where the answer would be refused for its size.
func TestNoPageOverflows(t *testing.T) {
	racing.Skips(t)
	files := map[string]string{}
	for i := range 120 {
		files[fmt.Sprintf("%s/n%03d.md", strings.Repeat("f", 100), i)] = fmt.Sprintf("---\nv: %q\nk%d: {x: %q}\n---\n#t%03d%s #x\n- [ ] %s 📅 2031-02-03\n",
			strings.Repeat(`\" `, 900), i, strings.Repeat("y", 70), i, strings.Repeat("z", 150), strings.Repeat(`q"`, 900))
	}
	dir := filepath.Join(t.TempDir(), "vault")
	plant(t, dir, files)
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\ngovernor: {max_response_bytes: 20000}\n", dir))
	for tool, in := range map[string]args{
		"list_tags": {}, "list_properties": {}, "find_notes_by_tag": {"tag": "x"}, "find_notes_by_property": {"key": "v"}, "list_tasks": {},
	} {
		in["limit"] = 1000
		if rows := rowsOf(t, a, tool, in); len(rows) < 120 {
			t.Errorf("%s: %d rows", tool, len(rows))
		}
	}
}

// Nothing of a hidden folder counts, and nothing but its absence shows, also
// where Obsidian does not exclude it.
func TestHiddenNotesCountNowhere(t *testing.T) {
	files := map[string]string{
		"a.md": "---\nk: 1\n---\n#shared\n- [ ] t #shared\n", "M/b.md": "---\nK: 2\n---\n#Shared/x\n- [x] u\n",
		"Private/0.md":      "---\nK: 3\nonly: 1\n---\n#SHARED #own\n- [ ] v #shared 📅 2031-02-03\n",
		"Private/broken.md": "---\n[\n---\n", "Private/bad.md": "\xff\xfe",
	}
	mine := []string{"get_note_tags", "list_tags", "find_notes_by_tag", "list_properties", "find_notes_by_property", "list_tasks"}
	answers := func(files map[string]string) map[string]string {
		got := map[string]string{}
		a := over(t, files, ", rules: [{glob: 'Private/**', verbs: {read: hide}}]")
		for _, tool := range mine {
			for _, args := range probes[tool] {
				text, _ := answer(t.Context(), a, tool, strings.ReplaceAll(args, `"limit":1`, `"limit":100`))
				got[tool+" "+args] = text
			}
		}
		return got
	}
	hidden := answers(files)
	maps.DeleteFunc(files, func(path, _ string) bool { return strings.HasPrefix(path, "Private/") })
	if d := cmp.Diff(answers(files), hidden); d != "" {
		t.Errorf("-deleted +hidden:\n%s", d)
	}
}
