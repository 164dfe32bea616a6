package note

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func outline(text string) string {
	var got []string
	for _, h := range Scan([]byte(text)).Headings {
		got = append(got, fmt.Sprintf("%d:%s %s", h.Line, strings.Repeat("#", h.Level), h.Text))
	}
	return strings.Join(got, "\n")
}

func TestTextThatIsNoHeadingForObsidian(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"in a comment that interrupts a paragraph", "a\n%% x\n# no\n\n# no\n%% b\n# yes", "7:# yes"},
		{"in an open comment", "# yes\n%%\n# no\n\n# no", "1:# yes"},
		{"an inline comment hides no block", "a %% b\n# yes\n%%\n# no", "2:# yes"},
		{"a comment on one line", "%% x %%\n# yes\n%%a%%\n---\n%%%%\n# yes", "2:# yes\n6:# yes"},
		{"a comment with text behind it is text", "%%a%% b\n---\n", "1:## %%a%% b"},
		{"percent signs in code", "```\n%%\n```\n# yes", "4:# yes"},
		{"a fence in a comment", "%%\n```\n%%\n# yes", "4:# yes"},
		{"in a comment of a list item", "- a\n  %%\n  # no\n\n# yes", "5:# yes"},
		{"in math", "$$\n# no\n\n# no\n$$\n# yes", "6:# yes"},
		{"math that closes behind text", "$$ a\n# no\nb$$\n# yes\n$$c$$\n---", "4:# yes"},
		{"a price is no math", "$$ expensive\n# yes\n", "2:# yes"},
		{"in a footnote", "[^1]: text\n    # no\n\n    # no\n# yes\n", "5:# yes"},
		{"a rule below a footnote", "[^1]: text\n---\n[^2]: b\n===\n", ""},
		{"a table is no title", "| a |\n|---|\n| b |\n---\n\n| a |\n| - |\n===\n", ""},
		{"a row without pipes is one", "a\n---\n:-: | b\n---", "1:## a\n3:## :-: | b"},
		{"link definitions are no title", "[a]: b\n---\n\n[a]: <b c> 'd'\n===\ne\n===", "5:# === e"},
		{"text below a definition is", "[a]: b\n[c]: d\n 'e'\nf\n===", "4:# f"},
		{"in HTML", "<div>\n# no\n\n# yes\n<!--\n# no\n\n# no --> x\n# yes\n<b>\n# no\n", "4:# yes\n9:# yes"},
		{"open HTML comment", "<!-- a\n\n# no\n", ""},
		{"in a callout and what it goes on with", "> [!tip]\n# yes\n> a\nlazy\n===\n", "2:# yes"},
		{"in a list, also after a blank line", "- a\n\n  # no\n\n # yes\n1) # no\n", "5:# yes"},
		{"an empty item ends at a blank line", "-\n\n  # yes\n", "3:# yes"},
		{"indented code", "a\n    # no\n\n    # no\n\t# no\n   # yes\n", "6:# yes"},
		{"hashes and what follows", "#\n#a\n#\u00a0b\n#\tc\n####### d\n## e # f #g ##\t\n### ###\n# h\\#\n# i \\##", "1:# \n4:# c\n6:## e # f #g\n7:### \n8:# h\\#\n9:# i \\##"},
		{"CR alone ends a line", "# a\r# b\r\r\n## c\r", "1:# a\n2:# b\n4:## c"},
		{"and nothing of Unicode does", "a\u2028# no\u0085# no\f# no\v# no\x00# no\n# b\u2028c", "2:# b\u2028c"},
		{"a title of several lines", "a  \n  b\t\r\n===\r\n", "1:# a b"},
		{"properties", "\ufeff---\n# no\n---\n# yes\n---\n# yes\n---\n", "4:# yes\n6:# yes"},
		{"a byte order mark", "\ufeff# yes\n", "1:# yes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, outline(tt.text)); diff != "" {
				t.Error(diff)
			}
			checkNote(t, []byte(tt.text))
		})
	}
}

