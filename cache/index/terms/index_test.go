package terms

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
)

// shelf is an index beside the texts that it holds, by document.
type shelf struct {
	*Index
	d     *Dictionary
	texts map[uint32]string
}

func newShelf(tb testing.TB, texts ...string) *shelf {
	tb.Helper()
	s := &shelf{d: NewDictionary(), texts: map[uint32]string{}}
	s.Index = NewIndex(s.d)
	for _, text := range texts {
		s.put(tb, text)
	}
	return s
}

func (s *shelf) put(tb testing.TB, text string) uint32 {
	tb.Helper()
	doc, err := s.Add(vectorOf(s.d, text))
	if err != nil {
		tb.Fatal(err)
	}
	s.texts[doc] = text
	return doc
}

// scan counts what a scan that ignores case finds of a literal in a text, by
// package regexp.
func scan(literal string) func(text string) int {
	var forms []*regexp.Regexp
	var seen []string
	for _, form := range []string{literal, norm.NFC.String(literal), norm.NFD.String(literal)} {
		if folded := string(fold(form)); !slices.Contains(seen, folded) {
			seen = append(seen, folded)
			forms = append(forms, regexp.MustCompile("(?i)"+regexp.QuoteMeta(form)))
		}
	}
	return func(text string) (n int) {
		for _, re := range forms {
			n += len(re.FindAllStringIndex(text, -1))
		}
		return n
	}
}

// check compares the candidates for a literal with a scan of all texts.
func (s *shelf) check(tb testing.TB, literal string, v *View) {
	tb.Helper()
	got := map[uint32]Hit{}
	last := -1
	for _, h := range s.Candidates(literal, v) {
		if int(h.Doc) <= last {
			tb.Errorf("%q: %d after %d", literal, h.Doc, last)
		}
		last = int(h.Doc)
		got[h.Doc] = h
	}
	count := scan(literal)
	for doc, text := range s.texts {
		n := count(text)
		h, ok := got[doc]
		switch {
		case v != nil && !v.visible(doc):
			if ok {
				tb.Errorf("%q: %d is hidden", literal, doc)
			}
		case n > 0 && !ok:
			tb.Errorf("%q: %d is missing: %q", literal, doc, text)
		case h.Exact && int(h.Count) != n:
			tb.Errorf("%q: counted %d, found %d in %q", literal, h.Count, n, text)
		}
		delete(got, doc)
	}
	if len(got) > 0 {
		tb.Errorf("%q: documents that are not there: %v", literal, got)
	}
}

func TestCandidates(t *testing.T) {
	long := strings.Repeat("ab", MaxTerm)
	texts := []string{
		"The harbour, the Harbours and HARBOURMASTER.", "a harbour-master", "cafe\u0301 or café", "漢字かな交じり文", "か\u3099く が",
		"x -> y", "snake_case _it_", long + " abab", "ÅNGSTRÖM \u212b", "\u212aelvin kelvin", "", "ſs", "naïve\xffab", "한국어를 한국", "aaaa aaa",
	}
	s := newShelf(t, texts...)
	for _, tt := range []struct {
		literal, want string
	}{
		{"harbour", "0:3 1:1 7?"},
		{"arbo", "0:3 1:1 7?"},
		{"the", "0:2 7?"},
		{"the harbour", "0? 7?"},
		{"harbour-m", "1? 7?"}, // the first text has no token that begins with m
		{" master", "1? 7?"},
		{"é", "2:2 7?"},
		{"e", "0:3 1:1 2:1 6:2 7? 9:2 12:1"},
		{"\u0301", "2:1 7?"},
		{"字", "3:1 7?"},
		{"漢字", "3?"},
		{"が", "4:2 7?"},
		{"->", "0? 1? 2? 3? 4? 5? 6? 7? 8? 9? 10? 11? 12? 13? 14?"},
		{"", "0? 1? 2? 3? 4? 5? 6? 7? 8? 9? 10? 11? 12? 13? 14?"},
		{"e_c", "6? 7?"},
		{"abab", "7?"},
		{long, "7?"},
		{"å", "8:2 7?"},
		{"k", "6:1 7? 9:2"},
		{"ss", "7? 11:1"},
		{"ve\xff", "0? 1? 2? 3? 4? 5? 6? 7? 8? 9? 10? 11? 12? 13? 14?"},
		{"한국", "7? 13:2"},
		{"aa", "7? 14:3"},
	} {
		got := render(s.Candidates(tt.literal, nil))
		want := strings.Fields(tt.want)
		slices.SortFunc(want, func(a, b string) int { return number(a) - number(b) })
		if diff := cmp.Diff(strings.Join(want, " "), got); diff != "" {
			t.Errorf("%q: %s", tt.literal, diff)
		}
		if utf8.ValidString(tt.literal) {
			s.check(t, tt.literal, nil)
		}
	}
}

