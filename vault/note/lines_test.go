package note

import (
	"slices"
	"testing"
	"unicode/utf8"
)

func TestPositionsAreThoseOfPos(t *testing.T) {
	n := Scan([]byte("\ufeffa😀b\r\n日c\n\nd\xff😀"))
	var offsets []int
	for i := range n.src {
		if utf8.RuneStart(n.src[i]) {
			offsets = append(offsets, i)
		}
	}
	offsets = append(offsets, len(n.src), len(n.src)+1, -1, 3, 3, 0, 12, 5)
	p := n.Positions()
	for _, at := range offsets {
		if got, want := p.Pos(at), n.Pos(at); got != want {
			t.Errorf("%d is at %v, want %v", at, got, want)
		}
	}
}

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
