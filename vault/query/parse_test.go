package query

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a b OR c d", "a b OR c d"},
		{"a (b OR c) d", "a (b OR c) d"},
		{"(a b) OR ((c))", "a b OR c"},
		{"((a b) c)", "a b c"},
		{"-(a b) -(a OR b) -a", "-(a b) -(a OR b) -a"},
		{"--a", "--a"},
		{"-(-a)", "-(-a)"},
		{"a or b", "a or b"},
		{`"OR" "a:b"`, `"OR" "a:b"`},
		{`"she said \"hi\\\" \n"`, `"she said \"hi\\\" \\n"`},
		{`foo"bar"baz(x)`, `foo "bar" baz x`},
		{"a - b", "a - b"},
		{"a-b c/d #x //e", "a-b c/d #x //e"},
		{"LINE:(a B) Task-Todo:x", "line:(a B) task-todo:x"},
		{"file: a", "file:a"},
		{"file:-a -file:a", "file:-a -file:a"},
		{"match-case:line:A", "match-case:line:A"},
		{"section:(A section:(B))", "section:(A section:B)"},
		{`/a\/b (c)/ d`, `/a\/b (c)/ d`},
		{"/a/gi b", "/a/ b"},
		{"/a/bc", "/a/ bc"},
		{"[status]", `["status"]`},
		{"[Shelf  Life:two years]", `["Shelf Life":two years]`},
		{`["a]b": -x OR (y /z]/)]`, `["a]b":-x OR y /z]/]`},
		{"[a OR b:null]", `["a" OR "b":null]`},
		{"[a:NULL]", `["a":null]`},
		{"[a:EMPTY]", `["a":EMPTY]`},
		{`[a:""]`, `["a":""]`},
		{"[a:]", `["a"]`},
		{"[a:< 5]", `["a":<5]`},
		{"[a:>=2031-05-09]", `["a":>=2031-05-09]`},
		{"[a:12:30]", `["a":12:30]`},
		{"[a:[[X Y]]]", `["a":[[X Y]]]`},
		{"[a:match-case:X]", `["a":match-case:X]`},
		// Not finished, but clear.
		{`a "b c`, `a "b c"`},
		{"(a OR b", "a OR b"},
		{"a OR", "a"},
		{"OR a OR OR b", "a OR b"},
		{"task:", `task:""`},
		{"(task:) a", `task:"" a`},
		{"tag: OR a", `tag:"" OR a`},
		{"()", `""`},
	}
	for _, tt := range tests {
		q, err := Parse(tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if got := q.String(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.in, got, tt.want)
		}
		roundTrip(t, q)
	}
}

func roundTrip(t *testing.T, q *Query) {
	t.Helper()
	again, err := Parse(q.String())
	if err != nil {
		if len(q.String()) > len(q.source) && len(q.String()) > MaxLength {
			return // quotes made it longer than is allowed
		}
		t.Fatalf("%q became %q: %v", q.source, q.String(), err)
	}
	if !same(q.root, again.root) {
		t.Fatalf("%q became %q, which is another query", q.source, q.String())
	}
}

func same(a, b *node) bool {
	if a.kind != b.kind || a.op != b.op || a.text != b.text || a.bound != b.bound || len(a.kids) != len(b.kids) {
		return false
	}
	for i := range a.kids {
		if !same(a.kids[i], b.kids[i]) {
			return false
		}
	}
	return true
}

