package note

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"go.yaml.in/yaml/v3"
)

var fuzzTexts = []string{
	"", "\ufeff", "---\na: 1\n---\n# A\ntext ^id\n", "> - a\n>   ```\n> x\n\n# B", "%%\n# x\n%% y\n===\n", "$$\nx\n$$\n- a ^b\n\n^c",
	"| a |\r\n| - |\r\n| b |\r\n\r\n^t", "[^1]: a\n\n    b\n---\nA\nB\n===", "a\rb\r===\r\r- - - x\r", "<div>\n# x\n\n# y\n", "1. a\n   1. b\n\t- c\n\n\n# d",
	"[a]: /u\n  'x'\ny\n---\n", "> [!note] t\n> a\n>\n# h #\n", "%%%%\n# a\n%%\n", "    code\n\n    more\n# \n####### x",
}

// FuzzScan: any bytes give a structure whose spans lie in the text and in each other.
func FuzzScan(f *testing.F) {
	for _, s := range fuzzTexts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkNote(t, text) })
}

func checkNote(t *testing.T, text []byte) {
	t.Helper()
	n := Scan(text)
	inside := func(what string, s Span) {
		if s.Start < 0 || s.Start > s.End || s.End > len(text) {
			t.Fatalf("%s %v outside of %q", what, s, text)
		}
	}
	end := n.Body
	for i, h := range n.Headings {
		inside("heading", h.Span)
		inside("section", h.Section)
		if h.Span.Start < end || h.Section.Start != h.Span.Start || h.Section.End < h.Span.End {
			t.Fatalf("heading %d %+v in %q", i, h, text)
		}
		end = h.Span.End
		if p := n.Pos(h.Span.Start); p.Line != h.Line || p.Column != 1 {
			t.Fatalf("heading %+v stands at %v in %q", h, p, text)
		}
		if h.Parent >= i || h.Parent >= 0 && n.Headings[h.Parent].Level >= h.Level {
			t.Fatalf("heading %d has parent %d in %q", i, h.Parent, text)
		}
		if last := n.LineSpan(h.Line + h.SectionLines - 1); last.End != h.Section.End {
			t.Fatalf("section %+v ends with line %v in %q", h, last, text)
		}
	}
	for _, b := range n.Blocks {
		inside("block", b.Span)
		if b.Line > b.EndLine || b.Span.Start != max(n.LineSpan(b.Line).Start, bomSkip(text, n.LineSpan(b.Line).Start)) && b.Line > 1 ||
			b.Span.End != n.LineSpan(b.EndLine).End || string(b.Mark.Of(text)) != "^"+b.ID {
			t.Fatalf("block %+v in %q", b, text)
		}
	}
	end = 0
	for i := range n.Lines() {
		s := n.LineSpan(i + 1)
		if s.Start != end {
			t.Fatalf("line %d starts at %d, not %d", i+1, s.Start, end)
		}
		end = s.End
		if l := n.lines[i]; l.text < l.start || int(l.text) > s.End {
			t.Fatalf("line %d has its text at %d: %q", i+1, l.text, text)
		}
	}
	if end != len(text) {
		t.Fatalf("the lines end at %d of %d", end, len(text))
	}
	for i, b := range n.nodes[1:] {
		p := n.nodes[b.parent]
		if b.start > b.end || b.first > b.last || int(b.parent) > i || b.start < p.start && b.parent > 0 || b.end > p.end || b.last > p.last {
			t.Fatalf("node %d %+v in %+v: %q", i+1, b, p, text)
		}
	}
}

// FuzzHeadings: on texts of plain CommonMark, the headings at top level are those of goldmark.
func FuzzHeadings(f *testing.F) {
	f.Add([]byte{8, 31, 0, 33, 0})
	f.Add([]byte("abcdefghijklmnopqrstuvwxyz"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 40 {
			return
		}
		if diff := oracleDiff(oracleText(data)); diff != "" {
			t.Error(diff)
		}
	})
}

