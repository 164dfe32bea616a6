package match

import (
	"strings"
	"testing"
	"time"
)

// Texts and searches for which the obvious ways take hours.
func TestNothingIsQuadratic(t *testing.T) {
	const size = 2 << 20
	rep := func(s string) string { return strings.Repeat(s, size/len(s)) }
	some := func(s string) string { return strings.Repeat(s, size/8/len(s)) } // package regexp is slower
	type search = func(b []byte) Found
	regex := func(source, flags string, most int) search {
		p := mustCompile(t, source, flags)
		return func(b []byte) Found { return p.Find(t.Context(), new(Workspace), b, most) }
	}
	find := func(x *Text, most int) search {
		return func(b []byte) Found { return x.Find(new(Workspace), b, most) }
	}
	text := func(query string, word bool, most int) search { return find(NewText(query, true, word), most) }
	tests := []struct {
		name, text string
		find       search
		lines      int
	}{
		{"a million matches in one line", rep("word "), text("word", false, 1000), 1},
		{"a million words that are none", rep("words "), text("word", true, 1000), 0},
		{"a million lines", rep("word\n"), text("word", false, 1000), 1000},
		{"CR lines", rep("word\r"), text("word", false, 1000), 1000},
		{"CR lines and one LF", rep("word\r") + "\n", text("word", false, 1000), 1000},
		{"LF lines and one CR", rep("word\n") + "\r", text("word", false, 1000), 1000},
		{"CRLF lines", rep("word\r\n"), text("word", false, 1000), 1000},
		{"last of a long line", rep("x") + "word", text("word", false, 1000), 1},
		{"nearly a long literal", rep("a"), text(strings.Repeat("a", 999)+"b", false, 10), 0},
		{"nearly a long literal, at its start", rep("a"), text("b"+strings.Repeat("a", 999), false, 10), 0},
		{"nearly a long literal with blanks", rep("a"), text(strings.Repeat("a", 500)+" "+strings.Repeat("a", 499), false, 10), 0},
		{"nearly a long literal outside ASCII", rep("é"), text(strings.Repeat("é", 999)+"x", false, 10), 0},
		{"long literal in no word", rep("a"), text(strings.Repeat("a", 999), true, 10), 0},
		{"the same with case", rep("a"), find(NewText(strings.Repeat("a", 999), false, true), 10), 0},
		{"odd characters", rep("sk") + "ſ", text(strings.Repeat("s", 1000), false, 10), 0},
		{"nearly a Kelvin", rep("k"), text(strings.Repeat("\u212a", 999)+"x", false, 10), 0},
		{"nested repeats", some("x"), regex(`(x+x+)+y`, "i", 10), 0},
		{"alternatives that overlap", some("a"), regex(`(a|a|ab)*[^a]`, "", 10), 0},
		{"matches that begin everywhere and end nowhere", some("ab\n"), regex(`ab[^]*Z`, "", 10), 0},
		{"the same in one line", some("ab"), regex(`ab.*Z`, "", 10), 0},
		{"a line that holds what is needed, no line that matches", some("ab c\n"), regex(`\d.*c$`, "", 10), 0},
		{"a match in each line of CRLF", some("ab\r\n"), regex(`^ab$`, "", 1000), 1000},
		{"a match in each line of CR", some("ab\r"), regex(`\w$`, "", 1000), 1000},
		{"matches over two lines", some("ab\n"), regex(`a\w\na`, "", 1000), 1000},
		{"matches over two lines in the middle", some("xa b\n"), regex(`b\s+x`, "", 1000), 1000},
		{"one match over everything", some("ab\n"), regex(`^[^]*$`, "", 10), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			n := tt.find([]byte(tt.text))
			for _, h := range n.Lines {
				if h.Column(n.Text); len(h.Snippet(n.Text))+len(h.Match(n.Text)) > 2000 {
					t.Fatal("a snippet or match has no bound")
				}
			}
			if len(n.Lines) != tt.lines {
				t.Errorf("%d lines, want %d", len(n.Lines), tt.lines)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
