package terms

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func tokens(text string) []string {
	var list []string
	for t := range Tokenize([]byte(text)) {
		list = append(list, string(t.Term))
	}
	return list
}

func TestTokenize(t *testing.T) {
	long := strings.Repeat("a", MaxTerm)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"no letter", " -> _ 📅 \xff\ufffd", nil},
		{"words and numbers", "Due 2024-03-01: the h2o_level", []string{"due", "2024", "03", "01", "the", "h2o", "level"}},
		{"case beyond ASCII", "ÅNGSTRÖM ΣΊΣΥΦΟΣ \u212a\u017f", []string{"ångström", "σίσυφοσ", "ks"}},
		{"dotless and dotted i", "Iıİ", []string{"iıİ"}},
		{"accents stay as they are written", "café cafe\u0301", []string{"café", "cafe\u0301"}},
		{"a byte that is no UTF-8", "ab\xc3cd", []string{"ab", "cd"}},
		{"Chinese", "读书note笔记", []string{"读", "书", "note", "笔", "记"}},
		{"kana, composed or not", "が\u304b\u3099", []string{"が", "\u304b\u3099"}},
		{"Thai vowels above and below", "ที่นี่", []string{"ที่", "นี่"}},
		{"Korean", "한국어를 읽다", []string{"한국어를", "읽다"}},
		{"the iota that is a mark", "α\u0345", []string{"αι"}},
		{"as long as a term can be", long, []string{long}},
		{"longer", "x " + long + "a y", []string{"x", "", "y"}},
		{"longer, outside ASCII", strings.Repeat("é", MaxTerm/2) + "z ü", []string{"", "ü"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tokens(tt.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Characters that differ in case alone are one and of one kind, whatever
// Unicode says of each.
func TestCanonical(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		c := canonical(r)
		if q := unicode.SimpleFold(r); canonical(q) != c {
			t.Errorf("%U folds to %U, %U to %U", r, c, q, canonical(q))
		}
		if canonical(c) != c {
			t.Errorf("%U folds to %U, and that to %U", r, c, canonical(c))
		}
		if r >= 0x4e00 && r <= 0x9fff && unicode.Is(unicode.Han, r) && (c != r || kindOf(r) != plain|single) {
			t.Errorf("%U folds to %U, kind %d", r, c, kindOf(c))
		}
		if kindOf(c) != 0 != isWord(r) && r != 0x345 {
			t.Errorf("%U: kind %d, in words %t", r, kindOf(c), isWord(r))
		}
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// slowTokens is Tokenize one character after the other.
func slowTokens(text string) (list []Token) {
	var last kind
	for at, r := range text {
		_, size := utf8.DecodeRuneInString(text[at:])
		c := canonical(r)
		k := kindOf(c)
		if r == utf8.RuneError {
			k = 0
		}
		if k != 0 {
			if splits(last, k) {
				list = append(list, Token{Start: at})
			}
			t := &list[len(list)-1]
			t.Term, t.End = utf8.AppendRune(t.Term, c), at+size
		}
		last = k
	}
	for i := range list {
		if len(list[i].Term) > MaxTerm {
			list[i].Term = nil
		}
	}
	return list
}

func FuzzTokenize(f *testing.F) {
	for _, s := range []string{
		"Plain words, 42.", "ÄÖÜ ſtraße \u212a", "か\u3099x漢字kanji", "\xff\xc3a\u0345ι", strings.Repeat("ab", 70), "ไทยไทย x\u0301",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got []Token
		inside := 0
		for tok := range Tokenize([]byte(text)) {
			tok.Term = append([]byte(nil), tok.Term...)
			got = append(got, tok)
			inside += utf8.RuneCountInString(text[tok.Start:tok.End])
		}
		if diff := cmp.Diff(slowTokens(text), got); diff != "" {
			t.Error(diff)
		}
		want := 0
		for _, r := range text {
			if isWord(r) && r != utf8.RuneError {
				want++
			}
		}
		if inside != want {
			t.Errorf("tokens cover %d characters of %d", inside, want)
		}
	})
}
