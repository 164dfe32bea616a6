package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/mcpserver"
	"vault-mcp/internal/racing"
	"vault-mcp/tools"
)

// flood is a call of a list over the flooded vault, and the key of its items.
type flood struct {
	key string
	in  args
}

// floods has every query that lists.
var floods = map[string][]flood{
	"changes_since":          {{"changed", args{"limit": 1000}}},
	"find_link_cycles":       {{"cycles", args{"limit": 200}}},
	"find_notes_by_property": {{"matches", args{"key": "k", "limit": 500}}},
	"find_notes_by_tag":      {{"matches", args{"tag": "shared", "limit": 500}}},
	"find_orphans":           {{"orphans", args{"limit": 500}}},
	"find_unresolved_links":  {{"unresolved", args{"limit": 500}}, {"targets", args{"limit": 500, "group": "target"}}},
	"get_backlinks":          {{"backlinks", args{"path": "hub.md", "limit": 200}}},
	"get_outgoing_links":     {{"links", args{"path": "hub.md", "limit": 500}}},
	"git_log":                {{"commits", args{"limit": 100}}},
	"git_status":             {{"files", args{"limit": 1000}}},
	"graph_centrality":       {{"results", args{"limit": 200}}},
	"graph_communities":      {{"communities", args{"limit": 100}}},
	"list_attachments":       {{"attachments", args{"limit": 200}}},
	"list_changes":           {{"changes", args{"limit": 100}}},
	"list_notes":             {{"notes", args{"limit": 1000, "recursive": true}}, {"notes", args{"limit": 1000, "recursive": true, "sort": "-size"}}},
	"list_properties":        {{"properties", args{"limit": 500}}},
	"list_snapshots":         {{"snapshots", args{"path": "kept.md", "limit": 500}}},
	"list_tags":              {{"tags", args{"limit": 500}}, {"tags", args{"limit": 500, "sort": "name"}}},
	"list_tasks":             {{"items", args{"limit": 500}}},
	"list_trash":             {{"items", args{"limit": 500}}},
	"search_jsonlogic":       {{"items", args{"logic": map[string]any{"var": "k"}, "limit": 500}}},
	"search_regex":           {{"items", args{"pattern": "need.e", "limit": 500}}},
	"search_text":            {{"items", args{"query": "needle", "limit": 500}}, {"items", args{"query": "needle", "verbosity": "terse", "limit": 500}}},
	"search_vault":           {{"items", args{"query": "needle", "limit": 500}}},
	"suggest_links":          {{"suggestions", args{"path": "Fill/first.md", "limit": 200}}},
}

// noFlood are the other queries, each with the reason.
var noFlood = map[string]string{
	"bundle_files": "a text", "bundle_folder": "a text", "diff_note": "a text", "git_show": "a text", "git_diff": "a text",
	"read_change": "a text", "read_note": "a text", "read_notes": "a text", "read_section": "a text", "read_snapshot": "a text",
	"get_attachment":   "a text, a picture, or bytes for programs",
	"get_index_status": "names few files", "index_vault": "names few files", "get_vault": "names few files",
	"get_link_strength": "one answer", "get_metrics": "one answer", "get_server_config": "one answer", "inspect_acl": "one answer",
	"note_exists": "one answer", "reload_vault": "one answer", "server_health": "one answer", "vault_health_score": "one answer",
	"find_capability": "at most 50 short ones", "describe_capability": "of the tools that are named",
	"list_vaults":        "as many as the config has",
	"graph_path_between": "a part of a path is none",
	"get_note_tags":      "of one note", "read_frontmatter": "of one note", "read_property": "of one note",
}

func TestEveryListIsFlooded(t *testing.T) {
	r, err := app.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range r.All() {
		if tool.Kind == tools.KindQuery && !tool.Hidden && (floods[tool.Name] == nil) == (noFlood[tool.Name] == "") {
			t.Errorf("%s has to be in one of the two lists", tool.Name)
		}
	}
}

// flooded is a vault with hundreds of long items of every kind.
func flooded(t *testing.T) (dir, home string) {
	t.Helper()
	dir, home = t.TempDir(), t.TempDir()
	files := map[string]string{"kept.md": "kept\n", "Fill/first.md": "[[hub]]\n"}
	long := strings.Repeat("long name ", 8)
	var hub strings.Builder
	for i := range 200 {
		name := fmt.Sprintf("%s%03d", long, i)
		fmt.Fprintf(&hub, "- [[%s]] and [[absent %s|another \"text\"]]\n", name, name)
		files["Fill/"+name+".md"] = fmt.Sprintf("---\nk: %d\nkey %s: 1\n---\nneedle \"in\" a \\ line %s\n[[hub]]\n\n- [ ] task %s #shared #tag%03d%s\n",
			i+1, name, long, name, i, strings.Repeat("x", 80))
		files["Alone/"+name+" alone.md"] = "alone\n"
		files["Two/"+name+" one.md"] = fmt.Sprintf("[[%s two]]\n", name)
		files["Two/"+name+" two.md"] = fmt.Sprintf("[[%s one]]\n", name)
		files["Files/"+name+".png"] = "x"
		files[".trash/"+name+" gone.md"] = "x"
	}
	files["hub.md"] = hub.String()
	r := &repository{&gated{t: t, dir: dir, home: t.TempDir()}, dir}
	plant(t, dir, map[string]string{"one.md": "one\n"})
	r.begin()
	plant(t, dir, files)
	for i := range 60 {
		r.git("commit", "-q", "--allow-empty", "-m", fmt.Sprintf("%s %d", strings.Repeat(long, 2), i))
	}
	return dir, home
}

