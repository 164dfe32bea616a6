package note

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestYAML11DoesNotChangeValues(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"yes and no are words", "a: [yes, no, on, off, y, n, Yes]", `{"a":["yes","no","on","off","y","n","Yes"]}`},
		{"dates are strings", "a: 2031-02-03\nb: 2031-02-03T10:30:00Z", `{"a":"2031-02-03","b":"2031-02-03T10:30:00Z"}`},
		{"no base 60", "a: 12:30\nb: 1:2:3", `{"a":"12:30","b":"1:2:3"}`},
		{"no octal by a zero", "a: 012\nb: 0o12\nc: 0b1\nd: 0x1f\ne: -0x1", `{"a":12,"b":10,"c":"0b1","d":31,"e":"-0x1"}`},
		{"numbers", "a: .5\nb: 5.\nc: +1e2\nd: 1_0\ne: 1e\nf: '.'\ng: -.\nh: .inf\ni: -0\nj: 1.0", `{"a":0.5,"b":5,"c":100,"d":"1_0","e":"1e","f":".","g":"-.","h":".inf","i":0,"j":1}`},
		{"long numbers keep their digits", "a: 12345678901234567890123", `{"a":12345678901234567890123}`},
		{"no merge keys", "a: &x {k: 1}\nb:\n  <<: *x\n  l: 2", `{"a":{"k":1},"b":{"<<":{"k":1},"l":2}}`},
		{"null in four spellings", "a: ~\nb: Null\nc:\nd: nULL", `{"a":null,"b":null,"c":null,"d":"nULL"}`},
		{"keys as in JavaScript", "007: a\n1.50: b\nTrue: c\n~: d\n0x10: e", `{"7":"a","1.5":"b","true":"c","":"d","16":"e"}`},
		{"tags", "a: !!str 5\nb: !!int \"5\"\nc: !mine x\nd: !!binary aGk=\ne: !!float 5", `{"a":"5","b":5,"c":"x","d":"aGk=","e":5}`},
		{"U+2028, NEL and a BOM are characters", "a: x\u2028b: y\u0085z\ufeff!", ""},
		{"and text in quotes", "a: \"x\u2028y\u0085\"\nb: z\u2029", "{\"a\":\"x\\u2028y\u0085\",\"b\":\"z\\u2029\"}"},
		{"control characters stay", "a: x\x07y\x7f", `{"a":"x\u0007y` + "\x7f" + `"}`},
		{"escapes of JSON", `{"a": "\ud83d\ude00\/\u00e9"}`, `{"a":"😀/é"}`},
		{"a template placeholder", "a: {{title}}\nb: {{date:YYYY}}", `{"a":{"{ title }":null},"b":{"{ date:YYYY }":null}}`},
		{"order is kept", "z: 1\na: 2\nm: {y: 1, b: 2}", `{"z":1,"a":2,"m":{"y":1,"b":2}}`},
		{"angle brackets are not escaped", "a: <b> & c", `{"a":"<b> & c"}`},
		{"a document end inside", "a: 1\n...", `{"a":1}`},
		{"tabs between tokens", "a:\tb\t# c\n{}:\t1", `{"a":"b","{  }":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := ParseProperties([]byte("---\n" + tt.yaml + "\n---\n"))
			if tt.want == "" {
				if p.State != StateInvalid {
					t.Fatalf("state %v, want invalid", p.State)
				}
				return
			}
			got, err := p.MarshalJSON()
			if err != nil || p.State != StateOK {
				t.Fatalf("%v, state %v %+v", err, p.State, p.Problem)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBrokenPropertiesAreRefusedWithTheLine(t *testing.T) {
	tests := []struct {
		name, yaml string
		line       int // in the note
	}{
		{"second colon", "x: 1\ntitle: Part One: Dawn\ny: 2", 3},
		{"second colon in the first line", "title: Part One: Dawn", 2},
		{"tab as indentation", "tags:\n\t- a", 3},
		{"at sign", "x: 1\n\nwho: @me", 4},
		{"backtick", "x: `a`", 2},
		{"open quote in the first line", "a: \"x\nb: 1\nc: 2", 2},
		{"open quote", "b: 1\nc: 2\na: 'x\nd: 3", 4},
		{"text behind a quote", "b: 1\na: 'it's'\nc: 2", 3},
		{"a line without a colon", "a: 1\nb\nc: 2", 3},
		{"open bracket", "b: 1\na: [x\nc: 2", 3},
		{"unknown alias", "a: *b", 2},
		{"repeated key", "a: 1\nb: 2\na: 3", 4},
		{"repeated key further down", "a:\n  b: 1\n  b: 2", 4},
		{"repeated key in another spelling", "1: a\n01: b", 3},
		{"two documents", "a: 1\n...\nb: 2", 4},
		{"a list", "- a\n- b", 2},
		{"prose between two rules", "just text\nand more", 2},
		{"no blank before a comment", "b: 1\na: \"x\"#y", 3},
		{"quoted text that is not indented", "a: \"x\ny\"", 3},
		{"list that is not indented", "k:\n  a: [x,\n  y]", 4},
		{"NUL", "a: 1\nb: \x00", 3},
		{"not UTF-8", "a: 1\nb: \xff", 3},
		{"alias of itself", "a: &a [*a]", 2},
		{"deep nesting", "a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), 2},
		{"very deep nesting", "a: " + strings.Repeat("[", 50000), 2},
		{"too large", strings.Repeat("# x\n", MaxPropertyBytes/4) + "a: 1", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := []byte("---\n" + tt.yaml + "\n---\n# Body\n")
			p := ParseProperties(text)
			if p.State != StateInvalid || p.Problem == nil {
				t.Fatalf("state %v, want invalid", p.State)
			}
			if p.Problem.Line != tt.line {
				t.Errorf("line %d, want %d: %s", p.Problem.Line, tt.line, p.Problem.Reason)
			}
			if got := string(text[p.Body:]); got != "# Body\n" {
				t.Errorf("body %q", got)
			}
		})
	}
}

func TestBillionLaughsIsRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\na0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
	for i := 1; i < 10; i++ {
		x := string(rune('0' + i))
		y := string(rune('0' + i - 1))
		b.WriteString("a" + x + ": &a" + x + " [" + strings.Repeat("*a"+y+", ", 10) + "]\n")
	}
	b.WriteString("---\n")
	if p := ParseProperties([]byte(b.String())); p.State != StateInvalid {
		t.Fatalf("state %v", p.State)
	}
	long := "---\na: &a " + strings.Repeat("x", 10000) + "\nb: [" + strings.Repeat("*a, ", 1000) + "]\n---\n"
	if p := ParseProperties([]byte(long)); p.State != StateInvalid {
		t.Fatalf("ten megabytes out of a few: state %v", p.State)
	}
	if p := ParseProperties([]byte("---\na: &a [x, y]\nb: *a\n---\n")); p.State != StateOK {
		t.Fatalf("one alias: state %v, %+v", p.State, p.Problem)
	}
}

func TestSomethingElseIsNotTakenForProperties(t *testing.T) {
	for text, want := range map[string]State{
		"":                         StateNone,
		"---":                      StateNone,
		"---\n":                    StateNone,
		"----\na: 1\n----\n":       StateNone,
		" ---\na: 1\n---\n":        StateNone,
		"---\na: 1\n":              StateNone,
		"---\na: 1\n----\n":        StateNone,
		"---\na: 1\n ---\n":        StateNone,
		"--- #\na: 1\n---\n":       StateNone,
		"---\u2028a: 1\u2028---":   StateNone,
		"---\n---":                 StateEmpty,
		"--- \t\n# c\n\n--- \n":    StateEmpty,
		"---\n~\n---\n":            StateEmpty,
		"---\n{}\n---\n":           StateOK,
		"---\ra: 1\r---\rb":        StateOK,
		"\ufeff---\r\na: 1\r\n---": StateOK,
		"---\na: |\n  ---\n---\n":  StateOK,
	} {
		p := ParseProperties([]byte(text))
		if p.State != want {
			t.Errorf("%q: state %v, want %v (%+v)", text, p.State, want, p.Problem)
		}
		if (p.Block.Len() > 0) != (want != StateNone) || p.State != StateNone && p.Body != p.Block.End {
			t.Errorf("%q: block %v, body %d", text, p.Block, p.Body)
		}
	}
}

func TestSpansOfPropertiesAreExact(t *testing.T) {
	text := "\ufeff---\r\n# c\r\n'é k' : \"x\\\"y\" # c\r\n日本: 🌱 two\r\n  lines   # c\r\nnone:\r\nl: # c\r\n- a b # c\r\n-\r\n- {k: ']', 'j': [1]} # ]\r\n" +
		"f: [a, \"b,]\" , c d] # c\r\nlit: |- # c\r\n  one\r\n\r\n  two\r\n\r\nm:\r\n  k: v\r\n  n:\r\n    - 'w'\r\nt: !!str &a 5\r\nr: *a\r\n? q\r\n: z\r\n---\r\nbody"
	p := ParseProperties([]byte(text))
	if p.State != StateOK {
		t.Fatalf("%v %+v", p.State, p.Problem)
	}
	type row struct {
		Line       int
		Key, Value string
		Items      []string
	}
	var got []row
	for _, prop := range p.List {
		r := row{Line: prop.Line, Key: text[prop.KeySpan.Start:prop.KeySpan.End], Value: text[prop.ValueSpan.Start:prop.ValueSpan.End]}
		for _, s := range prop.Items {
			r.Items = append(r.Items, text[s.Start:s.End])
		}
		got = append(got, r)
	}
	want := []row{
		{3, "'é k'", `"x\"y"`, nil},
		{4, "日本", "🌱 two\r\n  lines", nil},
		{6, "none", "", nil},
		{7, "l", "- a b # c\r\n-\r\n- {k: ']', 'j': [1]}", []string{"a b", "", "{k: ']', 'j': [1]}"}},
		{11, "f", `[a, "b,]" , c d]`, []string{"a", `"b,]"`, "c d"}},
		{12, "lit", "|- # c\r\n  one\r\n\r\n  two", nil},
		{17, "m", "k: v\r\n  n:\r\n    - 'w'", nil},
		{21, "t", "!!str &a 5", nil},
		{22, "r", "*a", nil},
		{23, "q", "z", nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestJSONPropertiesHaveSpans(t *testing.T) {
	text := "---\n{\n\t\"a/b\": \"\\ud83d\\ude00\",\n\t\"c\":[1,\"\\/\"], \"d\":{}, e\n}\n---\n"
	p := ParseProperties([]byte(text))
	if p.State != StateOK || !p.Flow {
		t.Fatalf("%v %+v", p.State, p.Problem)
	}
	var got []string
	for _, prop := range p.List {
		got = append(got, text[prop.KeySpan.Start:prop.KeySpan.End]+" = "+text[prop.ValueSpan.Start:prop.ValueSpan.End])
	}
	want := []string{`"a/b" = "\ud83d\ude00"`, `"c" = [1,"\/"]`, `"d" = {}`, "e = "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPropertiesAreFoundByName(t *testing.T) {
	p := ParseProperties([]byte("---\nTAGS: [a]\ntags: b\na:\n  b.c: 1\n  d: [x, {e: 2}]\na.d: 3\nn: 12345678901234567890\n---\n"))
	if prop, ok := p.Find("Tags"); !ok || prop.Key != "TAGS" {
		t.Errorf("Tags: %+v", prop)
	}
	if prop, ok := p.Find("tags"); !ok || prop.Value != "b" {
		t.Errorf("tags: %+v", prop)
	}
	if _, ok := p.Get("Tags"); ok {
		t.Error("Get took another spelling")
	}
	for path, want := range map[string]any{
		"a.b.c": int64(1), "a.d": int64(3), "a.d.1.e": int64(2), "a.d.0": "x", "n": json.Number("12345678901234567890"),
	} {
		if got, ok := p.Lookup(path); !ok || got != want {
			t.Errorf("%s: %v %v, want %v", path, got, ok, want)
		}
	}
	for _, path := range []string{"", "a.x", "a.d.2", "a.d.-1", "a.d.1.e.f", "a.", ".a"} {
		if got, ok := p.Lookup(path); ok {
			t.Errorf("%q: %v", path, got)
		}
	}
}
