package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
)

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
