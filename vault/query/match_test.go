package query

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const garden = "---\ntags: [Spring]\nrows: 12\ndue: 2031-05-09\nsown: true\nhelpers: [Ida, Bo Bear]\nnothing:\n---\n" +
	"Before all: peas.\n\n# Garden\npath of #stone/flat gravel\nnext line\n\n## Tools\nspade and #rake\n\n- [ ] sharpen spade\n" +
	"  at once\n  - [x] oil #rake\n- plain item\n\n# Kitchen\nsoup `#code`\n"

func TestMatch(t *testing.T) {
	tests := []struct {
		query string
		want  bool
	}{
		// Words, phrases, regular expressions.
		{"GRAVEL", true}, {"grav", true}, {`"grav"`, false}, {`"gravel"`, true}, {`"gravel next"`, false}, {`"path of"`, true},
		{"/^soup/", true}, {"/SOUP/", true}, {"match-case:/SOUP/", false}, {"/gravel$/", true}, {`/gravel\nnext/`, true},
		{"plot", true}, {"content:plot", false}, {`"my plot"`, true}, {"/^my plot$/", true}, {"md", false},
		{"gravel OR nowhere", true}, {"gravel nowhere", false}, {"-(gravel nowhere)", true}, {"-gravel", false},
		{`""`, true}, {`-""`, false},
		// Case.
		{"match-case:Gravel", false}, {"match-case:gravel", true}, {"match-case:(ignore-case:GRAVEL spade)", true},
		{"match-case:(GRAVEL OR spade)", true}, {"MATCH-CASE:Gravel", false},
		// Names and paths.
		{"file:plot.md", true}, {"file:beds", false}, {"path:beds/my", true}, {"path:beds file:-plot", false}, {"file:(my plot)", true},
		{`file:"plot"`, true}, {`file:"plo"`, false}, {"path:/s/", true}, {"file:/^my.*md$/", true}, {"match-case:file:My", false}, {"path:", true},
		// Tags.
		{"tag:#stone", true}, {"tag:stone/flat", true}, {"tag:flat", false}, {"tag:#STONE", true}, {"tag:sto", false}, {"tag:spring", true},
		{"tag:#code", false}, {"tag:(#stone #rake)", true}, {"tag:(#stone -#rake)", false}, {"tag:/^#ra/", true}, {"tag:", true}, {`tag:"#rake"`, true},
		{"tag:#stone/", true}, {"match-case:tag:#STONE", true},
		// Pieces.
		{"line:(gravel next)", false}, {"block:(gravel next)", true}, {"line:(path gravel)", true}, {"-line:(gravel next)", true},
		{"line:(gravel -stone)", false}, {"line:-gravel", true}, {"line:(tag:#stone gravel)", true}, {"line:(tag:#rake gravel)", false},
		{"block:(tag:#rake and)", true}, {"line:tag:#spring", false}, {"line:/^soup/", true}, {`line:/gravel\nnext/`, false},
		{"block:(spade oil)", false}, {"block:(sharpen once)", true}, {"block:line:(gravel next)", false}, {"block:(line:path line:next)", true},
		{"section:(garden gravel)", true}, {"section:(garden spade)", false}, {"section:(tools spade)", true}, {"section:(peas gravel)", false},
		{"section:peas", true}, {"section:(garden section:(spade))", true}, {"section:(garden section:(garden))", false},
		{"section:(garden section:soup)", false}, {"section:(tools section:(tools))", false}, {"section:(tools task-todo:sharpen)", true},
		{"section:(kitchen task-todo:sharpen)", false}, {"line:(path:beds soup)", true}, {"line:", true}, {"line:plot", false},
		// Tasks.
		{"task:(sharpen once)", true}, {"task:(sharpen oil)", false}, {"task-todo:oil", false}, {"task-done:oil", true}, {`task-done:""`, true},
		{"task:plain", false}, {`task:"x"`, false}, {"-task:plain", true}, {"task:tag:#rake", true}, {"task-todo:tag:#rake", false},
		{"task-todo:-sharpen", false}, {"task:", true},
		// Properties.
		{"[ROWS]", true}, {"[row]", false}, {"[/^ro/]", true}, {"[rows OR none]", true}, {"[none]", false}, {"-[none]", true}, {"match-case:[Rows]", false},
		{"[rows:12]", true}, {"[rows:1]", false}, {"[rows:12.0]", true}, {"[rows:>5]", true}, {"[rows:<5]", false}, {"[rows:>=12 <13]", true}, {"[rows:>12]", false},
		{"[rows:<=12]", true}, {"[rows:/^1/]", true}, {"[rows:-12]", false}, {"[rows:<5 OR >11]", true}, {"[due:>5]", false},
		{"[due:>2031-05-08]", true}, {"[due:>2031-05-09]", false}, {"[due:<2031-05-09T10:00]", true}, {"[due:2031-05]", true},
		{"[sown:TRUE]", true}, {"[sown:false]", false}, {"[sown:>0]", false},
		{"[helpers:ida]", true}, {"[helpers:bear]", true}, {`[helpers:"Bo Be"]`, false}, {"[helpers:(ida bo)]", false}, {"[helpers:match-case:ida]", false},
		{"[helpers:-ida]", true}, {"-[helpers:ida]", false}, {"[nothing]", true}, {"[nothing:null]", true}, {"[nothing:EMPTY]", true}, {"[rows:null]", false},
		{`[nothing:""]`, false}, {"[nothing:-null]", false}, {"[tags:spring]", true}, {`["rows":"12"]`, true},
	}
	d := newMemory("beds/my plot.md", garden)
	for _, tt := range tests {
		if got := matches(t, tt.query, d); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.query, got, tt.want)
		}
	}
}

