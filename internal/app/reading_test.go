package app_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
)

// call runs a tool and decodes its structured answer into out.
func call(t *testing.T, a *app.App, tool string, args, out any) error {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := do(t.Context(), a, tool, string(raw))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(res.Structured, out); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, res.Structured)
	}
	return nil
}

type args = map[string]any

// The cases say what reading a vault must answer.
func TestFieldCases(t *testing.T) {
	b, err := os.ReadFile("testdata/files.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID    string
		Files map[string]any
		Op    struct {
			What string
			Args args
		}
		Expect struct {
			Content *string
			Paths   []string
			Error   bool
		}
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "vault")
			plant(t, parent, map[string]string{"outside.md": "outside\n"})
			for p, v := range c.Files {
				switch v := v.(type) {
				case string:
					plant(t, dir, map[string]string{p: v})
				case map[string]any:
					full := filepath.Join(dir, p)
					if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.Symlink(v["symlink"].(string), full); err != nil {
						t.Fatal(err)
					}
				}
			}
			a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir))
			switch c.Op.What {
			case "read_note":
				var out struct{ Content string }
				c.Op.Args["format"] = "json"
				err := call(t, a, "read_note", c.Op.Args, &out)
				if c.Expect.Error != (err != nil) {
					t.Fatalf("error %v", err)
				}
				if want := c.Expect.Content; want != nil && out.Content != *want {
					t.Errorf("content %q, want %q", out.Content, *want)
				}
			case "list_notes":
				if d := cmp.Diff(c.Expect.Paths, list(t, a, c.Op.Args)); d != "" {
					t.Errorf("-want +got:\n%s", d)
				}
			}
		})
	}
}

// list pages list_notes to its end.
func list(t *testing.T, a *app.App, in args) []string {
	t.Helper()
	in = cloned(in)
	var paths []string
	for range 1000 {
		var out struct {
			Notes []struct{ Path string }
			Next  *string `json:"next_cursor"`
		}
		if err := call(t, a, "list_notes", in, &out); err != nil {
			t.Fatal(err)
		}
		for _, n := range out.Notes {
			paths = append(paths, n.Path)
		}
		if out.Next == nil {
			return paths
		}
		in["cursor"] = *out.Next
	}
	t.Fatal("the list does not end")
	return nil
}

func cloned(in args) args {
	out := args{}
	for k, v := range in {
		out[k] = v
	}
	return out
}

// Every page size shows each note exactly once, whatever the names are.
func TestPagingSkipsAndRepeatsNothing(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i, p := range []string{"_x.md", "a.md", "B.md", "c.md", "z.md", "z/1.md", "z/2.md", "Ärger.md", "z.a/3.md", "a b.md", "a-b.md", "Z.MD", "日本.md", "e\u0301.md", "z/z/9.md", "same/x.md", "same2/x.md"} {
		files[p] = strings.Repeat("x", i%5)
	}
	plant(t, dir, files)
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir))
	var want []string
	for p := range files {
		want = append(want, p)
	}
	slices.Sort(want)
	for _, sort := range []string{"path", "-path", "title", "-title", "mtime", "-mtime", "ctime", "-ctime", "size", "-size"} {
		whole := list(t, a, args{"sort": sort})
		if got := slices.Sorted(slices.Values(whole)); !slices.Equal(got, want) {
			t.Errorf("sort %s: got %q, want %q", sort, got, want)
		}
		for limit := 1; limit <= len(want)+1; limit++ {
			if got := list(t, a, args{"sort": sort, "limit": limit}); !slices.Equal(got, whole) {
				t.Errorf("sort %s, limit %d: got %q, want %q", sort, limit, got, whole)
			}
		}
	}
	if got := list(t, a, args{}); !slices.Equal(got, want) {
		t.Errorf("by path: %q, want %q", got, want)
	}
}

type noteRow struct{ Path, Content, Encoding string }

type problemRow struct {
	Path, Code   string
	Size, Budget int64
}

