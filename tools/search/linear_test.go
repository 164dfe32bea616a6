package search

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
	regex := func(source, flags string, perNote int) matcher {
		return &regexMatcher{mustCompile(t, source, flags), perNote}
	}
	text := func(query string, word bool, perNote int) matcher {
		return newTextMatcher(query, true, word, perNote)
	}
	tests := []struct {
		name, text string
		m          matcher
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
		{"the same with case", rep("a"), newTextMatcher(strings.Repeat("a", 999), false, true, 10), 0},
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
			n := tt.m.match(t.Context(), new(workspace), "n.md", []byte(tt.text), len(tt.text))
			for _, h := range n.lines {
				if h.item(n.text); len(h.snippet(n.text))+len(h.matched(n.text)) > 2000 {
					t.Fatal("a snippet or match has no bound")
				}
			}
			if len(n.lines) != tt.lines {
				t.Errorf("%d lines, want %d", len(n.lines), tt.lines)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// A page needs memory for a page, however much matches.
func TestMemoryIsBoundedByThePage(t *testing.T) {
	m := newTextMatcher("word", true, false, 1000)
	text := []byte(strings.Repeat("a line with the word that is looked for, and much more text behind it\n", 1000))
	p := &pager{limit: 10, shape: shape{snippet: true}}
	w := new(workspace)
	most := 0
	for i := range 2000 {
		n := m.match(t.Context(), w, strings.Repeat("x", i%50)+".md", text, len(text))
		n.score = float64(i % 7)
		p.add(n)
		most = max(most, p.lines)
	}
	if most > 3*(p.limit+1) {
		t.Errorf("%d lines are kept for a page of %d", most, p.limit)
	}
	if p.total != 2_000_000 || p.notes != 2000 {
		t.Errorf("total %d, notes %d", p.total, p.notes)
	}
}
