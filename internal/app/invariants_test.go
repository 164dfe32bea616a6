package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/config"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/mcpserver"
	"vault-mcp/tools"
	"vault-mcp/tools/complete"
	"vault-mcp/tools/resources"
)

// plant writes files, with times that do not depend on the day.
func plant(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for p, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 3, 4, 5, 6, len(p)%60, 0, time.UTC)
		if err := os.Chtimes(full, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// start builds a server from a config file; home keeps its state.
func start(t *testing.T, home, yaml string, set ...func(*app.Options)) *app.App {
	t.Helper()
	file := filepath.Join(home, "vault.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	env := config.Env(func(k string) string {
		if k == "HOME" {
			return home
		}
		return ""
	})
	cfg, err := env.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	o := app.Options{Env: env, Version: "test", Log: slog.New(slog.DiscardHandler)}
	for _, f := range set {
		f(&o)
	}
	a, err := app.New(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// people answer the forms of servers: real ones, by the route of older protocols.
var people sync.Map // *app.App → func() bool

// person sets who answers the forms of a server.
func person(a *app.App, approves func() bool) { people.Store(a, approves) }

// agrees is a person who approves everything.
func agrees() bool { return true }

// reach is how the person of a server is reached; nobody is there by default.
func reach(a *app.App) hitl.Reach {
	p, ok := people.Load(a)
	if !ok {
		return hitl.Reach{}
	}
	return hitl.Reach{Forms: true, Ask: func(context.Context, hitl.Form) (json.RawMessage, error) {
		return fmt.Appendf(nil, `{"action":"accept","content":{"approve":%t}}`, p.(func() bool)()), nil
	}}
}

func do(ctx context.Context, a *app.App, tool, args string) (*tools.Result, error) {
	return a.Dispatcher.Do(ctx, dispatch.Request{
		Caller: auth.Caller{ID: "stdio", Scopes: auth.All}, Tool: tool, Args: json.RawMessage(args), Reach: reach(a),
	})
}

// probes are calls of every query, many of them aimed at the folder Private.
var probes = map[string][]string{
	"git_status":          {`{}`, `{"limit":1}`},
	"git_log":             {`{}`, `{"path":"a.md"}`, `{"path":"Private/secret.md"}`, `{"path":"Private/absent.md"}`},
	"git_show":            {`{}`, `{"path":"Private/secret.md"}`},
	"git_diff":            {`{}`, `{"staged":true}`, `{"path":"Private/secret.md"}`, `{"path":"Private/absent.md"}`},
	"find_capability":     {`{}`, `{"query":"Private secret needle note"}`, `{"domain":"notes"}`},
	"describe_capability": {`{"names":["read_note","Private/secret"]}`},
	"list_vaults":         {`{}`},
	"get_vault":           {`{}`},
	"get_index_status":    {`{}`},
	"index_vault":         {`{}`, `{"folder":"Private"}`, `{"folder":"Absent"}`},
	"reload_vault":        {`{}`},
	"changes_since":       {`{}`, `{"limit":1}`},
	"server_health":       {`{}`},
	"get_metrics":         {`{}`, `{"vault":"main"}`, `{"vault":"absent"}`},
	"get_server_config":   {`{}`},
	"inspect_acl": {
		`{"path":"Private/secret.md"}`, `{"path":"Private/absent.md"}`, `{"path":"Private/secret"}`, `{"path":"PRIVATE/SECRET","op":"write"}`, `{"path":"Private"}`, `{"path":"Private/Deep"}`,
		`{"path":"link.md"}`, `{"path":"mirror/secret.md"}`, `{"path":"mirror"}`, `{"path":"a"}`, `{"path":"Mixed"}`, `{"path":"Privat"}`, `{"path":"Private/../a.md"}`,
	},
	"list_notes": {
		`{}`, `{"limit":2}`, `{"sort":"-mtime"}`, `{"sort":"-mtime","limit":1}`, `{"sort":"title"}`, `{"sort":"-path"}`, `{"sort":"size","limit":1}`,
		`{"sort":"ctime"}`, `{"folder":"Private"}`, `{"folder":"private"}`, `{"folder":"Private/Deep"}`, `{"folder":"Privat"}`, `{"folder":"Mixed"}`,
		`{"glob":"Private/**"}`, `{"extensions":["canvas"]}`, `{"modified_since":"2026-01-01"}`, `{"recursive":false}`, `{"folder":"Absent"}`,
	},
	"note_exists": {`{"path":"Private/secret.md"}`, `{"path":"Private/absent.md"}`, `{"path":"Private"}`, `{"path":"PRIVATE/SECRET"}`, `{"path":"a"}`, `{"path":"link"}`, `{"path":"Mixed"}`},
	"read_note": {
		`{"path":"Private/secret.md"}`, `{"path":"Private/absent.md"}`, `{"path":"private/secret"}`, `{"path":"Private"}`, `{"path":"Privat/secret.md"}`,
		`{"path":"secret"}`, `{"path":"link.md"}`, `{"path":"mirror/secret.md"}`, `{"path":"Private/../a.md"}`, `{"path":"a.md","format":"json"}`, `{"path":"b.md"}`,
	},
	"read_notes":       {`{"paths":["Private/secret.md","a.md","Private/absent.md","link.md"]}`},
	"read_section":     {`{"path":"Private/secret.md","heading":["Plan"]}`, `{"path":"a.md","heading":["Plan"]}`, `{"path":"a.md"}`},
	"read_frontmatter": {`{"path":"Private/secret.md"}`, `{"path":"a.md"}`},
	"read_property":    {`{"path":"Private/secret.md","key":"k"}`, `{"path":"a.md","key":"k"}`},
	"search_text":      {`{"query":"needle"}`, `{"query":"needle","limit":1}`, `{"query":"onlysecret"}`, `{"query":"needle","root":"Private"}`, `{"query":"a"}`},
	"search_regex":     {`{"pattern":"need.e"}`, `{"pattern":"need.e","limit":1}`, `{"pattern":".","root":"Private"}`},
	"search_vault": {
		`{"query":"needle"}`, `{"query":"needle","limit":1}`, `{"query":"onlysecret"}`, `{"query":"needle","root":"Private"}`, `{"query":"-needle","explain":true}`,
		`{"query":"path:Private"}`, `{"query":"file:.png OR file:canvas"}`, `{"query":"[k]"}`, `{"query":"section:(plan needle)"}`, `{"query":"a","embedded_in":"Private/secret.md"}`,
	},
	"search_jsonlogic": {
		`{"logic":{"var":"k"}}`, `{"logic":{"var":"k"},"limit":1}`, `{"logic":{"in":["needle",{"var":"content"}]},"limit":1}`, `{"logic":{"var":"path"},"root":"Private"}`,
		`{"logic":{"in":["onlysecret",{"var":"content"}]}}`,
	},
	"get_outgoing_links": {
		`{"path":"a.md"}`, `{"path":"a.md","limit":1}`, `{"path":"Private/secret.md"}`, `{"path":"Private/absent.md"}`, `{"path":"Private/board.canvas"}`, `{"path":"open.canvas"}`,
	},
	"get_backlinks": {
		`{"path":"b.md"}`, `{"path":"b.md","limit":1,"context":2}`, `{"path":"b.md","unlinked":true}`, `{"path":"Mixed/open.md"}`, `{"path":"pic.png"}`, `{"path":"a.md","unlinked":true,"limit":1}`,
		`{"path":"Private/secret.md"}`, `{"path":"Private/absent.md"}`, `{"path":"Privat.md"}`,
	},
	"find_orphans":          {`{}`, `{"limit":1}`, `{"require_no_outgoing":true}`, `{"folder":"Private"}`, `{"folder":"Mixed"}`},
	"find_unresolved_links": {`{}`, `{"limit":1}`, `{"folder":"Private"}`},
	"get_link_strength":     {`{"from":"a.md","to":"b.md"}`, `{"from":"a.md","to":"Private/secret.md"}`, `{"from":"a.md","to":"Private/absent.md"}`, `{"from":"Privat","to":"b"}`},
	"suggest_links":         {`{"path":"a.md"}`, `{"path":"Privat.md"}`, `{"path":"Private/secret.md"}`},
	"graph_centrality":      {`{}`, `{"metric":"betweenness"}`, `{"min_incoming_links":1,"limit":1}`},
	"graph_communities":     {`{}`, `{"seed":7,"min_size":2}`},
	"graph_path_between":    {`{"from":"Privat.md","to":"b.md"}`, `{"from":"a.md","to":"Mixed/open.md","directed":true}`, `{"from":"a.md","to":"Private/secret.md"}`, `{"from":"Private/absent.md","to":"a.md"}`},
	"find_link_cycles":      {`{}`, `{"limit":1}`},
	"vault_health_score":    {`{}`, `{"hub_threshold":1}`},
	"bundle_folder":         {`{"root":""}`, `{"root":"Private"}`, `{"root":"","max_files":1}`, `{"root":"Mixed"}`},
	"bundle_files":          {`{"paths":["Private/secret.md","a.md"]}`, `{"paths":["mirror/secret.md"]}`},
	"list_attachments":      {`{}`, `{"folder":"Private"}`, `{"limit":1}`},
	"get_attachment":        {`{"path":"Private/pic.png"}`, `{"path":"Private/none.png"}`, `{"path":"pic.png"}`, `{"path":"Private/pic.png","format":"json"}`, `{"path":"pic.png","format":"json"}`, `{"path":"Private/doc.pdf"}`, `{"path":"Private/none.pdf","from_page":2}`, `{"path":"doc.pdf"}`},
	"get_note_tags":         {`{"path":"Private/secret.md"}`, `{"path":"Private/absent.md"}`, `{"path":"a.md"}`},
	"list_tags": {
		`{}`, `{"nested":true}`, `{"limit":1}`, `{"sort":"name","limit":1}`, `{"prefix":"shared"}`, `{"folder":"Private"}`, `{"folder":"Mixed"}`, `{"folder":"Absent"}`,
	},
	"find_notes_by_tag": {
		`{"tag":"shared"}`, `{"tag":"Shared","nested":false}`, `{"tag":"shared","limit":1}`, `{"tag":"own"}`, `{"tag":"shared","folder":"Private"}`, `{"tag":"shared","folder":"Mixed"}`,
	},
	"list_properties": {`{}`, `{"limit":1}`, `{"folder":"Private"}`, `{"folder":"Mixed"}`},
	"find_notes_by_property": {
		`{"key":"k"}`, `{"key":"K","limit":1}`, `{"key":"k","value":2}`, `{"key":"k","op":"missing"}`, `{"key":"k","op":">","value":0,"verbosity":"terse"}`,
		`{"key":"a.b","nested":true}`, `{"key":"onlyhere"}`, `{"key":"k","folder":"Private"}`,
	},
	"list_tasks": {
		`{}`, `{"limit":1}`, `{"status":"todo"}`, `{"root":"Private"}`, `{"root":"Mixed"}`, `{"tags":["shared"]}`, `{"text":"task"}`, `{"due_after":"2031-01-01"}`,
		`{"paths":["Private/secret.md","Private/absent.md","a.md","link.md","mirror/secret.md","Privat/x.md"]}`,
	},
	"list_changes":   {`{}`, `{"path":"Private/secret.md"}`, `{"path":"Private/absent.md"}`},
	"read_change":    {`{"change_id":"0123456789abcdef"}`},
	"list_snapshots": {`{"path":"Private/secret.md"}`, `{"path":"Private/absent.md"}`, `{"path":"a.md"}`},
	"read_snapshot":  {`{"snapshot_id":1}`},
	"diff_note":      {`{"path":"Private/secret.md","against":1}`, `{"path":"Private/absent.md","against":1}`, `{"path":"a.md","against":1}`},
	"list_trash":     {`{}`},
	"resources_list": {`{}`},
	"resources_read": {`{"vault":"main","path":"Private/secret.md"}`, `{"vault":"main","path":"Private/none.md"}`},
	"resources_look": {`{"path":"Private/secret.md"}`, `{"path":"Private/none.md"}`, `{"path":"Private"}`, `{"path":"link.md"}`, `{"path":"mirror/secret.md"}`, `{"path":"a.md"}`},
	"complete_in_vault": {
		`{"what":"note","value":""}`, `{"what":"note","value":"secret"}`, `{"what":"note","value":"Private/"}`, `{"what":"note","value":"e"}`,
		`{"what":"tag","value":""}`, `{"what":"tag","value":"#sh"}`, `{"what":"tag","value":"own"}`, `{"what":"property","value":""}`, `{"what":"property","value":"k"}`,
	},
	"complete_overall": {`{"what":"vault","value":""}`, `{"what":"resource","value":""}`, `{"what":"resource","value":"main/Private"}`, `{"what":"resource","value":"pic"}`},
}

// A server whose rules hide a folder answers, byte for byte, as if the folder
// had been deleted: in lists, counts, ranks, suggestions, errors and cursors.
func TestHiddenIsAbsentEverywhere(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{
		".obsidian/app.json":     `{"attachmentFolderPath":"Private/files","userIgnoreFilters":["Private/"]}`,
		"a.md":                   "---\nk: 1\n---\n# Plan\nneedle [[secret]] [[Private/secret]]\n\n- [ ] a task #shared\n",
		"b.md":                   "needle\nneedle\n",
		"Mixed/open.md":          "needle #Shared/part\n- [x] another task\n",
		"Privat.md":              "near in name\n",
		"pic.png":                "\x89PNG",
		"Private/secret.md":      "---\nK: 2\nonlyhere: onlysecret\n---\n# Plan\nneedle onlysecret #SHARED #own\n\n- [ ] task onlysecret #shared 📅 2031-02-03\n",
		"Private/pic.png":        "\x89PNG",
		"doc.pdf":                pdfOf("A page with enough letters on it"),
		"Private/doc.pdf":        pdfOf("A page with onlysecret and enough letters"),
		"Private/board.canvas":   "{}",
		"Private/Deep/secret.md": "needle needle needle\n",
		"Private/broken.md":      "---\na: [\n---\n",
		"Private/utf16.md":       "\xff\xfen\x00",
	})
	for name, target := range map[string]string{"link.md": "Private/secret.md", "mirror": "Private"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	committed(t, dir)
	for _, path := range []string{"b.md", "Private/secret.md"} {
		f, err := os.OpenFile(filepath.Join(dir, path), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString("more onlysecret\n"[:5+11*strings.Count(path, "/")] + "\n")
		}
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
	// Some folder below the hidden one stays visible only if it exists.
	yaml := fmt.Sprintf("vaults: [{path: %q, rules: [{glob: 'Private/**', verbs: {read: hide}}, {glob: 'Private/Shared/**', verbs: {read: allow}}]}]\ngovernor: {max_response_bytes: 20000}\n", dir)
	ask := func(yaml string) map[string]string {
		answers := map[string]string{}
		synctest.Test(t, func(t *testing.T) { // the clock stands still
			a := start(t, home, yaml)
			for _, tool := range slices.Sorted(maps.Keys(probes)) {
				for _, args := range probes[tool] {
					for page, more := 1, args; more != ""; page++ {
						key := fmt.Sprintf("%s %s page %d", tool, args, page)
						answers[key], more = answer(t.Context(), a, tool, more)
					}
				}
			}
		})
		return answers
	}
	hidden := ask(yaml)
	if err := os.RemoveAll(filepath.Join(dir, "Private")); err != nil {
		t.Fatal(err)
	}
	deleted := ask(yaml)
	for key, want := range deleted {
		if got := hidden[key]; got != want {
			t.Errorf("%s\n with the folder hidden: %s\nwith the folder deleted: %s", key, got, want)
		}
	}
	if len(hidden) != len(deleted) {
		t.Errorf("%d answers with the folder hidden, %d with it deleted", len(hidden), len(deleted))
	}
	for key, text := range hidden {
		if strings.Contains(text, "Private/files") {
			t.Errorf("%s names a hidden folder from the settings: %s", key, text)
		}
		if strings.Contains(text, "onlysecret") && !strings.Contains(key, "onlysecret") {
			t.Errorf("%s shows a hidden text: %s", key, text)
		}
	}
}

// answer is a call's whole outcome as text, and the arguments of the next page.
func answer(ctx context.Context, a *app.App, tool, args string) (text, next string) {
	res, err := do(ctx, a, tool, args)
	if err == nil && res.Structured == nil && res.Text == "" {
		out, _ := json.Marshal(res.Out)
		return string(out), nextPage(out, args)
	}
	raw := mcpserver.ResultJSON(res, err)
	if res == nil {
		return string(raw), ""
	}
	return string(raw), nextPage(res.Structured, args)
}

// nextPage adds the cursor of an answer to the arguments that it came from.
func nextPage(structured json.RawMessage, args string) string {
	var s struct {
		Next *string `json:"next_cursor"`
	}
	if json.Unmarshal(structured, &s) != nil || s.Next == nil {
		return ""
	}
	var m map[string]any
	if json.Unmarshal([]byte(args), &m) != nil {
		return ""
	}
	m["cursor"] = *s.Next
	b, _ := json.Marshal(m)
	return string(b)
}

// Every query that is served is probed above.
func TestEveryQueryIsProbed(t *testing.T) {
	r, err := app.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{resources.List, resources.Read, resources.Look, complete.InVault, complete.Overall} {
		if probes[name] == nil {
			t.Errorf("%s has no probe for what is hidden", name)
		}
	}
	for _, tool := range r.All() {
		if tool.Kind == tools.KindQuery && probes[tool.Name] == nil {
			t.Errorf("%s has no probe for what is hidden", tool.Name)
		}
	}
}

// A denied folder may be known by name, but none of its text comes out, and
// what is in it answers like what is not.
func TestDeniedTextStaysIn(t *testing.T) {
	for verb, want := range map[string]fault.Code{"deny": fault.ACLDenied, "ask": fault.ElicitRequired} {
		t.Run(verb, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir, map[string]string{"a.md": "needle\n", "Locked/x.md": "needle onlysecret\n", "Locked/p.png": "\x89PNGonlysecret", "Locked/doc.pdf": pdfOf("onlysecret on a page")})
			if err := os.Symlink("Locked/x.md", filepath.Join(dir, "way.md")); err != nil {
				t.Fatal(err)
			}
			committed(t, dir)
			a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q, rules: [{glob: 'Locked/**', verbs: {read: %s}}]}]\n", dir, verb))
			for _, path := range []string{"Locked/x.md", "Locked/absent.md", "locked/X", "way.md"} {
				_, err := do(t.Context(), a, "read_note", fmt.Sprintf(`{"path":%q}`, path))
				if e := fault.Of(err); e == nil || e.Code != want {
					t.Errorf("read_note %s: %v, want %s", path, err, want)
				}
			}
			for tool, all := range probes {
				for _, args := range all {
					text, _ := answer(t.Context(), a, tool, strings.ReplaceAll(args, "Private", "Locked"))
					if strings.Contains(text, "onlysecret") && !strings.Contains(args, "onlysecret") {
						t.Errorf("%s %s shows a denied text: %s", tool, args, text)
					}
				}
			}
		})
	}
}