func TestIDsNameTheWholeBlock(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"last line of a paragraph", "a\nb ^x\n\nc\n^y", "x paragraph 1-2\ny paragraph 4-5"},
		{"not in its middle", "a ^x\nb", ""},
		{"blanks behind it", "a ^x \t\r\n", "x paragraph 1-1"},
		{"a tab before it", "a\t^x", "x paragraph 1-1"},
		{"item with what is below it", "- a ^x\n  - b\n\n  c\n- d", "x item 1-4"},
		{"task", "1. [ ] a ^x\n2. b", "x item 1-1"},
		{"paragraph of an item", "- a\n\n  b ^x\n- c", "x item 1-3"},
		{"alone below an item's list", "- a\n  - b\n\n  ^x\n", "x list 2-2"},
		{"quote by its last line", "> a\n> b ^x\n\nc", "x quote 1-2"},
		{"quote with an empty line", "> a ^x\n>\n> b\n>\n", "x quote 1-4"},
		{"nested quote", "> > a ^x\n>\n> b", "x quote 1-3"},
		{"item in a quote", "> - a ^x\n> - b", "x item 1-1"},
		{"callout", "> [!tip] a\n> b\n\n^x", "x callout 1-2"},
		{"code", "```\na ^no\n```\n\n^x", "x code 1-3"},
		{"code without a blank line", "```\na\n```\n^x\n# b", "x code 1-3"},
		{"indented code", "    a ^no\n\n    b\n\n^x", "x code 1-3"},
		{"math", "$$\na ^no\n$$\n\n^x", "x math 1-3"},
		{"comment", "%%\na ^no\n%%\n", ""},
		{"HTML", "<div>\na ^no\n</div>\n\n<!-- ^no -->", ""},
		{"table, not its rows", "| a |\n| - |\n| b ^no |\n^no\n\n^x\n", "x table 1-4"},
		{"table below a line", "p\n| a |\n| - |\n\n^x\n", "x table 2-3"},
		{"paragraph before it", "a\n\n^x", "x paragraph 1-1"},
		{"nothing before it", "^x\n\n# h\n\n^y\n\n---\n\n^z", ""},
		{"heading", "# a ^x\nb ^y\n---\n", ""},
		{"footnote", "[^1]: a ^x\n", "x footnote 1-1"},
		{"properties are no block", "---\na: b ^x\n---\n^y", ""},
		{"twice, in both cases", "a ^x\n\nb ^X\n", "x paragraph 1-1\nX paragraph 3-3"},
		{"only letters, digits and dashes", "a ^x_y\n\nb ^é\n\nc ^\n\nd ^x.\n\ne \\^x\n\nf ^-\n", "- paragraph 11-11"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			n := Scan([]byte(tt.text))
			for _, b := range n.Blocks {
				got = append(got, fmt.Sprintf("%s %s %d-%d", b.ID, b.Kind, b.Line, b.EndLine))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
			checkNote(t, []byte(tt.text))
		})
	}
	n := Scan([]byte("a ^x1\n\nb ^X1\n\nc ^x11\n"))
	if got := n.FindBlock("^X1"); len(got) != 2 || got[1].Line != 3 {
		t.Errorf("X1: %+v", got)
	}
	if got := n.FindBlock("x"); got != nil {
		t.Errorf("x: %+v", got)
	}
}

