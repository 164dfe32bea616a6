package note

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPieces(t *testing.T) {
	text := "---\nk: v\n---\n# H\npara one\nstill\n\npara two\n- a\n\n  more a\n  - b\n- c\n> q1\n>\n> q2\n\n```\ncode\n\nmore\n```\n| a |\n|---|\n| b |\n"
	var got []string
	for _, s := range Scan([]byte(text)).Pieces() {
		got = append(got, text[s.Start:s.End])
	}
	want := []string{
		"# H\n", "para one\nstill\n", "para two\n", "- a\n\n  more a\n", "  - b\n", "- c\n", "> q1\n>\n> q2\n", "```\ncode\n\nmore\n```\n",
		"| a |\n|---|\n| b |\n",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Whatever the text is, pieces are in order and apart from each other.
func FuzzPieces(f *testing.F) {
	f.Add([]byte("- - a\n> - b\n> c\n1. d\n   > e\n\n   f\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		end := 0
		for _, s := range Scan(text).Pieces() {
			if s.Start < end || s.End < s.Start || s.End > len(text) {
				t.Fatalf("%q: piece %v after %d", text, s, end)
			}
			end = s.End
		}
	})
}