// readAll pages read_notes to its end and checks each page on the way.
func readAll(t *testing.T, a *app.App, paths []string, budget int) ([]noteRow, []problemRow) {
	t.Helper()
	in := args{"paths": paths}
	var notes []noteRow
	var problems []problemRow
	for range 1000 {
		raw, _ := json.Marshal(in)
		res, err := do(t.Context(), a, "read_notes", string(raw))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(res.Content()) + len(res.Structured); n > budget {
			t.Errorf("a page of %d bytes; the limit is %d", n, budget)
		}
		var out struct {
			Notes  []noteRow
			Errors []problemRow
			Next   *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(res.Structured, &out); err != nil {
			t.Fatal(err)
		}
		if len(out.Notes) == 0 && out.Next != nil && len(out.Errors) == 0 {
			t.Fatal("a page without progress")
		}
		for _, n := range out.Notes {
			if c := strings.Count(string(res.Content())+string(res.Structured), "marker of "+n.Path); c > 1 {
				t.Errorf("the text of %s is sent %d times", n.Path, c)
			}
		}
		notes, problems = append(notes, out.Notes...), append(problems, out.Errors...)
		if out.Next == nil {
			return notes, problems
		}
		in["cursor"] = *out.Next
	}
	t.Fatal("the pages do not end")
	return nil, nil
}

// Every note comes back byte for byte, and no page is over the budget, however
// much escaping its text needs.
func TestReadNotesIsExact(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"crlf.md": "a\r\nb\r\n", "bom.md": "\ufeffx", "empty.md": "", "nul.md": "a\x00b", "seps.md": "a\u2028b\u0085c", "html.md": "<b>&amp;</b>",
		"latin1.md": "caf\xe9\n", "utf16.md": "\xff\xfea\x00",
		"huge.md": strings.Repeat("x", 30_000), "quotes.md": strings.Repeat(`"`, 12_000),
	}
	for i := range 40 {
		p := fmt.Sprintf("n%02d.md", i)
		files[p] = "marker of " + p + "\n" + strings.Repeat("line \"q\" \\ \t\n", i*10)
	}
	plant(t, dir, files)
	const budget = 20_000
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\ngovernor: {max_response_bytes: %d}\n", dir, budget))
	paths := []string{"absent.md", "../up.md"}
	for p := range files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	notes, problems := readAll(t, a, paths, budget)
	got := map[string]string{}
	for _, n := range notes {
		text := n.Content
		if n.Encoding == "base64" {
			b, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		if _, twice := got[n.Path]; twice {
			t.Errorf("%s comes twice", n.Path)
		}
		got[n.Path] = text
	}
	for _, p := range problems {
		switch {
		case p.Path == "absent.md" && p.Code == "note_not_found", p.Path == "../up.md" && p.Code == "path_invalid":
		case (p.Path == "huge.md" || p.Path == "quotes.md") && p.Code == "too_large" && p.Size > p.Budget && p.Budget > 0:
		default:
			t.Errorf("problem %+v", p)
		}
		delete(files, p.Path)
	}
	if len(problems) != 4 {
		t.Errorf("%d problems: %+v", len(problems), problems)
	}
	if d := cmp.Diff(files, got); d != "" {
		t.Errorf("-on disk +read:\n%s", d)
	}
}

func TestReadNotesJudgesAgainOnEachPage(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{"a.md": strings.Repeat("a", 9000), "b.md": strings.Repeat("b", 9000)})
	yaml := fmt.Sprintf("governor: {max_response_bytes: 15000}\nvaults: [{path: %q, rules: [{glob: 'b.md', verbs: {read: %%s}}]}]\n", dir)
	var out struct {
		Notes  []noteRow
		Errors []problemRow
		Next   *string `json:"next_cursor"`
	}
	in := args{"paths": []string{"a.md", "b.md"}}
	if err := call(t, start(t, home, fmt.Sprintf(yaml, "allow")), "read_notes", in, &out); err != nil || out.Next == nil {
		t.Fatal(err, out.Next)
	}
	in["cursor"] = *out.Next
	out.Notes = nil
	// The rules changed between the pages; the cursor lives on in the ring.
	if err := call(t, start(t, home, fmt.Sprintf(yaml, "deny")), "read_notes", in, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Notes) != 0 || len(out.Errors) != 1 || out.Errors[0].Code != string(fault.ACLDenied) {
		t.Errorf("got %+v %+v", out.Notes, out.Errors)
	}
}

func TestCursorFaults(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a.md": "", "b.md": "", "c.md": ""})
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir))
	var out struct {
		Next *string `json:"next_cursor"`
	}
	if err := call(t, a, "list_notes", args{"limit": 1}, &out); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		tool   string
		in     args
		reason string
	}{
		"other arguments": {"list_notes", args{"limit": 2, "cursor": *out.Next}, "request_mismatch"},
		"another tool":    {"list_attachments", args{"limit": 1, "cursor": *out.Next}, "request_mismatch"},
		"altered":         {"list_notes", args{"limit": 1, "cursor": *out.Next + "x"}, "invalid"},
		"a number":        {"search_text", args{"query": "a", "cursor": "50"}, "invalid"},
	} {
		e := fault.Of(call(t, a, tt.tool, tt.in, &out))
		if e == nil || e.Code != fault.InvalidInput || e.Details["reason"] != tt.reason {
			t.Errorf("%s: %v", name, e)
		}
	}
}

func TestSeveralVaultsHaveToBeNamed(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	plant(t, one, map[string]string{"a.md": "in one\n"})
	plant(t, two, map[string]string{"a.md": "in two\n"})
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{id: one, path: %q}, {id: two, path: %q, read_only: true}]\n", one, two))
	var out struct{ Content string }
	if err := call(t, a, "read_note", args{"path": "a", "vault": "two", "format": "json"}, &out); err != nil || out.Content != "in two\n" {
		t.Errorf("got %q, %v", out.Content, err)
	}
	if e := fault.Of(call(t, a, "read_note", args{"path": "a"}, &out)); e == nil || e.Details["argument"] != "vault" {
		t.Errorf("no vault named: %v", e)
	}
	if e := fault.Of(call(t, a, "read_note", args{"path": "a", "vault": "three"}, &out)); e == nil || e.Code != fault.VaultNotFound {
		t.Errorf("unknown vault: %v", e)
	}
}

// A part that is asked for is what comes, and the parts make the note whole again.
func TestLongNoteComesInParts(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "line %d\r\n", i+1)
	}
	plant(t, dir, map[string]string{"long.md": text.String()})
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\ngovernor: {max_response_bytes: 20000}\n", dir))
	var got strings.Builder
	for from := 1; from <= 3000; from += 700 {
		var out struct {
			Content string
			Total   int `json:"total_lines"`
		}
		if err := call(t, a, "read_note", args{"path": "long", "format": "json", "from_line": from, "lines": 700}, &out); err != nil {
			t.Fatal(err)
		}
		if out.Total != 3000 {
			t.Errorf("%d lines in all", out.Total)
		}
		got.WriteString(out.Content)
	}
	if got.String() != text.String() {
		t.Error("the parts do not make the note")
	}
}