var fuzzYAML = []string{
	"a: 1\nb: [x, 'y', {z: \"w\"}] # c\n", "{\"a\": \"\\u00e9\\/\", \"b\": [1, 2.5e3]}\n", "a: |\n  x\n\n  y\nb: >-\n  z\n", "a: &x [1]\nb: *x\n",
	"? k\n: v\n!!str 1: !t 'q'\n", "a:\n- b\n-\n- c: d\n  e: f\n", "a: b\n  c\nd: 'e\n  f'\n", "é: \"日本\"\n🌱: x\u2028y\n", "t: {{date}}\n", "a: \"\\ud83d\\ude00\"\n",
	"2031: 0x1F\n~: .inf\n", "a: {\n  b: c\n}\n", "a: 'x\ny'\n", "a: [[x]]\nb:\tc\n", "a: [b: 'c]', ? d, \"e]\": , f]\n",
}

// FuzzProperties: any block gives a state; places lie in the block, and what stands there means the value again.
func FuzzProperties(f *testing.F) {
	for _, s := range fuzzYAML {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text := append(append([]byte("---\n"), data...), "\n---\nbody"...)
		p := ParseProperties(text)
		if state, problem := CheckProperties(text); state != p.State || (problem == nil) != (p.Problem == nil) || problem != nil && *problem != *p.Problem {
			t.Fatalf("%q is %v (%v), or when it is only checked %v (%v)", text, p.State, p.Problem, state, problem)
		}
		if p.State == StateInvalid {
			if p.Problem == nil || p.Problem.Line < 1 || p.Problem.Line > countLines(text)+1 || p.Problem.Reason == "" {
				t.Fatalf("problem %+v of %q", p.Problem, text)
			}
			return
		}
		if _, err := json.Marshal(p); err != nil {
			t.Fatal(err)
		}
		end := p.YAML.Start
		for _, prop := range p.List {
			k, v := prop.KeySpan, prop.ValueSpan
			if k.Start < end || k.End < k.Start || v.Start < k.End || v.End < v.Start || v.End > p.YAML.End {
				t.Fatalf("key %v, value %v behind %d in %q", k, v, end, text)
			}
			end = v.End
			if line := 1 + countLines(text[:k.Start]); line != prop.Line && text[k.Start] != '?' {
				t.Fatalf("key %q in line %d, not %d: %q", prop.Key, prop.Line, line, text)
			}
			checkValue(t, text, prop)
		}
	})
}

// checkValue reads the source of a value on its own, as JSON-like flow or in the place it stands in. Values with aliases,
// anchors and block structure do not stand alone and are left out.
func checkValue(t *testing.T, text []byte, prop Property) {
	t.Helper()
	source := prop.ValueSpan.Of(text)
	var n yaml.Node
	if err := yaml.Unmarshal(append([]byte("v: "), source...), &n); err != nil || n.Content == nil {
		return
	}
	again := ParseProperties([]byte("---\nv: " + string(source) + "\n---\n"))
	if again.State != StateOK || len(again.List) != 1 {
		return
	}
	if got := again.List[0].Value; !sameValue(got, prop.Value) && !isNaN(got) {
		if n.Content[0].Content[1].Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return // what lines of blanks at its end add depends on what follows
		}
		t.Fatalf("%q means %#v, alone %#v: %q", source, prop.Value, got, text)
	}
	for i, item := range prop.Items {
		if item.Start < prop.ValueSpan.Start || item.End > prop.ValueSpan.End || i > 0 && item.Start < prop.Items[i-1].End {
			t.Fatalf("item %v of %v in %q", item, prop.ValueSpan, text)
		}
	}
}

func isNaN(v any) bool {
	f, ok := v.(float64)
	return ok && math.IsNaN(f)
}

func sameValue(a, b any) bool {
	x, err1 := appendJSON(nil, a)
	y, err2 := appendJSON(nil, b)
	return err1 == nil && err2 == nil && reflect.DeepEqual(x, y)
}
