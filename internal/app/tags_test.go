package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/racing"
)

func TestFieldCasesOfTags(t *testing.T) {
	fieldCases(t, "tags", map[string]func(*testing.T, *app.App, fieldCase){
		"tags": func(t *testing.T, a *app.App, c fieldCase) {
			want := []string{}
			for _, tag := range c.Expect["tags"].([]any) {
				want = append(want, tag.(string))
			}
			got := ask(t, a, "get_note_tags", c.Op.Args)
			if d := cmp.Diff(want, got.All); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			var listed []string
			for _, tag := range ask(t, a, "list_tags", args{}).Tags {
				listed = append(listed, tag.Tag)
			}
			slices.Sort(want)
			slices.Sort(listed)
			if !slices.Equal(want, listed) {
				t.Errorf("list_tags: %q, want %q", listed, want)
			}
		},
		"notes_with_tag": func(t *testing.T, a *app.App, c fieldCase) {
			var want []string
			for _, p := range c.Expect["paths"].([]any) {
				want = append(want, p.(string))
			}
			if d := cmp.Diff(want, ask(t, a, "find_notes_by_tag", c.Op.Args).paths()); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		},
	})
}

func TestTagsOfANote(t *testing.T) {
	a := over(t, map[string]string{"n.md": "---\ntags: [Work, work, a/b]\n---\n#WORK #new #New and #a/B\n"}, "")
	got := ask(t, a, "get_note_tags", args{"path": "n"})
	want := metadataOut{Frontmatter: []string{"Work", "a/b"}, Inline: []string{"WORK", "new", "a/B"}, All: []string{"Work", "a/b", "new"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestTagsAreCountedWithoutCase(t *testing.T) {
	a := over(t, map[string]string{
		".obsidian/app.json": `{"userIgnoreFilters":["Old/"]}`,
		"a.md":               "#Plan #plan #plan/home\n", "b.md": "---\ntags: [PLAN/Home/x, other]\n---\n", "Old/c.md": "#plan #gone\n", "D/d.md": "#plant #größe #GRÖẞE\n",
	}, "")
	for _, tt := range []struct {
		in   args
		want []string
	}{
		{args{}, []string{"größe 1 2", "other 1 1", "Plan 1 2", "plan/home 1 1", "PLAN/Home/x 1 1", "plant 1 1"}},
		{args{"nested": true}, []string{"Plan 2 4", "plan/home 2 2", "größe 1 2", "other 1 1", "PLAN/Home/x 1 1", "plant 1 1"}},
		{args{"sort": "name", "prefix": "#pl"}, []string{"Plan 1 2", "plan/home 1 1", "PLAN/Home/x 1 1", "plant 1 1"}},
		{args{"prefix": "PLAN/"}, []string{"plan/home 1 1", "PLAN/Home/x 1 1"}},
		{args{"folder": "D"}, []string{"größe 1 2", "plant 1 1"}},
		{args{"folder": "Old"}, []string{}},
	} {
		out := ask(t, a, "list_tags", tt.in)
		if d := cmp.Diff(tt.want, out.tags()); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.in, d)
		}
		if out.Total != len(out.Tags) {
			t.Errorf("%v: total %d of %d", tt.in, out.Total, len(out.Tags))
		}
	}
	if out := ask(t, a, "list_tags", args{}); out.Scanned != 3 || out.Excluded != 1 {
		t.Errorf("scanned %d, excluded %d", out.Scanned, out.Excluded)
	}
}

func TestEveryPageHasEachTagOnce(t *testing.T) {
	racing.Skips(t)
	files := map[string]string{}
	for i := range 23 {
		files[fmt.Sprintf("n%d.md", i)] = fmt.Sprintf("#t%d #all #even%d/x #%s\n", i, i%2, strings.Repeat("long", 400+i))
	}
	a := over(t, files, "")
	for _, tool := range []string{"list_tags", "list_properties", "find_notes_by_tag", "find_notes_by_property"} {
		for _, in := range []args{{"sort": "count", "nested": true}, {"sort": "name"}} {
			switch tool {
			case "list_properties":
				in = args{}
			case "find_notes_by_tag":
				in = args{"tag": "all"}
			case "find_notes_by_property":
				in = args{"key": "k", "op": "missing"}
			}
			whole := rowsOf(t, a, tool, in)
			for limit := 1; limit <= len(whole)+1; limit++ {
				in["limit"] = limit
				if d := cmp.Diff(whole, rowsOf(t, a, tool, in)); d != "" {
					t.Fatalf("%s %v (-whole +pages):\n%s", tool, in, d)
				}
			}
		}
	}
}

// Obsidian's tags of any script were cut or lost.
func TestTagsOfAnyScriptAreFoundWhole(t *testing.T) {
	a := over(t, map[string]string{"n.md": "#日本語/東京 #café #emoji😀 #1a (#no) \\#no ```#no```\n"}, "")
	for tag, want := range map[string]int{"日本語": 1, "日本": 0, "東京": 0, "#CAFÉ": 1, "cafe\u0301": 1, "caf": 0, "emoji😀": 1, "emoji": 0, "no": 0, " #1A ": 1} {
		if got := ask(t, a, "find_notes_by_tag", args{"tag": tag}).Total; got != want {
			t.Errorf("%s: %d notes, want %d", tag, got, want)
		}
	}
	for _, tag := range []string{"#", "/", "  "} {
		if err := call(t, a, "find_notes_by_tag", args{"tag": tag}, &metadataOut{}); fault.Of(err) == nil || fault.Of(err).Code != fault.InvalidInput {
			t.Errorf("%q: %v", tag, err)
		}
	}
	if got := ask(t, a, "find_notes_by_tag", args{"tag": "日本語", "nested": false}).Total; got != 0 {
		t.Errorf("without nested: %d notes", got)
	}
}

// A tag as deep as a line is long takes no more than its length.
func TestAnEndlesslyNestedTagDoesNoHarm(t *testing.T) {
	a := over(t, map[string]string{"a.md": "#" + strings.Repeat("a/", 100_000) + "b #a\n"}, "")
	rows := rowsOf(t, a, "list_tags", args{"nested": true, "limit": 5})
	if len(rows) < 10 || len(rows) > 100 || rows[0] != `{"tag":"a","count":1,"places":2}` {
		t.Errorf("%d rows, first %s", len(rows), rows[0])
	}
	if got := ask(t, a, "find_notes_by_tag", args{"tag": "a/a"}); got.Total != 1 || len(got.Matches[0].Tags[0]) > 400 {
		t.Errorf("%+v", got)
	}
}