func TestAmbiguousSectionsAreAllReturned(t *testing.T) {
	n := Scan([]byte("# Mon\n## Log\n### Log\n# Tue\n### Deep\n#### Log\n## log!\n# **Plan:** A/B_c  & [[X|y]] 🎉\n# ???\n# Caf\u0065\u0301\n"))
	for _, tt := range []struct{ path, lines string }{
		{"Log", "2 3 6"},
		{"## Log", "2"},
		{"# Log", "2 3 6"},
		{"log!", "7"},
		{"LOG", "2 3 6 7"},
		{"Tue>Log", "6"},
		{"tue>log", "6 7"},
		{"Mon>Log", "2 3"},
		{"Mon>Log>Log", "3"},
		{"Tue>Deep>Log", "6"},
		{"Deep>Tue", ""},
		{"Tue>Nope>Log", ""},
		{"plan a b_c x y 🎉", "8"},
		{"# **plan:** A/B_c & [[x|Y]] 🎉 ", "8"},
		{"???", "9"},
		{"!!!", ""},
		{"", ""},
		{"CAFÉ", "10"},
	} {
		var got []string
		for _, h := range n.FindSection(strings.Split(tt.path, ">")) {
			got = append(got, fmt.Sprint(h.Line))
		}
		if strings.Join(got, " ") != tt.lines {
			t.Errorf("%q leads to %v, want %s", tt.path, got, tt.lines)
		}
	}
	if n.FindSection(nil) != nil {
		t.Error("the empty path leads somewhere")
	}
}

