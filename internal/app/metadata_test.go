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
	"vault-mcp/internal/fault"
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

func TestFieldCasesOfFrontmatter(t *testing.T) {
	fieldCases(t, "frontmatter", map[string]func(*testing.T, *app.App, fieldCase){
		"frontmatter": func(t *testing.T, a *app.App, c fieldCase) {
			var got struct {
				State       string
				Frontmatter any
			}
			if err := call(t, a, "read_frontmatter", c.Op.Args, &got); err != nil {
				t.Fatal(err)
			}
			if got.State != c.Expect["state"] {
				t.Errorf("state %s, want %v", got.State, c.Expect["state"])
			}
			data, ok := c.Expect["data"].(map[string]any)
			if !ok {
				return
			}
			if d := cmp.Diff(c.Expect["data"], got.Frontmatter); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			// Each property is found by its very value.
			for key, value := range data {
				in := args{"key": key, "value": value}
				if value == nil {
					in = args{"key": key, "op": "empty"}
				}
				if out := ask(t, a, "find_notes_by_property", in); len(out.Matches) == 0 {
					t.Errorf("%v finds nothing", in)
				} else if d := cmp.Diff(value, out.Matches[0].Value); d != "" {
					t.Errorf("%s (-want +got):\n%s", key, d)
				}
			}
		},
	})
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
	if got := taskPage(t, a, args{}); len(got.Items) != 2 || len(got.Warnings) != 2 {
		t.Errorf("tasks: %+v", got)
	}
}

func TestWarningsAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 35 {
		files[fmt.Sprintf("b%02d.md", i)] = "---\n\t: [\n---\n"
	}
	out := ask(t, over(t, files, ""), "list_tags", args{})
	if len(out.Warnings) != 21 || !strings.HasPrefix(out.Warnings[20].Reason, "15 more") {
		t.Errorf("%d warnings, last %+v", len(out.Warnings), out.Warnings[len(out.Warnings)-1])
	}
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