// Files without text are found by file: and path:, and never by what they do not hold.
func TestOtherFiles(t *testing.T) {
	d := newMemory("pics/Rose.png", "walnut")
	for query, want := range map[string]bool{
		"rose": false, "-walnut": false, "file:rose": true, "path:pics -file:tulip": true, "-file:tulip": true, "path:pics walnut": false,
		"path:pics -walnut": true, "file:.png OR x": true, "-x OR file:gif": false, "-tag:#x": false, "-[x]": false, "-task:x": false, `""`: false,
		"match-case:file:rose": false, "match-case:file:Rose": true, "-line:x file:rose": true, "line:file:rose": false, "-(file:tulip x)": true,
	} {
		if got := matches(t, query, d); got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if d.calls["text"]+d.calls["tags"]+d.calls["properties"] > 0 {
		t.Errorf("looked into the file: %v", d.calls)
	}
}

func TestTextIsReadOnlyIfNeeded(t *testing.T) {
	for query, want := range map[string]bool{
		"path:a file:b tag:#c [d:e]": false, "-tag:#c OR match-case:[d]": false, "a": true, "path:a b": true, "tag:#c OR line:x": true,
		`task:""`: true, "file:content:a": true, "content:tag:#a": true, `""`: false, "file:(a OR b)": false, "/a/": true,
	} {
		q, err := Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.NeedsText(); got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
		if want {
			continue
		}
		d := newMemory("a/b.md", garden)
		matches(t, query, d)
		if d.calls["text"] != 0 {
			t.Errorf("%s read the text", query)
		}
	}
}

func TestNamesAreEnoughForSomeQueries(t *testing.T) {
	for query, want := range map[string]bool{
		"path:a -file:b": true, "file:(a OR /b/)": true, `""`: true, "a": false, "path:a tag:#b": false, "-[a]": false, "match-case:(file:a OR [b:c])": false, "path:a line:b": false,
	} {
		q, err := Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.NamesOnly(); got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

func TestHits(t *testing.T) {
	tests := []struct {
		name, text, query string
		limit             int
		want              []Hit
		more              bool
	}{
		{"one for each line, in order", "b a a\nx\na\n", "a b", 9, []Hit{{1, 1, Span{0, 1}}, {3, 1, Span{8, 9}}}, false},
		{"columns are UTF-16", "\uFEFF😀é fig\r\nfig\rfig", "fig", 9, []Hit{{1, 5, Span{10, 13}}, {2, 1, Span{15, 18}}, {3, 1, Span{19, 22}}}, false},
		{"limit", "a\na\na\n", "a", 2, []Hit{{1, 1, Span{0, 1}}, {2, 1, Span{2, 3}}}, true},
		{"no hits for what is not there", "a\nb\n", "a -c", 9, []Hit{{1, 1, Span{0, 1}}}, false},
		{"only branches that hold", "a\nb\n", "(a x) OR b", 9, []Hit{{2, 1, Span{2, 3}}}, false},
		{"pieces that hold", "a b\na\nb a\n", "line:(a b)", 9, []Hit{{1, 1, Span{0, 1}}, {3, 1, Span{6, 7}}}, false},
		{"pieces without text", "- [ ] x\n- [x] y\n", `task-done:""`, 9, []Hit{{2, 6, Span{13, 15}}}, false},
		{"a phrase over a line end", "a\r\nb\r\nc", "\"a\nb\"", 9, []Hit{{1, 1, Span{0, 4}}}, false},
		{"over a line end", "a\r\nb\r\nc", `/a\nb/`, 9, []Hit{{1, 1, Span{0, 4}}}, false},
		{"tags", "x #a\n#a/b\n", "x tag:#a", 9, []Hit{{1, 1, Span{0, 1}}, {2, 1, Span{5, 9}}}, false},
		{"tags alone", "x\n#a\n", "tag:#a", 9, []Hit{{2, 1, Span{2, 4}}}, false},
		{"properties", "---\nk: v\n---\n", "[k:v]", 9, []Hit{{2, 1, Span{4, 8}}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newMemory("n.md", tt.text)
			got, ok := prepare(t, tt.query).Match(d, Options{Limit: tt.limit, ReadText: true})
			if !ok {
				t.Fatal("no match")
			}
			if diff := cmp.Diff(tt.want, got.Hits); diff != "" || got.More != tt.more {
				t.Error(got.More, diff)
			}
			for part, n := range d.calls {
				if n > 1 && part != "path" && part != "kind" && part != "properties" {
					t.Errorf("asked %d times for %s", n, part)
				}
			}
		})
	}
}

func TestScore(t *testing.T) {
	m := prepare(t, "rose")
	last := 1 << 30
	for _, d := range []*memory{
		newMemory("Rose.md", "rose"), newMemory("Rose bed.md", "rose"), newMemory("a.md", "# Rose\nrose\n"),
		newMemory("b.md", "rose\nrose\n"), newMemory("c.md", "rose rose\n"),
	} {
		r, ok := m.Match(d, Options{Limit: 9})
		if !ok || r.Score >= last {
			t.Errorf("%s: score %d, want less than %d", d.path, r.Score, last)
		}
		last = r.Score
	}
}

func TestQueryBlockDoesNotFindItself(t *testing.T) {
	text := "# Dash\n\n> ~~~~ query\n> walnut   pie\n> ~~~~\n\n```query\nhazel\n```\n"
	d := newMemory("dash.md", text)
	for _, tt := range []struct {
		query, in string
		want      bool
	}{
		{"walnut pie", "dash.md", false}, {"walnut pie", "", true}, {"walnut pie", "other.md", true}, {"hazel", "dash.md", false},
		{"walnut", "dash.md", true}, {"dash", "dash.md", true}, {"-hazel", "dash.md", false},
	} {
		if _, got := prepare(t, tt.query).Match(d, Options{EmbeddedIn: tt.in}); got != tt.want {
			t.Errorf("%s in %q: %v, want %v", tt.query, tt.in, got, tt.want)
		}
	}
	if string(d.text) != text {
		t.Error("the text was changed")
	}
}

func TestWholeWordsAndScripts(t *testing.T) {
	d := newMemory("n.md", "東京都に行く café_au résumé. naïve-ly ไทยแลนด์")
	for query, want := range map[string]bool{
		`"京都"`: true, `"café"`: false, `"résumé"`: true, `"sumé"`: false, "cafe": false, `"naïve"`: true, "CAFÉ": true, `"au"`: false,
	} {
		if got := matches(t, query, d); got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

func TestMatchersAreShared(t *testing.T) {
	m := prepare(t, `line:(a "b") OR tag:#x OR [y:z]`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, ok := m.Match(newMemory("n.md", "a\na b\n"), Options{Limit: 2}); !ok {
					t.Error("no match")
				}
			}
		})
	}
	wg.Wait()
}

// However pieces are nested, the time stays near the length of the text.
func TestHostileDocumentsEndSoon(t *testing.T) {
	const quick = 5 * time.Second
	lines := strings.Repeat("ab ab\n\n", 20_000)
	sections := strings.Repeat("###### a\n##### a\n#### a\n### a\n## a\n# a\n", 3000)
	for _, tt := range []struct{ query, text string }{
		{strings.Repeat("line:", 50) + `"a"`, lines}, {"block:line:block:line:(x OR y)", lines}, {"line:block:line:(x OR y)", lines},
		{"section:(a section:(a section:(a section:x)))", sections}, {"section:block:line:x", sections},
		{`"a"`, strings.Repeat("a", 1<<18)}, {`line:"a"`, strings.Repeat("a", 1<<18)}, {"line:(section:x OR section:y)", sections},
		{"task:line:x", strings.Repeat("- [ ] a\n", 20_000)},
	} {
		d := newMemory("n.md", tt.text)
		m := prepare(t, tt.query)
		start := time.Now()
		m.Match(d, Options{Limit: 100})
		if took := time.Since(start); took > quick {
			t.Errorf("%.40s took %v", tt.query, took)
		}
	}
}
