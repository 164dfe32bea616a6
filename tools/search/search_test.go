package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/governor"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/audit"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/secrets"
	"vault-mcp/internal/telemetry"
	"vault-mcp/tools"
	"vault-mcp/tools/search"
	"vault-mcp/vault"
)

type item struct {
	Path, Snippet, Match string
	Line, Col            int
	Score                float64
	More                 bool
}

func (it item) String() string { return fmt.Sprintf("%s:%d:%d", it.Path, it.Line, it.Col) }

type answer struct {
	Items        []item
	Total, Notes int
	Occurrences  int
	Next         *string `json:"next_cursor"`
	Excluded     int
	Index        string
	Warnings     []struct{ Path, Reason string }
}

// vaultOf writes a vault and serves the search tools over it.
func vaultOf(t testing.TB, files map[string]string, budget int, rules ...acl.Rule) *dispatch.Dispatcher {
	t.Helper()
	return serve(t, plant(t, files), budget, rules...)
}

func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func serve(t testing.TB, dir string, budget int, rules ...acl.Rule) *dispatch.Dispatcher {
	t.Helper()
	return serveView(t, viewOf(t, dir, rules...), budget)
}

func viewOf(t testing.TB, dir string, rules ...acl.Rule) *acl.View {
	t.Helper()
	v, err := vault.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	compiled, err := acl.Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return acl.NewView("main", v, compiled, false)
}

