package terms

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestDictionaryIsLoaded(t *testing.T) {
	d := NewDictionary()
	for i := range 5000 {
		if id := d.Intern(fmt.Appendf(nil, "térm%d", i%2500)); id != uint32(i%2500+1) {
			t.Fatalf("term %d has number %d", i, id)
		}
	}
	again := NewDictionary()
	for range 2 { // the second time nothing is new
		for id, term := range d.Added(0) {
			if err := again.Load(id, term); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d.Len() != 2501 || again.Len() != d.Len() {
		t.Fatalf("lengths %d and %d", d.Len(), again.Len())
	}
	for id := range d.Len() {
		term := d.Term(id)
		if again.Term(id) != term {
			t.Errorf("number %d is %q and %q", id, term, again.Term(id))
		}
		if got, ok := again.Lookup([]byte(term)); !ok || got != id {
			t.Errorf("%q is number %d, want %d", term, got, id)
		}
	}
	if again.Term(d.Len()) != "" {
		t.Error("a number without a term has one")
	}
	var added []string
	for _, term := range d.Added(2499) {
		added = append(added, string(term))
	}
	if !slices.Equal(added, []string{"térm2498", "térm2499"}) {
		t.Errorf("added %q", added)
	}
}

func TestLoadRefuses(t *testing.T) {
	d := NewDictionary()
	d.Intern([]byte("one"))
	for _, tt := range []struct {
		name string
		id   uint32
		term string
	}{
		{"a gap", 3, "three"},
		{"another term", 1, "uno"},
		{"another number", 2, "one"},
		{"the empty term", 2, ""},
		{"a term that is too long", 2, strings.Repeat("x", MaxTerm+1)},
		{"bytes that are no text", 2, "\xff"},
	} {
		if err := d.Load(tt.id, []byte(tt.term)); err == nil {
			t.Errorf("%s: Load took it", tt.name)
		}
	}
	if d.Len() != 2 {
		t.Errorf("length %d, want 2", d.Len())
	}
}

// Terms that hold a text, against package strings.
func TestPile(t *testing.T) {
	p := newPile()
	var list []string
	for _, s := range strings.Fields("a ab aba abab ba bab aaaa ÿ b aa x a") {
		p.add([]byte(s))
		list = append(list, s)
	}
	for _, s := range []string{"a", "b", "ab", "aa", "aba", "ba", "x", "ÿ", "q", "abab"} {
		for _, bound := range []struct {
			start, end bool
			times      func(term string) int
		}{
			{false, false, func(term string) int { return strings.Count(term, s) }},
			{true, false, func(term string) int { return times(strings.HasPrefix(term, s)) }},
			{false, true, func(term string) int { return times(strings.HasSuffix(term, s)) }},
			{true, true, func(term string) int { return times(term == s) }},
		} {
			var got, want []string
			p.find(pattern([]byte(s), bound.start, bound.end), func(i, n uint32) { got = append(got, fmt.Sprint(list[i], n)) })
			for _, term := range list {
				if n := bound.times(term); n > 0 {
					want = append(want, fmt.Sprint(term, n))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q %t %t: got %q, want %q", s, bound.start, bound.end, got, want)
			}
		}
	}
}

func times(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

func TestFoldDiacritics(t *testing.T) {
	d := NewDictionary()
	all := strings.Fields("cafe café cafe\u0301 cafés cäfe caf naive naïve ёж еж が か 한국 ø o ὥ ω straße strasse e\u0301")
	for _, s := range all {
		d.Intern([]byte(s))
	}
	for _, tt := range []struct{ term, want string }{
		{"cafe", "cafe café cafe\u0301 cäfe"},
		{"café", "cafe café cafe\u0301 cäfe"},
		{"cafe\u0301", "cafe café cafe\u0301 cäfe"},
		{"naïve", "naive naïve"},
		{"еж", "ёж еж"},
		{"か", "か"},
		{"が", "が"},
		{"한국", "한국"},
		{"o", "o"},
		{"ø", "ø"},
		{"ω", "ὥ ω"},
		{"strasse", "strasse"},
		{"é", "e\u0301"},
		{"none", ""},
	} {
		var got []string
		for _, id := range d.FoldDiacritics([]byte(tt.term)) {
			got = append(got, d.Term(id))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q: got %q, want %q", tt.term, s, tt.want)
		}
	}
	for i, s := range all {
		if d.Term(uint32(i+1)) != s {
			t.Errorf("term %d became %q", i+1, d.Term(uint32(i+1)))
		}
	}
}

// What has no accents left has none the second time.
func TestUnaccentedOnce(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		c := canonical(r)
		if kindOf(c) == 0 {
			continue
		}
		for _, s := range []string{string(c), "x" + string(c), string(c) + "\u0301"} {
			if base, ok := unaccented([]byte(s)); ok {
				if again, ok := unaccented(base); ok {
					t.Errorf("%+q becomes %+q, and that %+q", s, base, again)
				}
			}
		}
	}
}
