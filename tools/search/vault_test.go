package search_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
)

// both serves a vault with an index and without.
func both(t *testing.T, files map[string]string) map[string]*dispatch.Dispatcher {
	t.Helper()
	dir := plant(t, files)
	return map[string]*dispatch.Dispatcher{"files": serve(t, dir, 1<<20), "index": serveIndexed(t, dir, 1<<20)}
}

func paths(t *testing.T, d *dispatch.Dispatcher, tool string, in args) string {
	t.Helper()
	items, _ := all(t, d, tool, in)
	var list []string
	for _, it := range items {
		list = append(list, it.Path)
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

func TestAQueryThatCannotBeReadSaysWhere(t *testing.T) {
	d := vaultOf(t, map[string]string{"a.md": "x"}, 1<<20)
	for query, want := range map[string][2]int{
		`😀 /[/`:        {5, 4},
		`a) b`:         {1, 2},
		`a [`:          {2, 3},
		`foo:bar`:      {0, 1},
		`x /a(?=b)/`:   {2, 3},
		`[a:>x]`:       {4, 5},
		"   ":          {0, 1},
		`a tags:#x OR`: {2, 3},
	} {
		_, err := do(t.Context(), d, "search_vault", args{"query": query})
		e := fault.Of(err)
		if err == nil || e.Code != fault.InvalidInput {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if got := [2]int{e.Details["position"].(int), e.Details["column"].(int)}; got != want || !strings.Contains(e.Message, fmt.Sprintf("column %d", want[1])) {
			t.Errorf("%s: at %v, want %v: %s", query, got, want, e.Message)
		}
	}
}

func TestWhatWasUnderstoodIsSaid(t *testing.T) {
	d := vaultOf(t, map[string]string{"a.md": "moss AND fern"}, 1<<20)
	res, err := do(t.Context(), d, "search_vault", args{"query": `moss AND "fern`, "explain": true})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"understood":"moss AND \"fern\""`, `the whole words`, `"column":6`, `"column":10`} {
		if !strings.Contains(string(res.Structured), want) {
			t.Errorf("no %s in %s", want, res.Structured)
		}
	}
	res, err = do(t.Context(), d, "search_vault", args{"query": "moss"})
	if err != nil || strings.Contains(string(res.Structured), "understood") || strings.Contains(string(res.Structured), "remarks") {
		t.Errorf("%s, %v", res.Structured, err)
	}
}

func TestQueriesReachEveryKindOfFile(t *testing.T) {
	for name, d := range both(t, map[string]string{
		"a.md": "---\ntags: [plan/now]\nrows: 4\n---\nmoss\n- [ ] water ferns\n", "deep/moss.md": "x", "moss.png": "moss", "deep/moss.canvas": "{}",
		"board.canvas":  `{"nodes":[{"id":"1","type":"text","text":"a fern card\nwith #tag"},{"id":"2","type":"text","text":"and moss\n- [ ] task"},{"id":"3","type":"file","file":"moss.md"}]}`,
		"broken.canvas": "{moss", "u16.md": "\xff\xfem\x00", "latin.md": "caf\xe9 moss",
	}) {
		for query, want := range map[string]string{
			"moss": "a.md board.canvas deep/moss.canvas deep/moss.md latin.md", "content:moss": "a.md board.canvas latin.md",
			"file:moss": "deep/moss.canvas deep/moss.md moss.png", "path:deep": "deep/moss.canvas deep/moss.md", "file:u16": "u16.md", "file:broken -moss": "broken.canvas",
			`"a fern card"`: "board.canvas", "line:(and card)": "", `"card with"`: "", "tag:plan": "a.md", "tag:#tag": "", "[rows:>3]": "a.md",
			"task-todo:ferns": "a.md", "task:task": "", "-moss": "broken.canvas", "-tag:plan -path:deep -file:u16 -file:.png": "board.canvas broken.canvas latin.md",
		} {
			if got := paths(t, d, "search_vault", args{"query": query, "limit": 2}); got != want {
				t.Errorf("%s, %s: got %q, want %q", name, query, got, want)
			}
		}
		a := find(t, d, "search_vault", args{"query": "fern"})
		if i := a.Items[slices.IndexFunc(a.Items, func(it item) bool { return it.Path == "board.canvas" })]; i.Line != 1 || i.Col != 3 || i.Snippet != "a fern card" {
			t.Errorf("%s: in a canvas at %+v", name, i)
		}
		if len(a.Warnings) != 3 {
			t.Errorf("%s: warnings %+v", name, a.Warnings)
		}
	}
}

func TestEveryHitOfAQueryIsOnOnePage(t *testing.T) {
	files := map[string]string{"none.md": "other"}
	for i := range 30 {
		files[fmt.Sprintf("%c/n%02d.md", 'a'+i%3, i)] = strings.Repeat("# the word\nother\n", i%5) + "tail #t"
		files[fmt.Sprintf("%c/word%02d.png", 'a'+i%3, i)] = ""
	}
	for name, d := range both(t, files) {
		for _, query := range []string{"word", "tag:#t", "file:word", "word OR file:word", "-word"} {
			want, first := all(t, d, "search_vault", args{"query": query, "limit": 1000, "max_matches_per_file": 3})
			if len(want) != first.Total || len(want) == 0 {
				t.Errorf("%s, %s: %d items, total %d", name, query, len(want), first.Total)
			}
			for _, limit := range []int{1, 4, 7, 50} {
				got, _ := all(t, d, "search_vault", args{"query": query, "limit": limit, "max_matches_per_file": 3})
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s, %s by %d (-whole +paged):\n%s", name, query, limit, d)
				}
			}
		}
	}
}

func TestJSONLogicOverNotes(t *testing.T) {
	for name, d := range both(t, map[string]string{
		"a.md": "---\nstatus: draft\nrows: 4\ntags: [x]\n\"my key\": 1\npath: mine\nm:\n  k: [1, two]\n---\nbody #y/z\n", "Sub/b.md": "---\nrows: 9\naliases: [Bee]\n---\nbody",
		"bad.md": "---\na: [\n---\n", "u16.md": "\xff\xfe", "c.png": "body",
	}) {
		for logic, want := range map[string]string{
			`{"==":[{"var":"status"},"draft"]}`: "a.md", `{">":[{"var":"rows"},3]}`: "Sub/b.md a.md", `{"in":["y/z",{"var":"tags"}]}`: "a.md", `{"in":["#y",{"var":"content"}]}`: "a.md",
			`{"var":"my key"}`: "a.md", `{"==":[{"var":"path"},"Sub/b.md"]}`: "Sub/b.md", `{"==":[{"var":"properties.path"},"mine"]}`: "a.md", `{"var":"m.k.1"}`: "a.md", `{"var":"STATUS"}`: "a.md",
			`{"in":["Bee",{"var":"aliases"}]}`: "Sub/b.md", `{"==":[{"var":"folder"},"Sub"]}`: "Sub/b.md", `{"==":[{"var":"title"},"b"]}`: "Sub/b.md", `{"missing":"status"}`: "Sub/b.md",
		} {
			if got := paths(t, d, "search_jsonlogic", args{"logic": json.RawMessage(logic), "limit": 1}); got != want {
				t.Errorf("%s, %s: got %q, want %q", name, logic, got, want)
			}
		}
		a := find(t, d, "search_jsonlogic", args{"logic": json.RawMessage(`{"var":"path"}`)})
		if len(a.Warnings) != 2 || a.Warnings[0].Path != "bad.md" || a.Total != 2 {
			t.Errorf("%s: %+v", name, a)
		}
		for logic, reason := range map[string]string{`{"regex":["a","b"]}`: `"regex"`, `{"map":[[` + strings.Repeat("1,", 3000) + `1],{"+":[{"var":""},1]}]}`: "steps"} {
			_, err := do(t.Context(), d, "search_jsonlogic", args{"logic": json.RawMessage(logic)})
			if e := fault.Of(err); err == nil || e.Code != fault.InvalidInput || !strings.Contains(e.Message, reason) || e.Details["argument"] != "logic" {
				t.Errorf("%s, %.30s: %v", name, logic, err)
			}
		}
	}
}
