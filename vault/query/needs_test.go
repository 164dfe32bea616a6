package query

import (
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNeeds(t *testing.T) {
	all := func(of ...Need) Need { return Need{Kind: NeedAll, Of: of} }
	one := func(k NeedKind, text string) Need { return Need{Kind: k, Text: text} }
	tests := []struct {
		query string
		want  Need
	}{
		{"a -b", one(NeedText, "a")},
		{"a OR -b", Need{}},
		{"-a", Need{}},
		{"/a/", Need{}},
		{"a OR b", Need{Kind: NeedAny, Of: []Need{one(NeedText, "a"), one(NeedText, "b")}}},
		{`line:(a "b c")`, all(one(NeedContent, "a"), one(NeedContent, "b c"))},
		{"file:(x OR /y/) tag:#t", one(NeedTag, "t")},
		{"path:p file:f [k:v] content:c", all(one(NeedPath, "p"), one(NeedFile, "f"), one(NeedProperty, "k"), one(NeedContent, "c"))},
		{`task-todo:"" task:(a b)`, all(one(NeedTaskTodo, ""), all(one(NeedTask, ""), one(NeedContent, "a"), one(NeedContent, "b")))},
		{"task-done:(a OR b)", all(one(NeedTaskDone, ""), Need{Kind: NeedAny, Of: []Need{one(NeedContent, "a"), one(NeedContent, "b")}})},
		{"tag:", one(NeedAnyTag, "")},
		{"\"a\r\nbc\n\"", one(NeedText, "bc")},
		{"match-case:A", one(NeedText, "A")},
		{"[-a] [/b/]", Need{}},
		{"section:(A section:(B tag:#c))", all(one(NeedContent, "A"), all(one(NeedContent, "B"), one(NeedTag, "c")))},
	}
	for _, tt := range tests {
		q, err := Parse(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, q.Needs()); diff != "" {
			t.Errorf("%s: %s", tt.query, diff)
		}
	}
}

// met is an index of one document.
func (n Need) met(d *memory) bool {
	has := func(s string) bool { return prepareLiteral(n.Text, s) }
	file := path.Base(d.path)
	switch n.Kind {
	case NeedAll:
		for _, k := range n.Of {
			if !k.met(d) {
				return false
			}
		}
	case NeedAny:
		for _, k := range n.Of {
			if k.met(d) {
				return true
			}
		}
		return false
	case NeedText:
		return d.Kind() != OtherFile && (has(string(d.text)) || has(strings.TrimSuffix(file, path.Ext(file))))
	case NeedContent:
		return d.Kind() != OtherFile && has(string(d.text))
	case NeedFile:
		return has(file)
	case NeedPath:
		return has(d.path)
	case NeedTag, NeedAnyTag:
		for _, tag := range d.Tags() {
			if n.Kind == NeedAnyTag || hasTagPrefix(tag.Name, n.Text) {
				return true
			}
		}
		return false
	case NeedProperty:
		for _, p := range d.Properties() {
			if strings.EqualFold(p.Name, n.Text) {
				return true
			}
		}
		return false
	case NeedTask, NeedTaskTodo, NeedTaskDone:
		for _, task := range d.Tasks() {
			if n.Kind == NeedTask || task.Done == (n.Kind == NeedTaskDone) {
				return true
			}
		}
		return false
	}
	return true
}

func prepareLiteral(text, in string) bool {
	start, _ := plain.Literal(text, true).Begin([]byte(in)).Next(0)
	return start >= 0
}

// Whatever matches meets the needs of its query, and its hits lie in the text.
func FuzzNeeds(f *testing.F) {
	for _, q := range []string{
		"gravel -x", "line:(path gravel) OR nowhere", "tag:#stone task:oil", "[rows:>5] file:plot path:beds", "section:(garden section:spade)",
		`block:(tag:#rake) task-done:""`, "match-case:/Soup|soup/", "task-todo:(sharpen OR x)", `"path of" -(a b)`, "tag:(a OR -b) [-x]",
	} {
		f.Add(q, garden, "beds/my plot.md")
		f.Add(q, "# a\r\n- [ ] b #c\r\n\uFEFF", "x.png")
	}
	f.Fuzz(func(t *testing.T, text, doc, name string) {
		q, err := Parse(text)
		if err != nil {
			return
		}
		m, err := q.Prepare(plain)
		if err != nil {
			return
		}
		if strings.HasPrefix(path.Base(name), ".") {
			return // no part of a vault
		}
		d := newMemory(name, doc)
		r, ok := m.Match(d, Options{Limit: 5, ReadText: true})
		if !ok {
			return
		}
		if !q.Needs().met(d) {
			t.Fatalf("%q matches without %+v", text, q.Needs())
		}
		line := 0
		for _, h := range r.Hits {
			if h.Line <= line || h.Column < 1 || h.Span.Start < 0 || h.Span.End < h.Span.Start || h.Span.End > len(doc) {
				t.Fatalf("%q: hits %+v", text, r.Hits)
			}
			line = h.Line
		}
		if len(r.Hits) > 5 {
			t.Fatalf("%d hits", len(r.Hits))
		}
	})
}