func TestSectionsEndWhereTheNextOneStarts(t *testing.T) {
	text := "intro\r\n  # A #\r\none\r\n\r\nB\r\n---\r\ntwo\r\n### C\r\n# D"
	var got []string
	for _, h := range Scan([]byte(text)).Headings {
		got = append(got, fmt.Sprintf("%q %q %d", h.Section.Of([]byte(text)), h.Body().Of([]byte(text)), h.SectionLines))
	}
	want := []string{
		`"  # A #\r\none\r\n\r\nB\r\n---\r\ntwo\r\n### C\r\n" "one\r\n\r\nB\r\n---\r\ntwo\r\n### C\r\n" 7`,
		`"B\r\n---\r\ntwo\r\n### C\r\n" "two\r\n### C\r\n" 4`,
		`"### C\r\n" "" 1`,
		`"# D" "" 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPositionsCountLikeEditors(t *testing.T) {
	text := "\ufeffa\r\né🌱x\r\xffy\n"
	n := Scan([]byte(text))
	for _, tt := range []struct {
		at   string
		want Pos
	}{{"a", Pos{1, 1}}, {"\r\n", Pos{1, 2}}, {"é", Pos{2, 1}}, {"🌱", Pos{2, 2}}, {"x", Pos{2, 4}}, {"y", Pos{3, 2}}} {
		if got := n.Pos(strings.Index(text, tt.at)); got != tt.want {
			t.Errorf("%q at %v, want %v", tt.at, got, tt.want)
		}
	}
	if got := n.Pos(-5); got != (Pos{1, 1}) {
		t.Errorf("before the start: %v", got)
	}
	if got := n.Pos(1 << 40); got != (Pos{3, 3 + 1}) {
		t.Errorf("behind the end: %v", got)
	}
	if n.Lines() != 3 || n.LineSpan(2) != (Span{6, 14}) || n.LineSpan(4) != (Span{}) || n.LineSpan(0) != (Span{}) {
		t.Errorf("%d lines, second %v", n.Lines(), n.LineSpan(2))
	}
	if e := Scan(nil); e.Lines() != 1 || e.Pos(0) != (Pos{1, 1}) {
		t.Errorf("an empty text has %d lines", e.Lines())
	}
}

// TestHostileNotesTakeLinearTime compares a text with one of eight times its size. Linear is about 8 times the time,
// quadratic is 64. One calm attempt is enough, so that a busy machine does not fail it.
func TestHostileNotesTakeLinearTime(t *testing.T) {
	repeat := strings.Repeat
	for name, make := range map[string]func(n int) string{
		"blank lines":                 func(n int) string { return repeat("\n", n) },
		"CR lines":                    func(n int) string { return repeat("a\r", n/2) },
		"one line":                    func(n int) string { return repeat("a ", n/2) },
		"nested quotes":               func(n int) string { return repeat(">", n) },
		"nested items":                func(n int) string { return repeat("- ", n/2) + "a" },
		"nested items of two kinds":   func(n int) string { return repeat("- * ", n/4) + "a" },
		"items, then blank lines":     func(n int) string { return repeat("- ", n/4) + "a" + repeat("\n", n/2) },
		"items in a quote, blanks":    func(n int) string { return "> " + repeat("- ", n/4) + "a\n" + repeat(">\n", n/4) },
		"items in a quote, lazy text": func(n int) string { return "> " + repeat("- ", n/4) + "a\n" + repeat("b\n", n/4) },
		"deep indentation":            func(n int) string { return repeat("- ", n/8) + "a\n" + repeat(repeat(" ", n/8)+"b\n", 4) },
		"brackets":                    func(n int) string { return repeat("[", n) },
		"definitions":                 func(n int) string { return repeat("[a]: /u\n", n/8) + "===" },
		"definitions with underlines": func(n int) string { return repeat("[a]: /u\n===\n", n/12) },
		"open definition titles":      func(n int) string { return repeat("[a]: /u 'x\n", n/11) + "===" },
		"footnotes":                   func(n int) string { return repeat("[^a]:", n/5) },
		"tables":                      func(n int) string { return repeat("|a|\n|-|\n\n", n/9) },
		"delimiter rows":              func(n int) string { return repeat("|-|\n", n/4) },
		"open math":                   func(n int) string { return repeat("$$ $$ a\n", n/8) },
		"comments":                    func(n int) string { return repeat("%%\n", n/3) },
		"tags":                        func(n int) string { return repeat("<a b=c ", n/7) },
		"raw HTML":                    func(n int) string { return "<pre>" + repeat("</", n/2) },
		"ids":                         func(n int) string { return repeat("^a\n\n", n/4) },
		"ids in quotes":               func(n int) string { return repeat("> ", n/2) + "a ^b" },
		"headings":                    func(n int) string { return repeat("# a\n", n/4) },
		"properties":                  func(n int) string { return "---\n" + repeat("a: b\n", n/5) },
		"open wikilinks":              func(n int) string { return repeat("[[a ", n/4) },
		"open embeds":                 func(n int) string { return repeat("![[", n/3) },
		"open images":                 func(n int) string { return repeat("![", n/2) },
		"brackets and links":          func(n int) string { return repeat("[", n/2) + repeat("[a](b)", n/12) },
		"images around links":         func(n int) string { return repeat("![", n/8) + repeat("[a](b)", n/12) + repeat("](c)", n/16) },
		"links around images":         func(n int) string { return repeat("[![a](b)](c)", n/12) },
		"a link around images":        func(n int) string { return "[" + repeat("![a](b)", n/7) + "](c)" },
		"a link around URLs":          func(n int) string { return "[" + repeat("http://a ", n/9) + "](c)" },
		"open targets":                func(n int) string { return repeat("[a](b", n/5) },
		"open angle targets":          func(n int) string { return repeat("[a](<b", n/6) },
		"open titles":                 func(n int) string { return repeat("[a](b \"", n/8) + repeat("[a](b '", n/8) },
		"blanks in targets":           func(n int) string { return repeat("[a](", n/8) + repeat(" ", n/2) },
		"backticks":                   func(n int) string { return repeat("`", n) },
		"backticks of growing length": func(n int) string {
			var b strings.Builder
			for k := 1; b.Len() < n; k++ {
				b.WriteString(repeat("`", k) + " ")
			}
			return b.String()
		},
		"backticks, falling":    func(n int) string { return repeat("``a`` ```b ", n/11) },
		"parentheses":           func(n int) string { return repeat("(", n) },
		"fields in parentheses": func(n int) string { return repeat("(a:: ", n/10) + repeat("[b:: c]", n/14) + repeat(")", n/10) },
		"colons":                func(n int) string { return "x " + repeat("a::", n/3) },
		"keys":                  func(n int) string { return repeat("a ", n/2) + "::" },
		"angles":                func(n int) string { return repeat("<", n) },
		"open inline tags":      func(n int) string { return "a " + repeat("<a b=\"", n/14) + repeat("<a b='", n/12) },
		"open HTML comments":    func(n int) string { return "a " + repeat("<!--", n/4) },
		"open instructions":     func(n int) string { return "a " + repeat("<?<!A<![CDATA[", n/14) },
		"open autolinks":        func(n int) string { return "a " + repeat("<http:", n/6) },
		"dollars":               func(n int) string { return "a " + repeat("$", n) },
		"prices":                func(n int) string { return repeat("$1 ", n/3) },
		"open display math":     func(n int) string { return "a " + repeat("$$ $ ", n/5) },
		"percents":              func(n int) string { return "a " + repeat("%%", n/2) },
		"tags with underscores": func(n int) string { return repeat("#a_ ", n/4) },
		"hashes and marks":      func(n int) string { return repeat("*#_#~~#", n/7) },
		"tags in a row":         func(n int) string { return repeat("#a", n/2) },
		"URLs":                  func(n int) string { return repeat("http://a)))))", n/13) },
		"a long scheme":         func(n int) string { return repeat("a", n) + "://b" },
		"footnote references":   func(n int) string { return "a" + repeat("[^a", n/3) },
		"a paragraph in quotes": func(n int) string { return repeat("> `a` #b\n", n/9) },
		"cells":                 func(n int) string { return repeat("|a", n/4) + "\n" + repeat("|-", n/4) + "\n" + repeat("|b\n", n/6) },
		"tasks in tasks": func(n int) string {
			var b strings.Builder
			for k := 0; b.Len() < n; k++ {
				b.WriteString(repeat("  ", k%100) + "- [ ] a 📅 2031-02-05\n")
			}
			return b.String()
		},
		"task fields":   func(n int) string { return "- [ ] a" + repeat(" #b ⏫", n/8) },
		"comment block": func(n int) string { return "%%\n" + repeat("```\n`a\n", n/8) },
		"links of properties": func(n int) string {
			return "---\na:\n" + repeat("- \"[[b]]\"\n", n/24) + "c: {d: [" + repeat("\"[[\\u0065]]\", ", n/32) + "]}\n---\n"
		},
	} {
		// Linear is 32 times, quadratic 1,024: a busy machine does not come near.
		small, large := []byte(make(1<<13)), []byte(make(1<<18))
		var ratio float64
		for range 4 {
			ratio = float64(fastest(large)) / float64(max(fastest(small), 20*time.Microsecond))
			if ratio < 300 {
				break
			}
		}
		if ratio >= 300 {
			t.Errorf("%s: 32 times the text takes %.0f times as long", name, ratio)
		}
	}
}

