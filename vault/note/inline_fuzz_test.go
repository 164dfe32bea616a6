package note

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

var fuzzInlines = []string{
	"[[a#b|c]] ![[d|40x30]] [e](<f g> \"h\") ![i](j%20k)", "`a` ``b`c`` $d$ $$e$$ <!-- f --> <g h='i'> <https://j.k>", "> [!note|m]+ t #u\n> [v\n> w](x)\n",
	"- [ ] a 📅 2031-02-05 #b ^c\n  - [x] d\n", "| a\\|b | [[c\\|d]] |\n|:-|-:|\n| `e\\|f` |\n", "[a]: b 'c'\n[d]: <e>\n\n[^f]: g [^f] ^[h]\n",
	"a:: b [c:: d] (e:: (f))\n", "%%\n#a\n\n```\n#b\n```\n%% c %%d%%\n", "**#a** _#b_ #c#d \\#e \\[#f", "https://a.b/c#d, http://e_f(g)\r\n[h](i)\r#j",
	"---\na: \"[[b]]\"\nl: ['[c](d)']\n---\n", "[![a](b)](c) [d [e](f)](g) ![h [i](j)](k)", "[a](b(c(d)) [e](f 'g\nh') [i](\nj\n)",
}

// FuzzInline: any bytes give lists whose spans lie in the text, are in order, and hold what was read from them.
func FuzzInline(f *testing.F) {
	for _, s := range fuzzInlines {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkInline(t, text) })
}

func checkInline(t *testing.T, text []byte) {
	t.Helper()
	n := Scan(text)
	in := n.Inline()
	inside := func(what string, outer Span, spans ...Span) {
		t.Helper()
		for _, s := range spans {
			if s.Start < outer.Start || s.Start > s.End || s.End > outer.End {
				t.Fatalf("%s %v outside of %v: %q", what, s, outer, text)
			}
		}
	}
	all := Span{n.Body, len(text)}
	inOrder := func(what string, last *int, s Span, line int) {
		t.Helper()
		inside(what, all, s)
		if s.Start < *last || s.Len() == 0 {
			t.Fatalf("%s %v behind %d: %q", what, s, *last, text)
		}
		if *last = s.End; line > 0 && n.Pos(s.Start).Line != line {
			t.Fatalf("%s %v is not in line %d: %q", what, s, line, text)
		}
	}
	end, last := 0, Span{}
	for _, l := range in.Links {
		at := end
		if l.Span.Start < last.End {
			if !l.Embed || l.Span.End > last.End {
				t.Fatalf("link %+v in %v: %q", l, last, text)
			}
			at = l.Span.Start
		}
		inOrder("link", &at, l.Span, l.Line)
		if at > end {
			end, last = at, l.Span
		}
		inside("link part", l.Span, l.TargetSpan, l.SubpathSpan, l.TextSpan)
		checkTarget(t, text, l)
	}
	end = 0
	for _, l := range in.Definitions {
		inOrder("definition", &end, l.Span, l.Line)
		inside("definition part", l.Span, l.TargetSpan, l.SubpathSpan, l.TextSpan)
	}
	end = 0
	for _, tag := range in.Tags {
		inOrder("tag", &end, tag.Span, tag.Line)
		if got := tag.Span.Of(text); string(got) != "#"+tag.Name {
			t.Fatalf("tag %+v is %q", tag, got)
		}
		for _, l := range in.Links {
			if l.Form != FormMarkdown && tag.Span.Start < l.Span.End && l.Span.Start < tag.Span.End {
				t.Fatalf("tag %+v in link %+v: %q", tag, l, text)
			}
		}
	}
	for what, spans := range map[string][]Span{"code": in.Code, "math": in.Math, "comment": in.Comments} {
		end = 0
		for _, s := range spans {
			inOrder(what, &end, s, 0)
		}
	}
	for _, f := range in.Fields {
		inside("field", all, f.Span)
		inside("field part", f.Span, f.KeySpan, f.ValueSpan)
		if string(f.KeySpan.Of(text)) != f.Key || f.Key == "" {
			t.Fatalf("field %+v: %q", f, text)
		}
	}
	for _, task := range in.Tasks {
		inside("task", all, task.Span)
		inside("task part", task.Span, task.StatusSpan, task.TextSpan)
		if string(task.TextSpan.Of(text)) != task.Text || !strings.ContainsRune(string(task.StatusSpan.Of(text))+"\uFFFD", task.Status) ||
			task.Parent > task.Line || task.EndLine < task.Line || n.Pos(task.Span.Start).Line != task.Line {
			t.Fatalf("task %+v: %q", task, text)
		}
		at := task.TextSpan.Start
		for _, f := range task.Fields {
			inOrder("task field", &at, f.Span, 0)
			inside("task value", f.Span, f.ValueSpan)
		}
	}
	for i, c := range in.Callouts {
		inside("callout", all, c.Span)
		inside("callout part", Span{c.Span.Start, len(text)}, c.TypeSpan, c.TitleSpan)
		if c.Parent >= i || c.Parent >= 0 && in.Callouts[c.Parent].EndLine < c.EndLine {
			t.Fatalf("callout %+v: %q", c, text)
		}
	}
	for _, table := range in.Tables {
		inside("table", all, table.Span)
		for i := -1; i < table.Rows(); i++ {
			if row := table.Row(i); len(row) != len(table.Align) {
				t.Fatalf("row %d of %+v", i, table)
			}
		}
	}
	checkProperties(t, text)
}