func number(hit string) (n int) {
	fmt.Sscanf(hit, "%d", &n)
	return n
}

func render(hits []Hit) string {
	var list []string
	for _, h := range hits {
		if h.Exact {
			list = append(list, fmt.Sprintf("%d:%d", h.Doc, h.Count))
		} else {
			list = append(list, fmt.Sprintf("%d?", h.Doc))
		}
	}
	return strings.Join(list, " ")
}

func TestWhole(t *testing.T) {
	long := strings.Repeat("ab", MaxTerm)
	s := newShelf(t, "harbour Harbour harbours", "the harbours", "harbour_wall", "cafe\u0301 café", "漢字", "漢\u0301", long, "the harbour")
	for _, tt := range []struct{ literal, want string }{
		{"harbour", "0:2 2:1 7:1"},
		{"the harbour", "7?"},
		{"harbour.", "0? 2? 7?"},
		{"CAFÉ", "3:2"},
		{"漢", "4:1"},
		{"字漢", "4?"},
		{long, "6?"},
		{"none", ""},
		{"->", "0? 1? 2? 3? 4? 5? 6? 7?"},
	} {
		if got := render(s.Whole(tt.literal, nil)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.literal, got, tt.want)
		}
	}
}

// speech makes texts of few words, so that they share many.
func speech(r *rand.Rand) string {
	words := strings.Fields("the The harbour Harbours café cafe\u0301 漢字 か\u3099 한국어를 한국 x -> \u212a ſ naïve a aa ab 42 \u0301 ไทย")
	var b strings.Builder
	for range r.IntN(30) {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteString([]string{" ", "", "\n", "_"}[r.IntN(4)])
	}
	return b.String()
}

var literals = strings.Fields("the harb ours café cafe 漢 漢字 が 한국 k s a aa b4 2 -> r→ naïve\u0020x e\u0301 \u0301 ทย")

// Changes and packing in any order leave what a scan of the texts finds.
func TestChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	s := newShelf(t)
	var vectors []Vector
	for i := range 50 {
		text := speech(r)
		vectors = append(vectors, vectorOf(s.d, text))
		s.texts[uint32(i)] = text
	}
	if first, err := s.Load(vectors); first != 0 || err != nil {
		t.Fatal(first, err)
	}
	odd := s.View(func(doc uint32) bool { return doc%2 == 1 })
	for step := range 200 {
		switch n := r.IntN(10); {
		case n < 5:
			s.put(t, speech(r))
		case n < 9:
			for doc := range s.texts {
				delete(s.texts, doc)
				if !s.Remove(doc) || s.Remove(doc) {
					t.Fatalf("removing %d", doc)
				}
				break
			}
		case step%2 == 0:
			s.Pack()
		default:
			more := []string{speech(r), speech(r)}
			first, err := s.Load([]Vector{vectorOf(s.d, more[0]), vectorOf(s.d, more[1])})
			if err != nil {
				t.Fatal(err)
			}
			s.texts[first], s.texts[first+1] = more[0], more[1]
		}
		if step%3 > 0 {
			continue
		}
		literal := literals[r.IntN(len(literals))]
		s.check(t, literal, nil)
		s.check(t, literal, odd)
		s.checkRank(t, literal+" the", odd)
	}
	if got := s.Stats(); got.Docs != len(s.texts) || got.Terms != int(s.d.Len())-1 {
		t.Errorf("%+v, want %d documents and %d terms", got, len(s.texts), s.d.Len()-1)
	}
	for doc := range s.texts {
		s.Remove(doc)
	}
	s.Pack()
	if got := s.Stats(); got.Docs != 0 || got.Tokens != 0 || got.Unused != got.Terms || odd.Docs() != 0 {
		t.Errorf("%+v, %d in the view, want nothing", got, odd.Docs())
	}
}