// Every list and every search ends early at the soft budget, with whole items,
// says so, and goes on where it ended: its pages have what it has without budget.
func TestListsEndEarlyAndGoOn(t *testing.T) {
	racing.Skips(t)
	dir, home := flooded(t)
	yaml := fmt.Sprintf("vaults: [{path: %q}]\n", dir)
	a := begun(t, start(t, home, yaml+"governor: {soft_list_bytes: 50000000, max_response_bytes: 50000000}\n"))
	for i := range 70 {
		if err := call(t, a, "append_note", args{"path": "kept.md", "content": fmt.Sprintf("line %d\n", i)}, &struct{}{}); err != nil {
			t.Fatal(err)
		}
	}
	var now struct {
		Next string `json:"next_cursor"`
	}
	if err := call(t, a, "changes_since", args{"limit": 1000}, &now); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("new name ", 10)
	for i := range 200 {
		plant(t, dir, map[string]string{fmt.Sprintf("New/%s%03d.md", long, i): "alone\n"})
	}
	if err := call(t, a, "index_vault", args{}, &struct{}{}); err != nil {
		t.Fatal(err)
	}
	calls := maps.Clone(floods)
	calls["changes_since"] = []flood{{"changed", args{"limit": 1000, "cursor": now.Next}}}
	whole := map[string][]string{}
	for tool, list := range calls {
		for i, f := range list {
			whole[fmt.Sprint(tool, i)], _ = pagesOf(t, a, tool, f, 0, false)
		}
	}
	a.Close()
	a = begun(t, start(t, home, yaml))
	for tool, list := range calls {
		for i, f := range list {
			want := whole[fmt.Sprint(tool, i)]
			for _, textOnly := range []bool{false, true} {
				got, cut := pagesOf(t, a, tool, f, 10_000, textOnly)
				if !cut {
					t.Errorf("%s %v: was not cut; it has %d items", tool, f.in, len(got))
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s %v: %d items on its pages, %d without budget", tool, f.in, len(got), len(want))
				}
			}
		}
	}
}

// pagesOf are the items of all pages of a list, each once, and whether a page
// was cut. No answer is larger than the budget and an item, unless that is 0.
func pagesOf(t *testing.T, a *app.App, tool string, f flood, budget int, textOnly bool) (items []string, cut bool) {
	t.Helper()
	in := args{}
	for k, v := range f.in {
		in[k] = v
	}
	seen := map[string]bool{}
	for page := 1; ; page++ {
		if page > 200 {
			t.Fatalf("%s does not come to its end", tool)
		}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		res, err := a.Dispatcher.Do(t.Context(), dispatch.Request{
			Caller: auth.Caller{ID: "stdio", Scopes: auth.All}, Tool: tool, Args: raw, TextOnly: textOnly,
		})
		if err != nil {
			t.Fatalf("%s %s: %v", tool, raw, err)
		}
		half := res.Structured
		if textOnly {
			half = json.RawMessage(res.Text)
		}
		var out map[string]json.RawMessage
		var rows []json.RawMessage
		if err := json.Unmarshal(half, &out); err != nil {
			t.Fatalf("%s: %v in %s", tool, err, half)
		}
		if err := json.Unmarshal(out[f.key], &rows); err != nil {
			t.Fatalf("%s: %v in %s", tool, err, half)
		}
		largest := 0
		for _, r := range rows {
			if seen[string(r)] {
				t.Errorf("%s: comes twice: %s", tool, r)
			}
			seen[string(r)] = true
			items = append(items, string(r))
			largest = max(largest, len(r))
		}
		if size := len(mcpserver.ResultJSON(res, nil)); budget > 0 && size > budget+2*largest {
			t.Errorf("%s: page %d has %d bytes", tool, page, size)
		}
		more := string(out["more"]) != "false"
		if _, ok := out["cut"]; ok {
			cut = true
			if !textOnly && !strings.Contains(res.Text, "\ncut: {") {
				t.Errorf("%s: the text does not say that the list is cut: %s", tool, res.Text)
			}
			if string(out["next_cursor"]) == "null" || !more {
				t.Errorf("%s: is cut, and nothing goes on: %s", tool, half)
			}
		}
		var next *string
		if json.Unmarshal(out["next_cursor"], &next) != nil || next == nil || !more {
			return items, cut
		}
		if len(rows) == 0 {
			t.Fatalf("%s: page %d brings nothing", tool, page)
		}
		in["cursor"] = *next
	}
}

// One item that is larger than the budget still comes, alone.
func TestAnItemLargerThanTheBudgetComesAlone(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		plant(t, dir, map[string]string{fmt.Sprintf("%d%s/%d%s/%d%s.md", i, strings.Repeat("a", 230), i, strings.Repeat("b", 230), i, strings.Repeat("c", 230)): "needle\n"})
	}
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\ngovernor: {soft_list_bytes: 2000}\n", dir))
	got, cut := pagesOf(t, a, "search_text", flood{"items", args{"query": "needle"}}, 0, false)
	if len(got) != 3 || !cut {
		t.Errorf("%d items, cut %v", len(got), cut)
	}
}
