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
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// overAll are calls of the queries that answer from the content of many notes.
// Each names those that it could not use as a whole.
var overAll = map[string]args{
	"bundle_folder":          {"root": "", "format": "json"},
	"find_link_cycles":       {},
	"find_notes_by_property": {"key": "k", "op": "missing"},
	"find_notes_by_tag":      {"tag": "x"},
	"find_orphans":           {},
	"find_unresolved_links":  {},
	"get_backlinks":          {"path": "good.md", "unlinked": true},
	"get_link_strength":      {"from": "good.md", "to": "also.md"},
	"graph_centrality":       {},
	"graph_communities":      {},
	"graph_path_between":     {"from": "good.md", "to": "also.md"},
	"list_properties":        {},
	"list_tags":              {},
	"list_tasks":             {},
	"search_jsonlogic":       {"logic": map[string]any{"var": "k"}},
	"search_regex":           {"pattern": "wor[dt]"},
	"search_text":            {"query": "word"},
	"search_vault":           {"query": "word OR [k]"},
	"suggest_links":          {"path": "good.md"},
	"vault_health_score":     {},
}

// notOverAll are the others, each with the reason why no bad note can spoil its
// answer unsaid.
var notOverAll = map[string]string{
	"bundle_files":        "reads what it is told to, and says of each why it is left out",
	"changes_since":       "names files, and reads none",
	"git_diff":            "reads what git has, and says of each file whether it is binary",
	"git_log":             "reads what git has",
	"git_show":            "reads what git has",
	"git_status":          "reads what git has",
	"get_attachment":      "reads what it is told to",
	"get_index_status":    "lists what the index skipped",
	"get_metrics":         "counts what the index holds, and reads no note",
	"get_note_tags":       "reads what it is told to",
	"get_outgoing_links":  "reads what it is told to",
	"get_server_config":   "reads no note",
	"get_vault":           "counts files by their names",
	"index_vault":         "lists what the index skipped",
	"inspect_acl":         "reads no note",
	"list_attachments":    "names files, and reads none",
	"list_notes":          "names files, and reads none: titles are file names",
	"list_vaults":         "reads no note",
	"diff_note":           "reads what it is told to",
	"find_capability":     "reads no note",
	"describe_capability": "reads no note",
	"list_changes":        "tells what was changed, and reads no note",
	"list_snapshots":      "tells which versions there are, and reads no note",
	"list_trash":          "names files",
	"read_change":         "reads what it is told to",
	"read_snapshot":       "reads what it is told to",
	"note_exists":         "reads no note",
	"read_frontmatter":    "reads what it is told to",
	"read_note":           "reads what it is told to",
	"read_notes":          "reads what it is told to, and says of each what is wrong",
	"read_property":       "reads what it is told to",
	"read_section":        "reads what it is told to",
	"reload_vault":        "reads no note",
	"server_health":       "reads no note",
}

func TestEveryQuerySaysWhatItCouldNotUse(t *testing.T) {
	r, err := app.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range r.All() {
		if tool.Kind == tools.KindQuery && (overAll[tool.Name] == nil) == (notOverAll[tool.Name] == "") {
			t.Errorf("%s has to be in one of the two lists", tool.Name)
		}
	}
}

// badVault is a vault with every kind of bad note, and with folders that no
// warning may be about. The maps have what is said of each note, and of those
// that Obsidian's settings exclude.
func badVault(t *testing.T) (yaml string, want, archived map[string]string) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"good.md": "---\nk: 1\n---\nword [[also]] #x\n\n- [ ] one\n- [ ] two\n", "also.md": "---\nk: 2\nj: 1\n---\nword [[good]] [[none]] [[nothing]] #x #y\n",
		"broken.md": "---\nk: [1\n---\nword [[good]]\n", "nul.md": "---\nk: 1\n---\nword\nw\x00rd\n", "nulprop.md": "---\nk: \x00\n---\nword\n",
		"latin.md": "caf\xe9 word\n", "utf16.md": "\xff\xfew\x00", "Deep/broken.md": "---\n- no mapping\n---\nword\n", "huge.md": "word",
		"Hidden/broken.md": "---\nk: [\n---\n", "Hidden/latin.md": "\xe9", "Locked/broken.md": "---\nk: [\n---\n", "Archive/broken.md": "---\nk: [\n---\n", "Archive/latin.md": "\xe9",
		".obsidian/app.json": `{"userIgnoreFilters":["Archive/"]}`,
	})
	if err := os.Truncate(filepath.Join(dir, "huge.md"), 65<<20); err != nil { // takes no room on the disk
		t.Fatal(err)
	}
	yaml = fmt.Sprintf("vaults: [{path: %q, rules: [{glob: 'Hidden/**', verbs: {read: hide}}, {glob: 'Locked/**', verbs: {read: deny}}]}]\nindex: {watch: false}\n", dir)
	want = map[string]string{
		"broken.md":      "3: its properties are no valid YAML: did not find expected ',' or ']'",
		"Deep/broken.md": "2: its properties are no valid YAML: ",
		"nul.md":         "5: it holds a NUL character, as files do that were damaged",
		"nulprop.md":     "2: its properties are no valid YAML: there is a NUL character",
		"latin.md":       "0: " + vault.NotText,
		"utf16.md":       "0: " + vault.NotText,
		"huge.md":        "0: it is larger than the ",
	}
	archived = map[string]string{"Archive/broken.md": "3: its properties are no valid YAML: ", "Archive/latin.md": "0: " + vault.NotText}
	if pipe(t, filepath.Join(dir, "Hidden/pipe.md")) && pipe(t, filepath.Join(dir, "pipe.md")) && pipe(t, filepath.Join(dir, "Archive/pipe.md")) {
		want["pipe.md"], archived["Archive/pipe.md"] = "0: "+vault.ErrIrregular.Error(), "0: "+vault.ErrIrregular.Error()
	}
	return yaml, want, archived
}