func TestSyntaxErrors(t *testing.T) {
	tests := []struct {
		in     string
		offset int
		msg    string
	}{
		{"", 0, "empty"},
		{"  \u3000", 0, "empty"},
		{"OR", 0, "empty"},
		{"a) b", 1, ") closes nothing"},
		{"see http://x", 4, `no operator "http"`},
		{"tags:#x", 0, "Did you mean tag:?"},
		{"task_todo:x", 0, "Did you mean task-todo:?"},
		{"a /b c", 2, "not closed"},
		{"a [b", 2, "[ begins a property that is not closed"},
		{"a [b:c", 2, "not closed"},
		{"- [ ] x", 2, "no name follows"},
		{"[[Note]]", 1, "no meaning"},
		{`["":x]`, 1, "name of the property is empty"},
		{"[a:b)]", 4, ") closes nothing"},
		{"[a:(b]", 3, "( is not closed before the ]"},
		{"[a:<b]", 4, "number or a date"},
		{"[a:>2031-13-40]", 4, "number or a date"},
		{"a \xff", 2, "not UTF-8"},
		{strings.Repeat("é", MaxLength+1), 2 * MaxLength, "too long"},
		{strings.Repeat("(", MaxLength), MaxDepth, "nested too deep"},
		{strings.Repeat("line:", 200) + "x", 5 * MaxDepth, "nested too deep"},
		{strings.Repeat("a ", MaxTerms+1), 2 * MaxTerms, "too many terms"},
	}
	for _, tt := range tests {
		_, err := Parse(tt.in)
		e, ok := errors.AsType[*SyntaxError](err)
		if !ok {
			t.Errorf("%.20q: error %v", tt.in, err)
			continue
		}
		if e.Offset != tt.offset || !strings.Contains(e.Msg, tt.msg) {
			t.Errorf("%.20q: %d %s, want %d %s", tt.in, e.Offset, e.Msg, tt.offset, tt.msg)
		}
	}
}

func TestColumnsCountUTF16(t *testing.T) {
	_, err := Parse("é😀 foo:x")
	e, ok := errors.AsType[*SyntaxError](err)
	if !ok || e.Offset != 7 || e.Column != 5 {
		t.Errorf("got %+v, want offset 7, column 5", e)
	}
}

func TestBadRegexIsReportedInItsPlace(t *testing.T) {
	q, err := Parse("walnut line:/[/")
	if err != nil {
		t.Fatal(err)
	}
	_, err = q.Prepare(plain)
	if e, ok := errors.AsType[*SyntaxError](err); !ok || e.Offset != 12 || e.Column != 13 {
		t.Errorf("got %v", err)
	}
}

func TestHostileQueriesEndSoon(t *testing.T) {
	const quick = time.Second
	for _, in := range []string{
		strings.Repeat("(", 100_000), strings.Repeat("(", 5000) + strings.Repeat(")", 5000), strings.Repeat("a", 1<<20),
		strings.Repeat("-", MaxLength), strings.Repeat(`"\`, 5000), strings.Repeat("[a:", 3000), strings.Repeat("OR ", 3000),
		strings.Repeat("/ ", 5000), strings.Repeat("a:", 5000), "[" + strings.Repeat("a ", 4000) + "]",
		"[a:" + strings.Repeat("[[", 4000) + "]",
	} {
		start := time.Now()
		q, err := Parse(in)
		if err == nil {
			_, _ = q.String(), q.Explain()
		}
		if d := time.Since(start); d > quick {
			t.Errorf("%.10q took %v", in, d)
		}
	}
}

func TestNotes(t *testing.T) {
	q, err := Parse(`AND x - OR task: "y`)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, n := range q.Notes() {
		got = append(got, n.Column)
	}
	if diff := cmp.Diff([]int{1, 7, 18}, got); diff != "" {
		t.Errorf("%s in %+v", diff, q.Notes())
	}
}

func TestExplain(t *testing.T) {
	tests := []struct{ in, want string }{
		{`harvest -"red barn"`, `Files with "harvest" in the text or name and no the whole words "red barn" in the text or name.`},
		{"line:(a OR match-case:B)", `Files with one line with ("a" in it or "B" in it in the same case).`},
		{"[weight:<5 OR null]", `Files with a property named "weight" that has (a number or date <5 in one value or nothing as its value).`},
		{"tag:#a path:x", `Files with "#a" in the tags, or a tag below it and "x" in the path.`},
		{"a OR", `Files with "a" in the text or name. Note at column 3: This OR has nothing behind it.`},
	}
	for _, tt := range tests {
		q, err := Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Explain(); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a b OR c", `-("x y" /z/)`, "[a b:<5 OR null]", `task-todo:"" -line:(a -b)`, `"\\\"`, "--x (OR) - -", `["\\":[[a b]]]`,
		"[a:x:y /]/]", "tag: #x", "()[()]", "-[-a]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := Parse(s)
		if err != nil {
			e, ok := errors.AsType[*SyntaxError](err)
			if !ok || e.Offset < 0 || e.Offset > len(s) || e.Column < 1 {
				t.Fatalf("%q: %#v", s, err)
			}
			return
		}
		q.Explain()
		roundTrip(t, q)
	})
}