func serveView(t testing.TB, view *acl.View, budget int) *dispatch.Dispatcher {
	t.Helper()
	reg, err := tools.NewRegistry(search.Tools())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	meter := &telemetry.Meter{Log: log}
	d, err := dispatch.New(dispatch.Config{
		Registry: reg, Views: map[string]*acl.View{"main": view}, Vaults: []string{"main"},
		MaxResponseBytes: budget, Throttle: &governor.Throttle{}, Cursors: governor.Cursors{Signer: secrets.NewProcessRing()},
		Audit: &audit.Log{Meter: meter, Log: log}, Meter: meter, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

type args map[string]any

func do(ctx context.Context, d *dispatch.Dispatcher, tool string, in args) (*tools.Result, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	return d.Do(ctx, dispatch.Request{Caller: auth.Caller{ID: "stdio", Scopes: auth.All}, Tool: tool, Args: raw})
}

func find(t testing.TB, d *dispatch.Dispatcher, tool string, in args) (a answer) {
	t.Helper()
	res, err := do(t.Context(), d, tool, in)
	if err != nil {
		t.Fatalf("%s %v: %v", tool, in, err)
	}
	if err := json.Unmarshal(res.Structured, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// all follows a search to its last page.
func all(t testing.TB, d *dispatch.Dispatcher, tool string, in args) (items []item, first answer) {
	t.Helper()
	for page := 0; ; page++ {
		a := find(t, d, tool, in)
		if page == 0 {
			first = a
		}
		if a.Total != first.Total || a.Occurrences != first.Occurrences || a.Notes != first.Notes {
			t.Fatalf("page %d: total %d, notes %d; the first has %d, %d", page, a.Total, a.Notes, first.Total, first.Notes)
		}
		items = append(items, a.Items...)
		if a.Next == nil {
			return items, first
		}
		if len(a.Items) == 0 || page > 5000 {
			t.Fatalf("page %d does not lead to the end", page)
		}
		in["cursor"] = *a.Next
	}
}

func TestPagingSkipsAndRepeatsNothing(t *testing.T) {
	files := map[string]string{}
	for i := range 40 { // many with equal scores, some over a page's border
		files[fmt.Sprintf("%c/n%02d.md", 'a'+i%3, i)] = strings.Repeat("the word\nother\n", i%7)
	}
	d := vaultOf(t, files, 1<<20)
	for _, tool := range []string{"search_text", "search_regex"} {
		in := func(limit int) args {
			a := args{"limit": limit, "max_matches_per_file": 4}
			if a["query"] = "word"; tool == "search_regex" {
				delete(a, "query")
				a["pattern"] = `\bword$`
			}
			return a
		}
		want, first := all(t, d, tool, in(1000))
		counts := map[string][2]int{"search_text": {0, 115}, "search_regex": {100, 0}}[tool]
		if len(want) != 100 || [2]int{first.Total, first.Occurrences} != counts || first.Notes != 34 {
			t.Errorf("%s: %d items, total %d, %d occurrences, notes %d", tool, len(want), first.Total, first.Occurrences, first.Notes)
		}
		sorted := slices.IsSortedFunc(want, func(a, b item) int {
			switch {
			case a.Score != b.Score:
				return int(1000 * (b.Score - a.Score))
			case a.Path != b.Path:
				return strings.Compare(a.Path, b.Path)
			}
			return a.Line - b.Line
		})
		if !sorted {
			t.Errorf("%s: not in order: %v", tool, want)
		}
		for _, limit := range []int{1, 2, 3, 4, 5, 7, 33, 50} {
			got, _ := all(t, d, tool, in(limit))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, pages of %d (-whole +paged):\n%s", tool, limit, d)
			}
		}
	}
}

func TestMoreIsSaidWhereANoteHasMoreLines(t *testing.T) {
	d := vaultOf(t, map[string]string{"a.md": "x\nx\nx", "b.md": "x\nx"}, 1<<20)
	for tool, key := range map[string]string{"search_text": "query", "search_regex": "pattern"} {
		a := find(t, d, tool, args{key: "x", "max_matches_per_file": 2})
		var more []string
		for _, it := range a.Items {
			if it.More {
				more = append(more, it.String())
			}
		}
		if fmt.Sprint(more) != "[a.md:2:1]" || a.Total+a.Occurrences != map[string]int{"search_text": 5, "search_regex": 4}[tool] {
			t.Errorf("%s: more at %v, total %d", tool, more, a.Total)
		}
	}
}

func TestAPageOverTheBudgetEndsEarly(t *testing.T) {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("n%02d.md", i)] = strings.Repeat("\"quoted\" <text> ", 20) + "word " + strings.Repeat("\"quoted\" ", 20)
	}
	d := vaultOf(t, files, 8000)
	got, first := all(t, d, "search_text", args{"query": "word", "limit": 1000})
	if len(got) != 100 || len(first.Items) > 20 || len(first.Items) < 3 {
		t.Errorf("%d items, %d on the first page", len(got), len(first.Items))
	}
}

func TestHiddenFolderLeavesNoTrace(t *testing.T) {
	files := map[string]string{
		"a.md": "one word\n", "Open/b.md": "a word and a word\nword", "Open/u16.md": "\xff\xfew\x00o\x00", "Skip/x.md": "word",
		".obsidian/app.json": `{"userIgnoreFilters":["Skip/","Private/Skip"]}`,
	}
	without := plant(t, files)
	hidden := acl.Rule{Glob: "Private/**", Read: acl.Hide, Write: acl.Deny, Delete: acl.Deny}
	files["Private/s.md"] = strings.Repeat("word\n", 50)
	files["Private/Skip/x.md"] = "word"
	files["Private/u16.md"] = "\xff\xfew\x00"
	files["Private/locked.md"] = "word"
	with := plant(t, files)
	if err := os.Chmod(filepath.Join(with, "Private/locked.md"), 0); err != nil {
		t.Fatal(err)
	}
	d1, d2 := serve(t, without, 1<<20, hidden), serve(t, with, 1<<20, hidden)
	for _, c := range []struct {
		tool string
		in   args
	}{
		{"search_text", args{"query": "word"}},
		{"search_text", args{"query": "word", "root": "Open", "whole_word": true}},
		{"search_text", args{"query": "word", "root": "Private"}},
		{"search_regex", args{"pattern": "w.rd"}},
		{"search_regex", args{"pattern": "w.rd", "root": "Private/Skip"}},
	} {
		show := func(d *dispatch.Dispatcher) string {
			res, err := do(t.Context(), d, c.tool, c.in)
			if err != nil {
				b, _ := json.Marshal(err)
				return err.Error() + string(b)
			}
			return string(res.Structured) + res.Text
		}
		if d := cmp.Diff(show(d1), show(d2)); d != "" {
			t.Errorf("%s %v (-absent +hidden):\n%s", c.tool, c.in, d)
		}
	}
}

func TestOneBadNoteDoesNotFailTheSearch(t *testing.T) {
	dir := plant(t, map[string]string{
		"good.md": "word", "u16le.md": "\xff\xfew\x00", "u16be.md": "\xfe\xff\x00w", "latin1.md": "caf\xe9 word", "locked.md": "word", "pic.png": "word",
	})
	huge := filepath.Join(dir, "huge.md")
	if err := os.WriteFile(huge, []byte("word"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 65<<20); err != nil {
		t.Fatal(err)
	}
	want, found := []string{"huge.md", "latin1.md", "u16be.md", "u16le.md"}, 3
	if err := os.Chmod(filepath.Join(dir, "locked.md"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "locked.md")); err != nil { // the superuser reads it
		want, found = []string{"huge.md", "latin1.md", "locked.md", "u16be.md", "u16le.md"}, 2
	}
	a := find(t, serve(t, dir, 1<<20), "search_text", args{"query": "word"})
	var paths []string
	for _, w := range a.Warnings {
		paths = append(paths, w.Path)
		if w.Reason == "" || strings.Contains(w.Reason, dir) {
			t.Errorf("%s: reason %q", w.Path, w.Reason)
		}
	}
	if !slices.Equal(paths, want) {
		t.Errorf("warnings for %q, want %q", paths, want)
	}
	if a.Notes != found { // what is no UTF-8 is searched nevertheless
		t.Errorf("%d notes match", a.Notes)
	}
}

func TestWarningsAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("u%02d.md", i)] = "\xff\xfe"
	}
	a := find(t, vaultOf(t, files, 1<<20), "search_regex", args{"pattern": "x"})
	if n := len(a.Warnings); n != 21 || a.Warnings[0].Path != "u00.md" || a.Warnings[19].Path != "u19.md" || !strings.HasPrefix(a.Warnings[20].Reason, "80 ") {
		t.Errorf("%d warnings: %v", n, a.Warnings)
	}
}

