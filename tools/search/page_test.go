package search

import (
	"strings"
	"testing"

	"vault-mcp/tools/search/match"
)

// A page needs memory for a page, however much matches.
func TestMemoryIsBoundedByThePage(t *testing.T) {
	m := newTextMatcher("word", true, false, 1000)
	text := []byte(strings.Repeat("a line with the word that is looked for, and much more text behind it\n", 1000))
	p := &pager{limit: 10, shape: shape{snippet: true}}
	w := new(match.Workspace)
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

func TestTitleWithoutItsExtensionRaisesTheScore(t *testing.T) {
	score := func(path, query string, word bool) float64 {
		m := newTextMatcher(query, true, word, 5)
		return m.match(t.Context(), new(match.Workspace), path, []byte(query), len(query)).score
	}
	if score("a/Café.md", "cafe\u0301", true) <= score("a/b.md", "cafe\u0301", true) {
		t.Error("a title that is the query does not count")
	}
	if score("a/b.md", "md", false) != score("a/b", "md", false) {
		t.Error("the extension counts as a part of the title")
	}
	if score("Cafés.md", "Café", true) != score("b.md", "Café", true) {
		t.Error("a part of a word in the title counts as a whole word")
	}
}
