package note

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// jsonValue is a value as a client would send it.
func jsonValue(t testing.TB, raw string) any {
	t.Helper()
	v, err := DecodeValue([]byte(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func TestEditsChangeOnlyTheirKey(t *testing.T) {
	set := func(key, raw string) PropertyEdit { return SetProperty(key, jsonValue(t, raw)) }
	nest := func(path, raw string) PropertyEdit { return SetNested(path, jsonValue(t, raw)) }
	tests := []struct {
		name, yaml, want string
		edits            []PropertyEdit
	}{
		{"comments, order and quotes stay", "# a\nb: 'x' # c\n\n# d\ne: \"q\"\nf: 1 # g\n# h\n", "# a\nb: 'x' # c\n\n# d\ne: z\nf: 1 # g\n# h\n", []PropertyEdit{set("e", `"z"`)}},
		{"a comment behind the value stays", "a: 1   # c\nb: 2\n", "a: 2   # c\nb: 2\n", []PropertyEdit{set("a", "2")}},
		{"the same value changes nothing", "a: 012\nb: 1.10\nc: [ x,q ]\nd: ~\ne: 'z'\nf: .inf\n", "a: 012\nb: 1.10\nc: [ x,q ]\nd: ~\ne: 'z'\nf: .inf\n",
			[]PropertyEdit{set("a", "12"), set("b", "1.1"), set("c", `["x","q"]`), set("d", "null"), set("e", `"z"`), set("f", `".inf"`)}},
		{"blanks before the value stay", "key:    1\nk2:     2\n", "key:    9\nk2:     2\n", []PropertyEdit{set("key", "9")}},
		{"spelling stays", "TAGS: [a]\n", "TAGS: [a, b]\n", []PropertyEdit{set("tags", `["a","b"]`)}},
		{"a new key comes last, below comments", "a: 1\n# end\n", "a: 1\n# end\nb: x\n", []PropertyEdit{set("b", `"x"`)}},
		{"numbers stay as written", "", "a: 1.10\nb: 1e5\nc: 12345678901234567890123\nd: -0\n", []PropertyEdit{set("a", "1.10"), set("b", "1e5"), set("c", "12345678901234567890123"), set("d", "-0")}},
		{"null has no text", "a: 1 # c\nb: x\n", "a: # c\nb:\nc:\n", []PropertyEdit{set("a", "null"), set("b", "null"), set("c", "null")}},
		{"and gets one", "a:\nb:  # c\nc: \n", "a: 1\nb: 2  # c\nc: 3\n", []PropertyEdit{set("a", "1"), set("b", "2"), set("c", "3")}},
		{"a text becomes a list", "a: x # c\nb: 1\n", "a: # c\n  - 1\n  - q\nb: 1\n", []PropertyEdit{set("a", `[1,"q"]`)}},
		{"a list becomes a text", "a: # c\n# d\n- x # e\n- q\nb: 1\n", "a: z # c\n# d\nb: 1\n", []PropertyEdit{set("a", `"z"`)}},
		{"a block scalar becomes a text", "a: |- # c\n  x\n\n  q\nb: 1\n", "a: z # c\nb: 1\n", []PropertyEdit{set("a", `"z"`)}},
		{"a text of two lines becomes one", "a: \"x\n  q\" # c\nb: 1\n", "a: z # c\nb: 1\n", []PropertyEdit{set("a", `"z"`)}},
		{"a value on the next line", "a: # c\n  x # d\nb: 1\n", "a: # c\n  q # d\nb: 1\n", []PropertyEdit{set("a", `"q"`)}},
		{"a text becomes several lines", "a: x # c\nb: 1\n", "a: |- # c\n  x\n  q\nb: 1\n", []PropertyEdit{set("a", `"x\nq"`)}},
		{"with its final line end", "a: x\n", "a: |\n  x\n\n  # q: z\n", []PropertyEdit{set("a", `"x\n\n# q: z\n"`)}},
		{"a text that a block would change", "a: x\n", "a: \"  x\\nq\"\nb: \"x\\n \\nq\\r\"\nc: \"x\\n\\n\"\n", []PropertyEdit{set("a", `"  x\nq"`), set("b", `"x\n \nq\r"`), set("c", `"x\n\n"`)}},
		{"list items: added", "a:\n    -   x # c\n    -   'q' # d\n    # e\nb: 1\n", "a:\n    -   x # c\n    -   'q' # d\n    -   z\n    # e\nb: 1\n", []PropertyEdit{set("a", `["x","q","z"]`)}},
		{"list items: taken out", "a:\n- 2024 # c\n- b # d\n- c # e\n", "a:\n- 2024 # c\n- c # e\n", []PropertyEdit{set("a", `[2024,"c"]`)}},
		{"list items: changed", "a:\n- 007 # c\n- \"b\" # d\n", "a:\n- 007 # c\n- z # d\n", []PropertyEdit{set("a", `[7,"z"]`)}},
		{"list items: reordered as written", "a: [007, \"b\", c]\n", "a: [c, 007, \"b\"]\n", []PropertyEdit{set("a", `["c",7,"b"]`)}},
		{"list items: reordered in a block", "a:\n- 007\n- x\n- q\n", "a:\n- q\n- 007\n- z\n- w\n", []PropertyEdit{set("a", `["q",7,"z","w"]`)}},
		{"a flow list stays one", "a: [x,q] # c\nb: [ x ]\nc: []\nd: [x]\n", "a: [x,q,z] # c\nb: [ x, z ]\nc: [z]\nd: []\n", []PropertyEdit{set("a", `["x","q","z"]`), set("b", `["x","z"]`), set("c", `["z"]`), set("d", "[]")}},
		{"a flow list of several lines", "a: [\n  x, # c\n  q # d\n]\nb: [\n  x\n]\nc: [x,\n  q,\n]\n", "a: [\n  x, # c\n  q, z # d\n]\nb: [\n  x,\n  z\n]\nc: [x,\n  q,\n  z,\n]\n",
			[]PropertyEdit{set("a", `["x","q","z"]`), set("b", `["x","z"]`), set("c", `["x","q","z"]`)}},
		{"a flow list loses items", "a: [x, q, z]\nb: [x, q, z]\nc: [x, q,]\nd: [\n  x, # c\n  q # d\n]\n", "a: [q, z]\nb: [x]\nc: [x,]\nd: [\n  x, # c\n   # d\n]\n",
			[]PropertyEdit{set("a", `["q","z"]`), set("b", `["x"]`), set("c", `["x"]`), set("d", `["x"]`)}},
		{"lists follow the indentation of others", "a:\n- x\n", "a:\n- x\nb:\n- q\n", []PropertyEdit{set("b", `["q"]`)}},
		{"mappings are edited key by key", "a:\n  b: 1 # c\n  d: x # e\n", "a:\n  b: 1 # c\n  d: q # e\n  f:\n    g: 1\n", []PropertyEdit{set("a", `{"b":1,"d":"q","f":{"g":1}}`)}},
		{"mappings lose keys", "a:\n  b: 1 # c\n  d: x # e\nf: {x: 1, q: 2, z: 3}\n", "a:\n  d: x # e\nf: {x: 1, z: 3}\n", []PropertyEdit{set("a", `{"d":"x"}`), set("f", `{"x":1,"z":3}`)}},
		{"a mapping as a new value", "a: 1\n", "a:\n  b: x\n  c:\n    - d: 1\n      e: 2\n    - [1]\n", []PropertyEdit{set("a", `{"b":"x","c":[{"d":1,"e":2},[1]]}`)}},
		{"nested keys", "a:\n  b:\n    c: 1 # x\nd: {e: 1}\n", "a:\n  b:\n    c: 2 # x\n    n: 3\nd: {e: 1, f: {g: 4}}\nh:\n  i: 5\n",
			[]PropertyEdit{nest("a.b.c", "2"), nest("A.b.n", "3"), nest("d.f.g", "4"), nest("h.i", "5")}},
		{"keys with dots", "a.b: 1\nc:\n  d.e: 1\n", "a.b: 2\nc:\n  d.e: 2\n", []PropertyEdit{nest("a.b", "2"), nest("c.d.e", "2")}},
		{"nested keys go", "a:\n  b: 1\n  c: 2\nd:\n  e: 1\nf: {g: 1}\n", "a:\n  b: 1\nd: {}\nf: {}\n", []PropertyEdit{RemoveNested("a.c"), RemoveNested("d.e"), RemoveNested("f.g"), RemoveNested("a.x"), RemoveNested("a.b.x"), RemoveNested("x.q")}},
		{"nested keys below nothing", "a: # c\nb: {}\n", "a: # c\n  x:\n    q: 1\nb: {x: 1}\n", []PropertyEdit{nest("a.x.q", "1"), nest("b.x", "1")}},
		{"removing takes the value's lines", "a: 1\n# on b\nb:\n  - x\n  # in b\n  - q\n# on c\nc: |\n  x\nd: 1 # e\n", "a: 1\n# on b\n# on c\nd: 1 # e\n", []PropertyEdit{RemoveProperty("b"), RemoveProperty("C"), RemoveProperty("nope")}},
		{"renaming keeps the place", "a: 1 # c\n'b b': 2\n", "x: 1 # c\n\"q: z\": 2\n", []PropertyEdit{RenameProperty("A", "x"), RenameProperty("b b", "q: z"), RenameProperty("nope", "n")}},
		{"renaming to another case", "tag: 1\n", "Tag: 1\n", []PropertyEdit{RenameProperty("tag", "Tag")}},
		{"replacing keeps what is equal", "a: 012 # c\nb: 2\nC: x\n", "a: 012 # c\nC: q\nd: 1\n", []PropertyEdit{ReplaceProperties(jsonValue(t, `{"d":1,"c":"q","a":12}`).(*Map))}},
		{"merging leaves the others", "a: 012 # c\nb: {x: 1}\nC: x\n", "a: 012 # c\nb: {z: 2}\nC: x\nd: 1\n", []PropertyEdit{SetProperties(jsonValue(t, `{"d":1,"B":{"z":2}}`).(*Map))}},
		{"JSON stays JSON", "{\"a\":1,\"b\":[\"x\"]}\n", "{\"a\":\"q\",\"b\":[\"x\", \"z\"],\"c\": null}\n", []PropertyEdit{set("a", `"q"`), set("b", `["x","z"]`), set("c", "null")}},
		{"JSON loses keys", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n", "{\n  \"a\": 1,\n  \"new\": 2\n}\n", []PropertyEdit{RemoveProperty("c"), RenameProperty("b", "new")}},
		{"JSON gets a line", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": \"x\"\n}\n", []PropertyEdit{set("c", `"x"`)}},
		{"a flow mapping", "{a: 1, b}\n", "{a: 1, b: x, c: \"d,e\"}\n", []PropertyEdit{set("b", `"x"`), set("c", `"d,e"`)}},
		{"an empty mapping", "{}\n", "{a: 1}\n", []PropertyEdit{set("a", "1")}},
		{"null instead of properties", "~ # c\n", "a: 1 # c\n", []PropertyEdit{set("a", "1")}},
		{"comments only", "# c\n", "# c\na: 1\n", []PropertyEdit{set("a", "1")}},
		{"comments stay without properties", "# c\na: 1\n", "# c\n", []PropertyEdit{RemoveProperty("a")}},
		{"indented properties", "  a: 1\n  b: 2\n", "  a: 1\n  b: 3\n  c: 4\n", []PropertyEdit{set("b", "3"), set("c", "4")}},
		{"explicit keys", "? a\n: 1\n? b\n: 2\n", "? a\n: 5\n", []PropertyEdit{set("a", "5"), RemoveProperty("b")}},
		{"items that are no texts stay", "tags: [2024, a, null, {b: c}]\n", "tags: [2024, a, null, {b: c}, d]\n", []PropertyEdit{AddItems("tags", "d")}},
		{"a tag is there in another case", "tags:\n- Z\n- '#q'\n", "tags:\n- Z\n- '#q'\n", []PropertyEdit{AddItems("tags", "z", "Q")}},
		{"but aliases have case", "aliases: [a]\n", "aliases: [a, A]\n", []PropertyEdit{AddItems("Aliases", "A", "a", "A")}},
		{"one text becomes the first item", "tags: solo # c\nn: 007\n", "tags: # c\n  - solo\n  - added\nn:\n  - 007\n  - 8\n", []PropertyEdit{AddItems("tags", "added"), AddItems("n", json.Number("8"))}},
		{"an empty value becomes a list", "tags:\naliases: ''\n", "tags:\n  - a\naliases:\n  - b\nnew:\n  - c\n", []PropertyEdit{AddItems("tags", "a"), AddItems("aliases", "b"), AddItems("new", "c")}},
		{"items go", "tags: [a, B, 'b', c]\naliases:\n  - x # c\n  - q\nt: x\n", "tags: [a, c]\naliases: []\nt: []\n", []PropertyEdit{RemoveItems("tags", "b"), RemoveItems("aliases", "x", "q"), RemoveItems("t", "x", "q")}},
		{"empty items", "a:\n-\n- x\n-\n", "a:\n-\n-\n- q\n", []PropertyEdit{set("a", `[null,null,"q"]`)}},
		{"items that are mappings", "a:\n  - b: 1 # c\n    d: 2\n  - e: 3\n", "a:\n  - b: 1 # c\n    d: 2\n  - f: x\n    g:\n      - h\n", []PropertyEdit{set("a", `[{"b":1,"d":2},{"f":"x","g":["h"]}]`)}},
		{"items of several lines", "a:\n  - |-\n    x\n    q\n  - z\n", "a:\n  - z\n  - |-\n    u\n    v\n", []PropertyEdit{set("a", `["z","u\nv"]`)}},
		{"an unused anchor goes", "a: &x 1\nb: 2\n", "a: 3\nb: 2\n", []PropertyEdit{set("a", "3")}},
		{"a value that is an alias", "a: &x [1]\nb: *x\nc: *x\n", "a: &x [1]\nb:\n  - 1\n  - 2\nc: q\n", []PropertyEdit{AddItems("b", 2), set("c", `"q"`)}},
		{"tags of YAML", "a: !!str 5\nb: !!seq\n- x\n", "a: \"6\"\nb: !!seq\n- x\n- q\n", []PropertyEdit{set("a", `"6"`), AddItems("b", "q")}},
		{"a tag without a value", "a: !x # c\nb: &q\nc: 1\n", "a: z # c\nc: 1\n", []PropertyEdit{set("a", `"z"`), RemoveProperty("b")}},
		{"a quoted date stays quoted", "a: \"2031-01-01\"\nb: 2031-01-01\n", "a: \"2031-02-03\"\nb: 2031-02-03\n", []PropertyEdit{set("a", `"2031-02-03"`), set("b", `"2031-02-03"`)}},
	}
	for _, tt := range tests {
		for _, eol := range []string{"\n", "\r\n", "\r"} {
			t.Run(tt.name, func(t *testing.T) {
				block := func(yaml string) string {
					body := "mixed\r\nbody\nwithout end"
					if eol == "\r" {
						body = "a CR alone counts where there is nothing else"
					}
					return "\ufeff" + strings.ReplaceAll("---\n"+yaml+"---\n", "\n", eol) + body
				}
				got, err := EditProperties([]byte(block(tt.yaml)), tt.edits...)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(block(tt.want), string(got)); diff != "" {
					t.Fatal(diff)
				}
				if again, err := EditProperties(got, tt.edits...); err != nil || string(again) != string(got) {
					t.Errorf("twice: %v\n%s", err, cmp.Diff(string(got), string(again)))
				}
			})
		}
	}
}

func TestFirstAndLastProperty(t *testing.T) {
	tests := []struct{ text, with string }{
		{"", "---\na: 1\n---\n"},
		{"x", "---\na: 1\n---\nx"},
		{"x\r\ny\n", "---\r\na: 1\r\n---\r\nx\r\ny\n"},
		{"\ufeffx\n", "\ufeff---\na: 1\n---\nx\n"},
		{"---\nopen\n", "---\na: 1\n---\n---\nopen\n"},
		{"\n---\nb: 1\n---\n", "---\na: 1\n---\n\n---\nb: 1\n---\n"},
	}
	for _, tt := range tests {
		got, err := EditProperties([]byte(tt.text), SetProperty("a", 1))
		if err != nil || string(got) != tt.with {
			t.Errorf("%q: got %q, %v", tt.text, got, err)
		}
		back, err := EditProperties(got, RemoveProperty("a"))
		if err != nil || string(back) != tt.text {
			t.Errorf("%q: and back %q, %v", tt.text, back, err)
		}
	}
	// Without the block the rest would be taken for properties.
	const text, want = "---\na: 1\n---\n---\nb: 1\n---\n", "---\n---\n---\nb: 1\n---\n"
	if got, err := EditProperties([]byte(text), RemoveProperty("a")); err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestTextsAreQuotedWhenTheyWouldBeMisread(t *testing.T) {
	for s, want := range map[string]string{
		"plain": "plain", "two words": "two words", "it's": "it's", "a#b": "a#b", "a:b": "a:b", "-x": "-x", "über 🌱": "über 🌱", "C++": "C++", "a, b": "a, b", "http://x.y/z": "http://x.y/z",
		"yes": `"yes"`, "No": `"No"`, "on": `"on"`, "OFF": `"OFF"`, "y": "y", "true": `"true"`, "null": `"null"`, "~": `"~"`, "": `""`,
		"012": `"012"`, "01234": `"01234"`, "1.10": `"1.10"`, "1_000": `"1_000"`, "0x1f": `"0x1f"`, "0o7": `"0o7"`, "0b1": `"0b1"`, "1e3": `"1e3"`, ".5": `".5"`, ".inf": `".inf"`,
		"12:30": `"12:30"`, "1:2:3": `"1:2:3"`, "<<": `"<<"`, "=": `"="`, "978-3-16": "978-3-16",
		"2031-02-03": "2031-02-03", "2031-02-03T10:30": "2031-02-03T10:30", "2031-2-3": `"2031-2-3"`,
		"[[link]]": `"[[link]]"`, "#x": `"#x"`, "a #b": `"a #b"`, "a: b": `"a: b"`, "a:": `"a:"`, "- a": `"- a"`, "-": `"-"`, "? a": `"? a"`, "@a": `"@a"`, "`a": "\"`a\"", "%a": `"%a"`, "&a": `"&a"`, "*a*": `"*a*"`, "!a": `"!a"`,
		"|": `"|"`, ">": `">"`, "{{x}}": `"{{x}}"`, "'a'": `"'a'"`, `"a"`: `'"a"'`, `\a`: `\a`, `C: \x`: `'C: \x'`, " a": `" a"`, "a ": `"a "`, "a\tb": `"a\tb"`, "a\nb\n\n": `"a\nb\n\n"`, "\u2028": `"\u2028"`, "a\x00": `"a\u0000"`, "\ufeff": `"\ufeff"`,
	} {
		got, err := EditProperties([]byte("---\nk: 0\n---\n"), SetProperty("k", s))
		if err != nil || string(got) != "---\nk: "+want+"\n---\n" {
			t.Errorf("%q: got %q, %v", s, got, err)
		}
	}
	for s, want := range map[string]string{"a, b": `"a, b"`, "r?": `"r?"`, "[x]": `"[x]"`, "a:b": "a:b", "-1x": "-1x", ":x": `":x"`, "x y": "x y"} {
		got, err := EditProperties([]byte("---\nk: [0]\n---\n"), AddItems("k", s))
		if err != nil || string(got) != "---\nk: [0, "+want+"]\n---\n" {
			t.Errorf("%q in brackets: got %q, %v", s, got, err)
		}
	}
	for key, want := range map[string]string{
		"two words": "two words", "2031": `"2031"`, "2031-02-03": `"2031-02-03"`, "": `""`, "---": `"---"`, "a: b": `"a: b"`, "yes": `"yes"`, "#a": `"#a"`, "a\nb": `"a\nb"`,
	} {
		got, err := EditProperties([]byte("x"), SetProperty(key, true))
		if err != nil || string(got) != "---\n"+want+": true\n---\nx" {
			t.Errorf("key %q: got %q, %v", key, got, err)
		}
	}
}

func TestEditsAreRefused(t *testing.T) {
	deep := any("x")
	for range MaxPropertyDepth + 1 {
		deep = []any{deep}
	}
	tests := []struct {
		name, yaml string
		edit       PropertyEdit
		fault      PropertyFault
		line       int
	}{
		{"open quote", "x: 1\na: \"x\nkeep: yes\n", SetProperty("b", 1), FaultInvalid, 3},
		{"a list", "- a\n", SetProperty("b", 1), FaultInvalid, 2},
		{"prose", "just text\n", RemoveProperty("b"), FaultInvalid, 2},
		{"repeated key", "a: 1\na: 2\n", RemoveProperty("a"), FaultInvalid, 3},
		{"nested in a text", "x: 1\na: b\n", SetNested("a.c", 1), FaultShape, 3},
		{"nested in a list", "a: [b]\n", SetNested("a.0", 1), FaultShape, 2},
		{"item of a mapping", "a: {b: 1}\n", AddItems("a", "x"), FaultShape, 2},
		{"name of another", "a: 1\nB: 2\n", RenameProperty("a", "b"), FaultTaken, 3},
		{"two spellings", "a: 1\n", ReplaceProperties((&Map{}).with("b", 1).with("B", 2)), FaultTaken, 0},
		{"anchor that is used", "a: &x 1\nb: *x\n", SetProperty("a", 2), FaultAlias, 2},
		{"anchor that is used, removed", "a: &x 1\nb: *x\n", RemoveProperty("a"), FaultAlias, 2},
		{"list that is repeated", "a: &x [1]\nb: *x\n", AddItems("a", 2), FaultAlias, 2},
		{"inside of what is repeated", "a: &x {b: 1}\nb: *x\n", SetNested("a.b", 2), FaultAlias, 2},
		{"through an alias", "a: &x {b: 1}\nb: *x\n", SetNested("b.b", 2), FaultAlias, 3},
		{"not UTF-8", "a: 1\n", SetProperty("a", "\xff"), FaultValue, 0},
		{"a key that is not UTF-8", "a: 1\n", SetProperty("\xff", 1), FaultValue, 0},
		{"a long key", "a: 1\n", SetProperty(strings.Repeat("k", 2000), 1), FaultValue, 0},
		{"no number", "a: 1\n", SetProperty("a", json.Number("0x1")), FaultValue, 0},
		{"no value", "a: 1\n", SetProperty("a", struct{}{}), FaultValue, 0},
		{"too deep", "a: 1\n", SetProperty("a", deep), FaultValue, 0},
		{"a deep path", "a: 1\n", SetNested(strings.Repeat("x.", 100_000), 1), FaultValue, 0},
		{"too large", "a: 1\n", SetProperty("a", strings.Repeat("x", MaxPropertyBytes)), FaultValue, 2},
		{"comments that a block would take in", "a: |\n  x\nb: 1\n  # c\nc: 2\n", RemoveProperty("b"), FaultForm, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "---\n" + tt.yaml + "---\nbody\n"
			got, err := EditProperties([]byte(text), SetProperty("ok", 1), tt.edit)
			if tt.fault == FaultInvalid {
				got, err = EditProperties([]byte(text), tt.edit)
			}
			e, ok := errors.AsType[*PropertyError](err)
			if !ok || got != nil {
				t.Fatalf("got %q, %v", got, err)
			}
			if e.Fault != tt.fault || e.Line != tt.line || e.Reason == "" {
				t.Errorf("fault %d in line %d, want %d in %d: %v", e.Fault, e.Line, tt.fault, tt.line, e)
			}
		})
	}
}

func TestHostileEditsEnd(t *testing.T) {
	many, items := &Map{}, make([]any, 10_000)
	for i := range items {
		items[i] = fmt.Sprint(i)
		if i%5 == 0 {
			many.add(items[i].(string), "x")
		}
	}
	text := []byte("---\na: [" + strings.Repeat("x, ", 20_000) + "]\nb: 1\n---\n")
	for what, e := range map[string]PropertyEdit{"properties": ReplaceProperties(many), "items": AddItems("a", items...), "no items": RemoveItems("a", items...)} {
		_, err := EditProperties(text, e)
		if e, ok := errors.AsType[*PropertyError](err); !ok || e.Fault != FaultValue {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, e := range map[string]PropertyEdit{"a list": SetProperty("a", items), "no item stays": SetProperty("a", items[:5_000]), "one item": AddItems("a", "y"), "all items": RemoveItems("a", "x")} {
		if _, err := EditProperties(text, e); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestDecodeValueKeepsOrderAndDigits(t *testing.T) {
	text, err := EditProperties(nil, SetProperty("a", jsonValue(t, ` {"z": 1.50, "b": [{"y": null, "x": "é\u2028"}], "a": {}} `)))
	const want = "---\na:\n  z: 1.50\n  b:\n    - y:\n      x: \"é\\u2028\"\n  a: {}\n---\n"
	if err != nil || string(text) != want {
		t.Errorf("got %q, %v", text, err)
	}
	for _, raw := range []string{"", "{", "[1", "1 2", `{"a":1,"a":2}`, "nope", `{"a"}`, strings.Repeat("[", 200)} {
		if v, err := DecodeValue([]byte(raw)); err == nil {
			t.Errorf("%q: %v", raw, v)
		}
	}
}

// TestSetFieldCases runs the cases of edits of properties that the field holds.
func TestSetFieldCases(t *testing.T) {
	ran := 0
	for _, name := range []string{"frontmatter", "files"} {
		raw, err := os.ReadFile("../../testdata/field/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct {
			ID    string
			Files map[string]json.RawMessage
			Op    struct {
				What string
				Args json.RawMessage
			}
			Expect struct {
				Content      *string
				ContentOneOf []string `json:"content_one_of"`
				Reparse      map[string]any
				Suffix       string
				Error        bool
			}
		}
		if err := json.Unmarshal(raw, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if c.Op.What != "set_frontmatter" {
				continue
			}
			ran++
			t.Run(c.ID, func(t *testing.T) {
				var args struct {
					Path    string
					Set     json.RawMessage
					Remove  []string
					AddTags []any `json:"add_tags"`
				}
				if err := json.Unmarshal(c.Op.Args, &args); err != nil {
					t.Fatal(err)
				}
				var text string
				if err := json.Unmarshal(c.Files[args.Path], &text); err != nil {
					t.Fatal(err)
				}
				var edits []PropertyEdit
				if args.Set != nil {
					m := jsonValue(t, string(args.Set)).(*Map)
					for _, k := range m.Keys() {
						v, _ := m.Get(k)
						edits = append(edits, SetProperty(k, v))
					}
				}
				for _, k := range args.Remove {
					edits = append(edits, RemoveProperty(k))
				}
				if args.AddTags != nil {
					edits = append(edits, AddItems("tags", args.AddTags...))
				}
				got, err := EditProperties([]byte(text), edits...)
				if (err != nil) != c.Expect.Error {
					t.Fatalf("error %v", err)
				}
				want := c.Expect.ContentOneOf
				if c.Expect.Content != nil {
					want = append(want, *c.Expect.Content)
				}
				found := want == nil
				for _, w := range want {
					found = found || w == string(got)
				}
				if !found || !strings.HasSuffix(string(got), c.Expect.Suffix) {
					t.Errorf("got %q, want one of %q", got, want)
				}
				if c.Expect.Reparse != nil {
					if diff := cmp.Diff(c.Expect.Reparse, plainData(t, ParseProperties(got))); diff != "" {
						t.Error(diff)
					}
				}
			})
		}
	}
	if ran < 10 {
		t.Errorf("only %d cases", ran)
	}
}