func TestPacksByItself(t *testing.T) {
	s := newShelf(t)
	for i := range 3000 {
		doc := s.put(t, fmt.Sprintf("note %d of many", i))
		if i%10 > 0 {
			s.Remove(doc)
			delete(s.texts, doc)
		}
	}
	if s.changes > 600 || len(s.packed.data) == 0 || len(s.packed.of(1)) > 800 {
		t.Errorf("%d changes are not packed, %d bytes are, %d for a term of all", s.changes, len(s.packed.data), len(s.packed.of(1)))
	}
	s.check(t, "note", nil)
	s.check(t, "2990", nil)
}

// What a caller may not see changes nothing of what it gets, to the last bit.
func TestHiddenDocumentsDoNotShow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	whole, part := newShelf(t), newShelf(t)
	var there []uint32 // where the documents of part are in whole
	hidden := map[uint32]bool{}
	for i := range 300 {
		text := speech(r)
		doc := whole.put(t, text)
		if hidden[doc] = i%3 == 0; !hidden[doc] {
			there = append(there, doc)
			part.put(t, text)
		}
		if i%7 == 0 { // words that only hidden documents have
			hidden[whole.put(t, "the cäfe "+strings.Repeat("secret ", i))] = true
		}
	}
	v := whole.View(func(doc uint32) bool { return !hidden[doc] })
	for _, text := range append([]string{"the harbour café", "secret", "한국 a"}, literals...) {
		for _, fold := range []bool{false, true} {
			q := Query{Text: text, FoldDiacritics: fold, Limit: 20}
			got, n := whole.Rank(q, v)
			want, m := part.Rank(q, nil)
			for i := range want {
				want[i].Doc = there[want[i].Doc]
			}
			if diff := cmp.Diff(want, got); diff != "" || n != m {
				t.Errorf("%q: %d, want %d; %s", text, n, m, diff)
			}
		}
		want := part.Candidates(text, nil)
		for i := range want {
			want[i].Doc = there[want[i].Doc]
		}
		if diff := cmp.Diff(want, whole.Candidates(text, v)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if v.Docs() != part.Stats().Docs {
		t.Errorf("the view has %d, want %d", v.Docs(), part.Stats().Docs)
	}
}

// Readers see whole documents while one goroutine changes them.
func TestReadersAndOneWriter(t *testing.T) {
	s := newShelf(t)
	v := s.View(func(doc uint32) bool { return doc%2 == 0 })
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			var c Counter
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				hits := s.Candidates("harbour", v)
				for _, h := range hits {
					if h.Count != 2 || h.Doc%2 != 0 {
						t.Errorf("%+v", h)
					}
				}
				if best, _ := s.Rank(Query{Text: "harbour wall", FoldDiacritics: true}, nil); len(best) > 301 {
					t.Errorf("%d documents", len(best))
				}
				c.Count(fmt.Appendf(nil, "reader %d, note %d", i, n%100))
				s.d.Encode(nil, &c)
				v.Docs()
			}
		})
	}
	for i := range 1500 {
		doc, err := s.Add(vectorOf(s.d, fmt.Sprintf("Harbour harbour wäll%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		if doc >= 300 && !s.Remove(doc-300) {
			t.Errorf("%d was not there", doc-300)
		}
	}
	close(done)
	wg.Wait()
}

func FuzzCandidates(f *testing.F) {
	f.Add("The harbour, the Harbours", "a harbour-master", "harbour", uint8(3), uint8(9))
	f.Add("か\u3099x漢字kanji", "漢\u0301字", "\u3099x", uint8(0), uint8(20))
	f.Add("caf\u00e9 cafe\u0301", "\u212a \u017f ss", "É", uint8(2), uint8(7))
	f.Add("α\u0345 ι", "aaaa", "aa", uint8(0), uint8(3))
	f.Add(strings.Repeat("ab", 70)+" ab", "a≮b", "a≮", uint8(120), uint8(140))
	f.Add("\xffab\xc3cd", "ไทย x\u0e31y", "ab", uint8(1), uint8(4))
	f.Fuzz(func(t *testing.T, a, b, literal string, from, to uint8) {
		s := newShelf(t, a, b, literal, a+b, a+" "+literal+b)
		end := min(int(to), len(a))
		for _, l := range []string{literal, a[min(int(from), end):end]} {
			// The oracle takes bytes that are no UTF-8 for U+FFFD.
			if !utf8.ValidString(l) || strings.ContainsRune(l, utf8.RuneError) {
				continue
			}
			for _, l := range []string{l, strings.ToUpper(l), norm.NFD.String(l), norm.NFC.String(l)} {
				s.check(t, l, nil)
			}
		}
	})
}
