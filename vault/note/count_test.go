package note

import "testing"

func TestCountLines(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n": 1, "\n\n": 2, "a\r\nb\r\n": 2, "a\rb": 2, "a\r": 1, "\r\r\n": 2,
		"a\u2028b": 1, "a\u0085b\fc": 1,
	} {
		if got := CountLines([]byte(text)); got != want {
			t.Errorf("CountLines(%q) = %d, want %d", text, got, want)
		}
	}
}

// However a text is cut into lines, the pieces are as many as are counted and make the text again.
func FuzzLineEnd(f *testing.F) {
	f.Add([]byte("a\r\nb\rc\n\r\n\r"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, rest := 0, text
		for ; len(rest) > 0; n++ {
			end := LineEnd(rest)
			if end <= 0 || end > len(rest) {
				t.Fatalf("LineEnd(%q) = %d", rest, end)
			}
			rest = rest[end:]
		}
		if want := CountLines(text); n != want {
			t.Fatalf("%q: %d pieces, %d lines", text, n, want)
		}
	})
}