// checkTarget reads the target again from its span.
func checkTarget(t *testing.T, text []byte, l Link) {
	t.Helper()
	source := l.TargetSpan.Of(text)
	switch {
	case l.Form == FormMarkdown && l.External:
		source = unescape(source)
	case l.Form == FormMarkdown:
		source = decodePercent(unescape(source))
	}
	if string(source) != l.Target {
		t.Fatalf("target %q of %+v: %q", source, l, text)
	}
}

func checkProperties(t *testing.T, text []byte) {
	t.Helper()
	p := ParseProperties(text)
	p.Aliases()
	for _, tag := range p.Tags() {
		if tag.Span.Start < p.YAML.Start || tag.Span.End > p.YAML.End {
			t.Fatalf("tag %+v: %q", tag, text)
		}
	}
	for _, l := range p.Links(text) {
		if l.Span.Start < p.YAML.Start || l.Span.End > p.YAML.End {
			t.Fatalf("link %+v: %q", l, text)
		}
		if l.TargetSpan.Len() > 0 {
			checkTarget(t, text, l)
		}
	}
}

// FuzzPlainProperties: what is read without the YAML library means the same to it.
func FuzzPlainProperties(f *testing.F) {
	for _, s := range append([]string{
		"a: b\nc: \"d\"\ne: [f, 'g', 1.5]\nh:\n  - i\n  - \"j\"\nk:\n", "a: 1\n\nb:\n- c\n\n- d: e\n", "a: b #c\n", "a: []\nb: [ ]\nc: [d,]\n",
		"a b-c_1:   x y  \nnull: z\nTrue: w\n", "é: a\na: é\u00a0b\n", "a: 2031-02-03T10:00\nb: 0x1F\nc: 12_3\nd: ~\n", "a: b: c\nd: e:\n", "a: b\n c\n",
		"tags: [x/y, z]\naliases:\n    - Q (R)\n", "a: \"b\" c\n", "a: x\\y\nb: 'it''s'\n", "a:b\n", "a: [b c, d-e, f/g]\n", "a: N/A\nb: /c/\n", "a: ---\n",
	}, fuzzYAML...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !bytes.HasSuffix(data, []byte("\n")) || precheck(data) != nil || blankYAML(data) {
			return
		}
		plain, ok := readPlain(data)
		if !ok {
			return
		}
		full, flow, problem := readYAML(data)
		if problem != nil || flow || !reflect.DeepEqual(plain, full) {
			t.Fatalf("%q is\n%+v, or for the library\n%+v (%+v)", data, plain, full, problem)
		}
	})
}

// TestPlainPropertiesOfTheLibrary compares the two on texts made of what properties are made of.
func TestPlainPropertiesOfTheLibrary(t *testing.T) {
	tokens := []string{
		"a: ", "b:", "c d: ", "tags:", "\n", "\n", "\n", "\n\n", "\n- ", "\n  - ", "  ", " ", "x", "y z", "\"q\"", "'r'", "[", "]", ", ", "[s, t]",
		"[]", "12", "1.5e3", "0x1F", "012", "-1", "+2", "true", "No", "null", "~", ".inf", "2031-02-03", "10:30", "#", " #k", ":", ": ", "é", "\u00a0", "🌱",
		"/", "(", ")", "?", "!", "&", "*", "|", ">", "%", "@", "`", "\\", "---", "...", "-", "_", "{", "}", "<<: ", "[[w]]", "\"[[w]]\"", "\"", "'",
	}
	r := rand.New(rand.NewPCG(5, 6))
	accepted := 0
	for range 40000 {
		var b strings.Builder
		b.WriteString([]string{"a: ", "b:", "c d: "}[r.IntN(3)])
		for range r.IntN(8) {
			b.WriteString(tokens[r.IntN(len(tokens))])
		}
		b.WriteString("\n")
		data := []byte(b.String())
		if blankYAML(data) {
			continue
		}
		plain, ok := readPlain(data)
		if !ok {
			continue
		}
		accepted++
		if full, flow, problem := readYAML(data); problem != nil || flow || !reflect.DeepEqual(plain, full) {
			t.Fatalf("%q is\n%+v, or for the library\n%+v (%+v)", data, plain, full, problem)
		}
	}
	if accepted < 2000 {
		t.Errorf("only %d texts are plain", accepted)
	}
}
