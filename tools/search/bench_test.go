package search_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchVault is a folder of notes of prose, 3 kB each.
func benchVault(b *testing.B, notes int) string {
	b.Helper()
	dir := b.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	words := make([]string, 5000)
	for i := range words {
		w := make([]byte, 3+r.IntN(8))
		for j := range w {
			w[j] = "etaoinshrdlucmfwypvbgkjqxz"[min(r.IntN(26), r.IntN(26))]
		}
		words[i] = string(w)
	}
	for i := range notes {
		var text strings.Builder
		for text.Len() < 3000 {
			text.WriteString(words[min(r.IntN(5000), r.IntN(5000), r.IntN(5000))])
			text.WriteByte(" \n"[r.IntN(20)/19])
			if r.IntN(2000) == 0 {
				text.WriteString("People ")
			}
		}
		folder := filepath.Join(dir, fmt.Sprintf("f%d", i%20))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("n%d.md", i)), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

func BenchmarkSearch(b *testing.B) {
	d := serve(b, benchVault(b, 2000), 1<<20)
	for _, bb := range []struct {
		name, tool string
		in         args
	}{
		{"text/rare", "search_text", args{"query": "zyxquartz"}},
		{"text/common", "search_text", args{"query": "people"}},
		{"text/short", "search_text", args{"query": "th"}},
		{"text/word", "search_text", args{"query": "people", "whole_word": true}},
		{"text/outside ASCII", "search_text", args{"query": "Straße"}},
		{"text/CJK", "search_text", args{"query": "笔记"}},
		{"regex/alternatives", "search_regex", args{"pattern": `\b(alpha|beta)\b`}},
		{"regex/two words", "search_regex", args{"pattern": `people\s+people`}},
		{"regex/inner literal", "search_regex", args{"pattern": `\w+the\b`}},
		{"regex/no literal", "search_regex", args{"pattern": `\d\d[a-z]`}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				find(b, d, bb.tool, bb.in)
			}
		})
	}
}