// fastest is the shortest of three scans.
func fastest(text []byte) time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		Scan(text).Inline()
		p := ParseProperties(text)
		p.Links(text)
		best = min(best, time.Since(start))
	}
	return best
}

// Containers beyond the limit are text, so that a line of markers does not need a block for each.
func TestNestingHasALimit(t *testing.T) {
	for _, marker := range []string{"> ", ">", "- ", "[^a]: "} {
		text := strings.Repeat(marker, 10*MaxNesting) + "[[a]]"
		n := Scan([]byte(text))
		if len(n.nodes) != MaxNesting+2 { // the note and the paragraph
			t.Errorf("%q makes %d blocks", marker, len(n.nodes))
		}
		if got := n.Inline().Links; len(got) != 1 || got[0].Target != "a" {
			t.Errorf("%q: %+v", marker, got)
		}
	}
	deep := strings.Repeat(">", MaxNesting-2) + " "
	text := deep + "- [ ] a\n" + deep + "- [ ] b\n" + deep + "* [ ] c\n" + deep + "  - [ ] d\n"
	if got := Scan([]byte(text)).Inline().Tasks; len(got) != 3 {
		t.Errorf("tasks at the limit: %+v", got)
	}
}

func TestDeepNestingDoesNotUseTheStack(t *testing.T) {
	for _, s := range []string{"> ", "- ", "[", "1. ", "[^a]: "} {
		text := bytes.Repeat([]byte(s), 100_000)
		text = append(text, "a ^x\n# b"...)
		checkNote(t, text)
		checkInline(t, text)
	}
}
