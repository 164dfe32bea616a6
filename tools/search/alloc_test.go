//go:build !race

package search

import (
	"runtime"
	"strings"
	"testing"

	"vault-mcp/tools/search/match"
)

// The race detector throws pooled memory away at random.
func TestAllocationsOfANoteThatDoesNotMatch(t *testing.T) {
	text := []byte(strings.Repeat("some prose, with wordy lines and a k\r\n", 100))
	compile := func(source string) *match.Pattern {
		p, err := match.Compile(source, "i")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, m := range map[string]matcher{
		"text":        newTextMatcher("zyxquartz", true, true, 5),
		"text in use": newTextMatcher("wor", true, true, 5),
		"regex":       &regexMatcher{compile(`\b(alpha|beta)\b`), 10},
		"regex lines": &regexMatcher{compile(`\d+ wordy`), 10},
	} {
		w := new(match.Workspace)
		m.match(t.Context(), w, "n.md", text, len(text))
		runtime.GC()
		if n := testing.AllocsPerRun(50, func() { m.match(t.Context(), w, "n.md", text, len(text)) }); n > 2 {
			t.Errorf("%s: %v allocations for each note", name, n)
		}
	}
}
