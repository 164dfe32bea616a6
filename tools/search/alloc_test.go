//go:build !race

package search

import (
	"runtime"
	"strings"
	"testing"
)

// The race detector throws pooled memory away at random.
func TestAllocationsOfANoteThatDoesNotMatch(t *testing.T) {
	text := []byte(strings.Repeat("some prose, with wordy lines and a k\r\n", 100))
	for name, m := range map[string]matcher{
		"text":        newTextMatcher("zyxquartz", true, true, 5),
		"text in use": newTextMatcher("wor", true, true, 5),
		"regex":       &regexMatcher{mustCompile(t, `\b(alpha|beta)\b`, "i"), 10},
		"regex lines": &regexMatcher{mustCompile(t, `\d+ wordy`, "i"), 10},
	} {
		w := new(workspace)
		m.match(t.Context(), w, "n.md", text, len(text))
		runtime.GC()
		if n := testing.AllocsPerRun(50, func() { m.match(t.Context(), w, "n.md", text, len(text)) }); n > 2 {
			t.Errorf("%s: %v allocations for each note", name, n)
		}
	}
}
