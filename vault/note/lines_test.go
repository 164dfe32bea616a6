package note

import (
	"slices"
	"testing"
)

func TestLinesOfAreThoseOfScan(t *testing.T) {
	for _, text := range []string{
		"", "\n", "a", "a\n", "a\r\nb", "a\rb\n\rc", "\ufeff---\na: 1\n---\n# x\r\n\r\n😀 y\n", "```\nx\n", "a\n\n\n",
	} {
		got, want := LinesOf([]byte(text)), Scan([]byte(text))
		starts := func(n *Note) (all []Span) {
			for i := range n.Lines() + 2 {
				all = append(all, n.LineSpan(i))
			}
			return all
		}
		if got.Lines() != want.Lines() || !slices.Equal(starts(got), starts(want)) {
			t.Errorf("%q: %d lines %v, want %d %v", text, got.Lines(), starts(got), want.Lines(), starts(want))
		}
		for i := range len(text) + 2 {
			if got.Pos(i) != want.Pos(i) {
				t.Errorf("%q: %d is at %v, want %v", text, i, got.Pos(i), want.Pos(i))
			}
		}
	}
}