type warned struct {
	Warnings []warningRow
	LeftOut  []warningRow `json:"left_out"`
	Next     *string      `json:"next_cursor"`
}

// said is what an answer says of each path.
func (w *warned) said() map[string]string {
	m := map[string]string{}
	for _, r := range slices.Concat(w.Warnings, w.LeftOut) {
		if old, twice := m[r.Path]; twice {
			m[r.Path] = old + " and " + r.Reason
			continue
		}
		m[r.Path] = fmt.Sprintf("%d: %s", r.Line, r.Reason)
	}
	return m
}

// One broken note failed ten tools of the whole vault, or was left out by them
// without a word.
func TestBadNotesAreNamedByEveryToolInTheSameWords(t *testing.T) {
	yaml, want, archived := badVault(t)
	for form, a := range map[string]*app.App{"index": begun(t, start(t, t.TempDir(), yaml)), "files": start(t, t.TempDir(), yaml)} {
		for tool, in := range overAll {
			var out warned
			if err := call(t, a, tool, in, &out); err != nil {
				t.Errorf("%s, %s: %v", form, tool, err)
				continue
			}
			said := out.said()
			want := maps.Clone(want)
			if tool == "get_backlinks" || tool == "bundle_folder" { // they take excluded notes too
				maps.Copy(want, archived)
			}
			if d := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(said))); d != "" {
				t.Errorf("%s, %s names (-want +got):\n%s", form, tool, d)
			}
			for p, text := range said {
				if !strings.HasPrefix(text, want[p]) && !(tool == "bundle_folder" && p == "huge.md") {
					t.Errorf("%s, %s: %s: %q, want %q", form, tool, p, text, want[p])
				}
			}
		}
	}
}

// What is wrong in the vault is told once, not with each page.
func TestWarningsComeWithTheFirstPage(t *testing.T) {
	yaml, _, _ := badVault(t)
	r, err := app.Registry()
	if err != nil {
		t.Fatal(err)
	}
	paged := 0
	for form, a := range map[string]*app.App{"index": begun(t, start(t, t.TempDir(), yaml)), "files": start(t, t.TempDir(), yaml)} {
		for tool, in := range overAll {
			schema := string(r.Tool(tool).InputSchema(false))
			if tool == "bundle_folder" || !strings.Contains(schema, `"cursor"`) { // a bundle names what it comes by
				continue
			}
			in = cloned(in)
			in["limit"] = 1
			for page := 1; ; page++ {
				var out warned
				if err := call(t, a, tool, in, &out); err != nil {
					t.Fatalf("%s, %s, page %d: %v", form, tool, page, err)
				}
				if (len(out.Warnings) > 0) != (page == 1) {
					t.Errorf("%s, %s, page %d: %v", form, tool, page, out.Warnings)
				}
				if out.Next == nil {
					break
				}
				in["cursor"] = *out.Next
				paged++
			}
		}
	}
	if paged < 20 {
		t.Errorf("only %d pages were turned", paged)
	}
}