func TestExcludedFilesAreCounted(t *testing.T) {
	d := vaultOf(t, map[string]string{
		"a.md": "word", "Archive/b.md": "word", "Archive/c.md": "none", "Archive/d.md": "\xff\xfe", "x.tmp.md": "word",
		".obsidian/app.json": `{"userIgnoreFilters":["Archive/","/\\.tmp\\./"]}`,
	}, 1<<20)
	a := find(t, d, "search_text", args{"query": "word"})
	if len(a.Items) != 1 || a.Excluded != 4 || a.Warnings != nil {
		t.Errorf("got %v, excluded %d, warnings %v", a.Items, a.Excluded, a.Warnings)
	}
}

func TestPlacesAreThoseOfTheEditor(t *testing.T) {
	d := vaultOf(t, map[string]string{
		"lf.md": "a\n😀 word", "crlf.md": "a\r\n\r\nword", "cr.md": "a\rb\rword", "bom.md": "\ufeffword", "nfd.md": "Cafe\u0301",
	}, 1<<20)
	places := func(tool string, in args) string {
		items, _ := all(t, d, tool, in)
		var s []string
		for _, it := range items {
			s = append(s, it.String())
		}
		slices.Sort(s)
		return strings.Join(s, " ")
	}
	want := "bom.md:1:1 cr.md:3:1 crlf.md:3:1 lf.md:2:4"
	if got := places("search_text", args{"query": "WORD"}); got != want {
		t.Errorf("text: got %s, want %s", got, want)
	}
	if got := places("search_regex", args{"pattern": `(?:^|\b)word$`}); got != want {
		t.Errorf("regex: got %s, want %s", got, want)
	}
	if got := places("search_regex", args{"pattern": "^word"}); got != "bom.md:1:1 cr.md:3:1 crlf.md:3:1" {
		t.Errorf("line start behind a byte-order mark: got %s", got)
	}
	if got := places("search_text", args{"query": "café", "whole_word": true}); got != "nfd.md:1:1" {
		t.Errorf("composed query: got %s", got)
	}
}

func TestFlags(t *testing.T) {
	d := vaultOf(t, map[string]string{"a.md": "Word\nword"}, 1<<20)
	for _, tt := range []struct {
		name string
		in   args
		want int
	}{
		{"absent is i", args{"pattern": "word"}, 2},
		{"null is absent", args{"pattern": "word", "flags": nil}, 2},
		{"empty is none", args{"pattern": "word", "flags": ""}, 1},
		{"others leave i out", args{"pattern": "word", "flags": "ms"}, 1},
	} {
		if got := find(t, d, "search_regex", tt.in).Total; got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	_, err := do(t.Context(), d, "search_regex", args{"pattern": "a", "flags": "y"})
	if e := fault.Of(err); err == nil || e.Code != fault.InvalidInput || e.Details["argument"] != "flags" {
		t.Errorf("flag g: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	d := vaultOf(t, map[string]string{"a.md": "x"}, 1<<20)
	for _, tt := range []struct {
		tool string
		in   args
		code fault.Code
	}{
		{"search_text", args{"query": ""}, fault.ValidationError},
		{"search_text", args{"query": "x", "root": "nowhere"}, fault.NoteNotFound},
		{"search_text", args{"query": "x", "root": "../x"}, fault.PathInvalid},
		{"search_text", args{"query": "x", "cursor": "200"}, fault.InvalidInput},
		{"search_text", args{"query": "x", "limit": 0}, fault.ValidationError},
		{"search_regex", args{"pattern": "("}, fault.InvalidInput},
		{"search_regex", args{"pattern": strings.Repeat("a", 1001)}, fault.ValidationError},
	} {
		if _, err := do(t.Context(), d, tt.tool, tt.in); err == nil || fault.Of(err).Code != tt.code {
			t.Errorf("%s %v: got %v, want %s", tt.tool, tt.in, err, tt.code)
		}
	}
}

func TestACursorIsForTheSameSearchOnly(t *testing.T) {
	d := vaultOf(t, map[string]string{"a.md": "x\nx"}, 1<<20)
	a := find(t, d, "search_regex", args{"pattern": "x", "limit": 1})
	for _, in := range []args{{"pattern": "x", "limit": 1, "flags": ""}, {"pattern": "X", "limit": 1}} {
		in["cursor"] = *a.Next
		if _, err := do(t.Context(), d, "search_regex", in); err == nil || fault.Of(err).Details["reason"] != "request_mismatch" {
			t.Errorf("%v: %v", in, err)
		}
	}
}

func TestCancelStopsARegexInsideANote(t *testing.T) {
	d := vaultOf(t, map[string]string{"a.md": strings.Repeat("word ", 1<<20) + "x!"}, 1<<20)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := do(ctx, d, "search_regex", args{"pattern": `(?:\w+\s?){1,500}!`})
	if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Fatalf("it ended by itself: %v", err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
