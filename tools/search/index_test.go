package search_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/vault"
)

// serveIndexed is serve with an index that is ready.
func serveIndexed(t testing.TB, dir string, budget int, rules ...acl.Rule) *dispatch.Dispatcher {
	t.Helper()
	ix := indexOf(t, dir)
	ix.Start(t.Context())
	ready(t, ix)
	return serveView(t, viewOf(t, dir, rules...).Indexed(ix), budget)
}

func indexOf(t testing.TB, dir string) *index.Index {
	t.Helper()
	v, err := vault.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	ix := index.Open(v, t.TempDir(), index.Options{NoWatch: true, Sweep: -1})
	t.Cleanup(func() {
		_ = ix.Close()
		_ = v.Close()
	})
	return ix
}

func ready(t testing.TB, ix *index.Index) {
	t.Helper()
	for range 2000 {
		if ix.Status(nil).Phase == index.Ready {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("the index does not get ready: %+v", ix.Status(nil))
}

// question is one call of a search tool.
type question struct {
	tool string
	in   args
}

// pages are all answers to a question, without what differs by nature: the
// cursors.
func pages(t *testing.T, d *dispatch.Dispatcher, q question) (list []string) {
	t.Helper()
	in := args{}
	for k, v := range q.in {
		in[k] = v
	}
	for range 1000 {
		res, err := do(t.Context(), d, q.tool, in)
		if err != nil {
			return append(list, err.Error())
		}
		var a map[string]json.RawMessage
		if err := json.Unmarshal(res.Structured, &a); err != nil {
			t.Fatal(err)
		}
		next := a["next_cursor"]
		delete(a, "next_cursor")
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(text))
		if string(next) == "null" {
			return list
		}
		var cursor string
		if err := json.Unmarshal(next, &cursor); err != nil {
			t.Fatal(err)
		}
		in["cursor"] = cursor
	}
	t.Fatalf("%v has no end", q)
	return nil
}

// words are what random notes and queries are made of: of several scripts, in
// several forms, alone and as parts of each other.
var words = []string{
	"moss", "Moss", "mossy", "moss_bank", "a", "aa", "aaa", "café", "cafe\u0301", "CAFÉ", "été", "e\u0301te\u0301", "ſtone", "stone", "\u212aelvin",
	"kelvin", "Straße", "東京", "京都", "東京都", "ไทย", "서울", "서울에서", "x1", "12", "#tag", "#tag/sub", "#Tag", "- [ ] open", "- [x] done", "[[link]]", "**bold**",
	"\n\n", "\n# Head\n", "\r\n", "\r", "😀", "-", "…", strings.Repeat("long", 40), "\u00c5ngström", "A\u030angstro\u0308m", "\u212bngström", "i\u0307", "İ",
}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	if r.IntN(4) == 0 {
		fmt.Fprintf(&b, "---\n%s: %s\ntags: [%s]\nn: %d\nm: {k: [v, %s]}\n---\n", pick(r, "status", "Kind"), pick(r, "draft", "moss", "''", "null", "", "true"), pick(r, "tag", "other", "tag/x"), r.IntN(10), pick(r, "w", "draft"))
	}
	for range n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteString(pick(r, " ", " ", "\n", "", "_"))
	}
	return b.String()
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

func randomVault(t *testing.T, r *rand.Rand) string {
	files := map[string]string{".obsidian/app.json": `{"userIgnoreFilters":["Skip/"]}`}
	for i := range 60 {
		name := fmt.Sprintf("%s%s %d%s", pick(r, "", "", "In/", "In/Deep/", "Skip/", "Private/"), pick(r, "moss", "note", "café", "cafe\u0301", "東京"), i, pick(r, ".md", ".md", ".md", ".md", ".canvas", ".png"))
		text := randomText(r, r.IntN(60))
		switch {
		case strings.HasSuffix(name, ".canvas") && r.IntN(5) > 0:
			b, err := json.Marshal(map[string]any{"nodes": []any{
				map[string]any{"id": "1", "type": "text", "text": text}, map[string]any{"id": "2", "type": "text", "text": randomText(r, 3)},
			}})
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		case r.IntN(12) == 0:
			text = pick(r, "\xff\xfem\x00", "\xfe\xff\x00m", "caf\xe9 moss", "\ufeff"+text, "---\na: [\n---\nmoss", "")
		}
		files[name] = text
	}
	return plant(t, files)
}