// A note that is deleted between the listing of its folder and its turn was
// left out without a word. That moment cannot be chosen from outside, so a note
// comes and goes until each tool has met it; no call may fail meanwhile.
func TestANoteThatIsDeletedWhileItIsReadIsNamed(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"good.md": "word [[also]]", "also.md": "---\nk: 1\n---\nword"}
	for i := range 60 {
		files[fmt.Sprintf("n%03d.md", i)] = strings.Repeat("word #x\n", 50)
	}
	plant(t, dir, files)
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir))
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		gone := filepath.Join(dir, "z gone.md")
		for {
			select {
			case <-done:
				return
			default:
				_ = os.WriteFile(gone, []byte("word"), 0o644)
				_ = os.Remove(gone)
			}
		}
	}()
	defer func() { close(done); <-ended }()
	for tool, in := range overAll {
		for begun := time.Now(); ; {
			var out warned
			if err := call(t, a, tool, in, &out); err != nil {
				t.Fatalf("%s: %v", tool, err)
			}
			if said := out.said(); len(said) > 0 {
				if d := cmp.Diff(map[string]string{"z gone.md": "0: " + vault.Gone}, said); d != "" {
					t.Errorf("%s (-want +got):\n%s", tool, d)
				}
				break
			}
			if time.Since(begun) > time.Minute {
				t.Errorf("%s never says that the note was deleted", tool)
				break
			}
		}
	}
}

// With an index, a note that went unnoticed is met when its text is needed.
func TestANoteThatTheIndexStillHasIsNamed(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"good.md": "word [[also]]", "also.md": "word", "gone.md": "word word [[good]]"})
	a := begun(t, start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\nindex: {watch: false}\n", dir)))
	if err := os.Remove(filepath.Join(dir, "gone.md")); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"search_text", "search_regex", "search_vault", "get_backlinks"} {
		var out warned
		if err := call(t, a, tool, overAll[tool], &out); err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		if d := cmp.Diff(map[string]string{"gone.md": "0: " + vault.Gone}, out.said()); d != "" {
			t.Errorf("%s (-want +got):\n%s", tool, d)
		}
	}
}

// A list that stops at a full page named what lay behind it too, and the next
// page once more.
func TestListsNameOnceWhatTheyCouldNotLookAt(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a.md": "", "c.md": "", "e.md": "", "a.png": "", "c.png": ""})
	for _, p := range []string{"b.md", "d.md", "f.md", "b.png", "d.png"} {
		if !pipe(t, filepath.Join(dir, p)) {
			t.Skip("no named pipes here")
		}
	}
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir))
	for _, tt := range []struct {
		tool string
		in   args
		want []string
	}{
		{"list_notes", args{"limit": 1}, []string{"2 b.md", "3 d.md", "3 f.md"}},
		{"list_notes", args{"limit": 1, "sort": "-mtime"}, []string{"1 b.md", "1 d.md", "1 f.md"}},
		{"list_attachments", args{"limit": 1}, []string{"2 b.png", "2 d.png"}},
		{"bundle_folder", args{"root": "", "max_files": 1, "format": "json"}, []string{"1 b.md", "2 d.md", "3 f.md"}},
	} {
		var got []string
		in := cloned(tt.in)
		for page := 1; ; page++ {
			var out warned
			if err := call(t, a, tt.tool, in, &out); err != nil {
				t.Fatal(err)
			}
			for p, reason := range out.said() {
				got = append(got, fmt.Sprint(page, " ", p))
				if reason != "0: "+vault.ErrIrregular.Error() {
					t.Errorf("%s: %s: %q", tt.tool, p, reason)
				}
			}
			if out.Next == nil {
				break
			}
			in["cursor"] = *out.Next
		}
		slices.Sort(got)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s %v (-want +got):\n%s", tt.tool, tt.in, d)
		}
	}
}

// Long names in many warnings took the whole answer, which then was refused.
func TestWarningsLeaveRoomForRows(t *testing.T) {
	files := map[string]string{"good.md": "---\nk: 1\n---\nword #x [[also]] [[none]]\n- [ ] t\n", "also.md": "word [[good]]"}
	for i := range 40 {
		files[fmt.Sprintf("%s/%s%02d.md", strings.Repeat("a", 200), strings.Repeat("b", 200), i)] = "---\nk: [\n---\n"
	}
	dir := t.TempDir()
	plant(t, dir, files)
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\ngovernor: {max_response_bytes: 10000}\n", dir))
	for tool, in := range overAll {
		if tool == "bundle_folder" {
			continue // it names only what is in the bundle
		}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, textOnly := range []bool{false, true} {
			res, err := a.Dispatcher.Do(t.Context(), dispatch.Request{
				Caller: auth.Caller{ID: "stdio", Scopes: auth.All}, Tool: tool, Args: raw, TextOnly: textOnly,
			})
			if err != nil {
				t.Errorf("%s: %v", tool, err)
				continue
			}
			half := res.Structured
			if textOnly {
				half = json.RawMessage(res.Text)
			}
			var out warned
			if err := json.Unmarshal(half, &out); err != nil {
				t.Fatal(err)
			}
			n := len(out.Warnings) - 1
			if n < 1 || n > 20 || out.Warnings[n].Reason != fmt.Sprintf("%d more files have such problems", 40-n) {
				t.Errorf("%s: %+v", tool, out.Warnings)
			}
		}
	}
}
