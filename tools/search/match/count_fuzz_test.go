package match

import (
	"testing"
	"unicode/utf8"

	"vault-mcp/cache/index/terms"
)

// What the index says of a note is what its text says: no match is missed, and
// where it counts, it counts what a reading does.
func FuzzCountsAreThoseOfTheText(f *testing.F) {
	for _, q := range []string{"moss", "aa", "é", "e\u0301te\u0301", "ſ", "\u212a", "東京", "서울", "moss bank", "x_y", "İ", "ß", "\u0345", "a\u0301", "ไท", "1"} {
		f.Add(q, "Moss moss_bank aaaa été e\u0301te\u0301 aéae\u0301a STONE ſ k\u212aK 東京都 서울에서 i\u0307İ ẞß x_y \u1f80\u03b1\u0345 ไทย 11")
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		if query == "" || !utf8.ValidString(query) || len(text) > 1<<16 {
			return
		}
		dict := terms.NewDictionary()
		var counter terms.Counter
		counter.Count([]byte(text))
		ix := terms.NewIndex(dict)
		if _, err := ix.Add(dict.Encode([]byte{}, &counter)); err != nil {
			t.Fatal(err)
		}
		for _, word := range []bool{false, true} {
			x := NewText(query, true, word)
			n := x.Find(new(Workspace), []byte(text), 3)
			hits := ix.Candidates(query, nil)
			if word {
				hits = ix.Whole(query, nil)
			}
			if n.Total > 0 && len(hits) == 0 {
				t.Fatalf("%q in %q (words %v): %d matches, no candidate", query, text, word, n.Total)
			}
			if x.Countable() && len(hits) > 0 && hits[0].Exact && int(hits[0].Count) != n.Total {
				t.Fatalf("%q in %q: %d matches, counted %d", query, text, n.Total, hits[0].Count)
			}
		}
	})
}