func randomQuestion(r *rand.Rand) question {
	word := func() string {
		w := words[r.IntN(len(words))]
		if runes := []rune(w); r.IntN(3) == 0 && len(runes) > 1 {
			w = string(runes[r.IntN(len(runes)-1):])
		}
		if r.IntN(4) == 0 {
			w += " " + words[r.IntN(len(words))]
		}
		return w
	}
	in := args{"limit": 1 + r.IntN(40)}
	if r.IntN(4) == 0 {
		in["root"] = pick(r, "In", "In/Deep", "Private", "Skip")
	}
	if r.IntN(3) == 0 {
		in["max_matches_per_file"] = 1 + r.IntN(4)
	}
	switch r.IntN(6) {
	case 0, 1:
		in["query"], in["case_sensitive"], in["whole_word"] = word(), r.IntN(4) == 0, r.IntN(4) == 0
		return question{"search_text", in}
	case 2:
		in["pattern"] = pick(r, `mo(ss|th)y?`, `\bcafé\b`, `^stone`, `[a-z]+_bank`, `a+$`, `(東京|京都)`, `\d+`, `kelvin|straße`, `moss\s+\w+`, `é`, `x1|^#\s`)
		in["flags"] = pick(r, "", "i", "is")
		return question{"search_regex", in}
	case 3:
		delete(in, "max_matches_per_file")
		in["logic"] = json.RawMessage(pick(r,
			`{"in":["tag",{"var":"tags"}]}`, `{"==":[{"var":"status"},"draft"]}`, `{">":[{"var":"n"},4]}`, `{"in":["moss",{"var":"content"}]}`,
			`{"!":{"var":"status"}}`, `{"some":[{"var":"tags"},{"in":["sub",{"var":""}]}]}`, `{"<":[{"var":"size"},200]}`, `{"==":[{"var":"m.k.1"},"draft"]}`, `{"in":["In",{"var":"folder"}]}`))
		return question{"search_jsonlogic", in}
	}
	term := func() string {
		w := strings.NewReplacer("\n", " ", "\r", " ", `"`, "").Replace(word())
		switch r.IntN(12) {
		case 0:
			return "file:" + pick(r, "moss", ".png", "café", "canvas")
		case 1:
			return "path:" + pick(r, "In", "deep", "moss")
		case 2:
			return "tag:" + pick(r, "#tag", "tag/sub", "other", `""`)
		case 3:
			return pick(r, "line:", "block:", "section:", "content:", "match-case:") + "(" + pick(r, "moss stone", "a OR moss", `"café" -aa`) + ")"
		case 4:
			return pick(r, "task:", "task-todo:", "task-done:") + pick(r, `""`, "open", "done", "(open moss)")
		case 5:
			return pick(r, "[status]", "[status:draft]", "[n:>4]", "[kind:moss OR draft]", "[m:v]", "[status:null]", "[tags:tag]")
		case 6:
			return pick(r, "/mos+/", "/^# /", `/\d+$/`)
		case 7:
			return `"` + w + `"`
		}
		return `"` + w + `"` + pick(r, "", " OR moss")
	}
	query := pick(r, "", "-") + term()
	for range r.IntN(3) {
		query += pick(r, " ", " OR ", " -") + term()
	}
	in["query"], in["explain"] = query, r.IntN(8) == 0
	return question{"search_vault", in}
}

// The index finds, counts, ranks and pages exactly as reading all files does,
// for every tool, also under folder rules.
func TestTheIndexAnswersAsTheFilesDo(t *testing.T) {
	rounds, asked := 3, 150
	if testing.Short() {
		rounds, asked = 1, 60
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 7))
		dir := randomVault(t, r)
		var rules []acl.Rule
		if seed%2 == 1 {
			rules = []acl.Rule{{Glob: "Private/**", Read: acl.Hide}}
		}
		files, indexed := serve(t, dir, 20_000, rules...), serveIndexed(t, dir, 20_000, rules...)
		for range asked {
			q := randomQuestion(r)
			if d := cmp.Diff(pages(t, files, q), pages(t, indexed, q)); d != "" {
				raw, _ := json.Marshal(q.in)
				t.Errorf("seed %d: %s %s (-files +index):\n%s", seed, q.tool, raw, d)
			}
		}
	}
}

// An answer that had to do without the index says so, and its cursor does not
// go on in another order of things.
func TestAnAnswerWithoutTheIndexSaysSo(t *testing.T) {
	dir := plant(t, map[string]string{"a.md": "moss", "b.md": "moss", "Private/c.md": "moss"})
	ix := indexOf(t, dir)
	d := serveView(t, viewOf(t, dir, acl.Rule{Glob: "Private/**", Read: acl.Hide}).Indexed(ix), 1<<20)
	for tool, in := range map[string]args{
		"search_text": {"query": "moss"}, "search_regex": {"pattern": "moss"}, "search_vault": {"query": "moss"}, "search_jsonlogic": {"logic": args{"var": "path"}},
	} {
		if a := find(t, d, tool, in); a.Notes != 2 {
			t.Errorf("%s finds %d notes without the index", tool, a.Notes)
		}
	}
	// A folder where the file of the index has to be makes it unusable.
	bad := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(bad, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	broken := index.Open(v, bad, index.Options{NoWatch: true})
	broken.Start(t.Context())
	t.Cleanup(func() {
		_ = broken.Close()
		_ = v.Close()
	})
	view := viewOf(t, dir).Indexed(broken)
	d = serveView(t, view, 1<<20)
	first := find(t, d, "search_text", args{"query": "moss", "limit": 1})
	if first.Notes != 3 || first.Index == "" || strings.Contains(first.Index, bad) || first.Next == nil {
		t.Fatalf("with an index that cannot be used: %+v", first)
	}
	ix.Start(t.Context())
	ready(t, ix)
	view.Indexed(ix)
	_, err = do(t.Context(), d, "search_text", args{"query": "moss", "limit": 1, "cursor": *first.Next})
	if e := fault.Of(err); err == nil || e.Code != fault.InvalidInput || e.Details["reason"] != "expired" {
		t.Errorf("the cursor once the index serves: %v", err)
	}
	if a := find(t, d, "search_text", args{"query": "moss"}); a.Notes != 3 || a.Index != "" {
		t.Errorf("once the index serves: %+v", a)
	}
}