func TestPropertiesAreListedWithTypesAndExamples(t *testing.T) {
	a := over(t, map[string]string{
		"a.md": "---\nStatus: seed\nrating: 4\nwhen: 2031-05-09\nlist: [a, b, 2]\nmap: {x: 1}\nnone:\n---\n",
		"b.md": "---\nstatus: [done, seed]\nrating: 4.5\nwhen: 2031-05-09T10:00\nbad: .nan\n---\n",
		"c.md": "---\nSTATUS: true\nstatus: false\n---\n",
	}, "")
	out := ask(t, a, "list_properties", args{})
	got := []string{}
	for _, p := range out.Properties {
		examples, _ := json.Marshal(p.Examples)
		got = append(got, fmt.Sprintf("%s %d %s %s", p.Key, p.Count, strings.Join(p.Types, "+"), examples))
	}
	want := []string{
		`Status 3 string+boolean+list ["seed","done","true"]`, `rating 2 number ["4","4.5"]`, `when 2 date+datetime ["2031-05-09","2031-05-09T10:00"]`,
		`bad 1 number [".nan"]`, `list 1 list ["a","b","2"]`, `map 1 object []`, `none 1 null []`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestNotesAreFoundByProperty(t *testing.T) {
	a := over(t, map[string]string{
		"a.md": "---\nStatus: Seed\nn: 9\nwhen: 2031-05-09\nlist: [Alpha, beta, 2]\nauthor: {Name: Ann, langs: [de, en]}\nempty:\nfoo.bar: dots\n---\n",
		"b.md": "---\nstatus: done\nn: 10\nwhen: 2031-05-09T10:00\nlist: []\nauthor: {name: Bob}\nempty: \"\"\nbig: 9007199254740993\nflag: true\n---\n",
		"c.md": "---\nn: \"9\"\nwhen: soon\nlist: alphabet\nbig: 123456789012345678901234567890\n---\n",
		"d.md": "text\n",
	}, "")
	for _, tt := range []struct {
		in   args
		want string
	}{
		{args{"key": "status"}, "a b"},
		{args{"key": "STATUS", "op": "exists"}, "a b"},
		{args{"key": "status", "op": "missing"}, "c d"},
		{args{"key": "empty", "op": "empty"}, "a b"},
		{args{"key": "list", "op": "empty"}, "b"},
		{args{"key": "status", "value": "seed"}, "a"},
		{args{"key": "status", "value": "see"}, ""},
		{args{"key": "status", "op": "contains", "value": "EE"}, "a"},
		{args{"key": "status", "op": "starts_with", "value": "d"}, "b"},
		{args{"key": "status", "op": "matches", "value": "^s.*d$"}, "a"},
		{args{"key": "status", "op": "matches", "value": "(?-i)^s"}, ""},
		{args{"key": "n", "value": 9}, "a c"},
		{args{"key": "n", "value": "9"}, "a c"},
		{args{"key": "n", "value": 9.0}, "a c"},
		{args{"key": "n", "op": ">", "value": 9}, "b"},
		{args{"key": "n", "op": ">=", "value": 9}, "a b"},
		{args{"key": "n", "op": "<", "value": "9.5"}, "a"},
		{args{"key": "when", "op": "<=", "value": "2031-05-09"}, "a"},
		{args{"key": "when", "op": ">", "value": "2031-05-09"}, "b"},
		{args{"key": "when", "op": ">=", "value": "2031-05-09 10:00:00"}, "b"},
		{args{"key": "when", "op": "<", "value": "2031-05-10"}, "a b"},
		{args{"key": "when", "value": "2031-05-09"}, "a"},
		{args{"key": "list", "value": "alpha"}, "a"},
		{args{"key": "list", "value": 2}, "a"},
		{args{"key": "list", "op": "contains", "value": "alpha"}, "a c"},
		{args{"key": "list", "value": []any{"alpha", "Beta", 2}}, "a"},
		{args{"key": "list", "value": []any{"alpha"}}, ""},
		{args{"key": "list", "value": []any{}}, "b"},
		{args{"key": "flag", "value": true}, "b"},
		{args{"key": "flag", "value": "true"}, "b"},
		{args{"key": "flag", "value": false}, ""},
		{args{"key": "author", "value": args{"name": "Bob"}}, "b"},
		{args{"key": "author.name"}, ""},
		{args{"key": "author.name", "nested": true}, "a b"},
		{args{"key": "Author.name", "nested": true, "value": "ann"}, "a"},
		{args{"key": "author.langs.1", "nested": true, "value": "en"}, "a"},
		{args{"key": "author.langs", "nested": true, "value": "de"}, "a"},
		{args{"key": "author.langs", "nested": true, "op": "missing"}, "b c d"},
		{args{"key": "foo.bar", "nested": true}, "a"},
		{args{"key": "foo.bar"}, "a"},
		// A whole number beyond 2^53 is not rounded to another.
		{args{"key": "big", "op": ">", "value": 9007199254740992}, "b c"},
		{args{"key": "big", "value": 9007199254740992}, ""},
		{args{"key": "absent"}, ""},
		{args{"key": "n", "folder": ""}, "a b c"},
	} {
		got := strings.ReplaceAll(strings.Join(ask(t, a, "find_notes_by_property", tt.in).paths(), " "), ".md", "")
		if got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.in, got, tt.want)
		}
	}
	if out := ask(t, a, "find_notes_by_property", args{"key": "author", "verbosity": "terse"}); out.Matches[0].Value != nil {
		t.Errorf("terse has values: %+v", out)
	}
	if out := ask(t, a, "find_notes_by_property", args{"key": "status", "limit": 1}); !out.Truncated || out.Total != 2 || out.Matches[0].Value != "Seed" {
		t.Errorf("a page: %+v", out)
	}
}

func TestWhatCannotBeComparedIsRefused(t *testing.T) {
	a := over(t, map[string]string{"a.md": "---\nk: 1\n---\n"}, "")
	for _, tt := range []struct {
		in   args
		says string
	}{
		{args{"op": "exists", "value": 1}, "takes no value"},
		{args{"op": "missing", "value": ""}, "takes no value"},
		{args{"op": "equals"}, "needs a value"},
		{args{"op": "<"}, "needs a value"},
		{args{"op": "<", "value": "soon"}, "number, or a date"},
		{args{"op": ">=", "value": true}, "number, or a date"},
		{args{"op": "<", "value": "2031-02-30"}, "number, or a date"},
		{args{"op": ">", "value": []int{1}}, "lists and objects go with"},
		{args{"op": "contains", "value": ""}, "not empty"},
		{args{"op": "matches", "value": "("}, "no regular expression"},
		{args{"op": "matches", "value": 5}, "regular expression"},
		{args{"op": "matches", "value": strings.Repeat("a", 1001)}, "at most 1000"},
	} {
		tt.in["key"] = "k"
		err := call(t, a, "find_notes_by_property", tt.in, &metadataOut{})
		if e := fault.Of(err); e == nil || e.Code != fault.InvalidInput || !strings.Contains(e.Message, tt.says) {
			t.Errorf("%v: %v, want %q", tt.in, err, tt.says)
		}
	}
}

func TestALongValueIsCutAndSaysSo(t *testing.T) {
	a := over(t, map[string]string{"a.md": "---\nk: " + strings.Repeat("x", 5000) + "\n---\n"}, "")
	m := ask(t, a, "find_notes_by_property", args{"key": "k"}).Matches[0]
	if s, _ := m.Value.(string); !m.Cut || len(s) > 1100 {
		t.Errorf("cut %t, %d bytes", m.Cut, len(s))
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
