package match

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// variants are the ways to write a text, worked out without the finder.
func variants(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	var vs []string
	for _, v := range []string{norm.NFC.String(text), norm.NFD.String(text)} {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			vs = append(vs, strings.ReplaceAll(v, "\n", end))
		}
	}
	return vs
}

func sameRune(a, b rune, fold bool) bool {
	if a == b {
		return true
	}
	if !fold {
		return false
	}
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}

// naiveAt is the length of the literal at the start of b, or 0.
func naiveAt(b []byte, lit string, fold bool) int {
	n := 0
	for _, want := range lit {
		r, size := utf8.DecodeRune(b[n:])
		if size == 0 || r == utf8.RuneError && size == 1 || !sameRune(r, want, fold) {
			return 0
		}
		n += size
	}
	return n
}

// naive lists every place, also overlapping ones.
func naive(b []byte, lits []string, fold bool) []int {
	var at []int
	for i := range b {
		for _, lit := range lits {
			if naiveAt(b[i:], lit, fold) > 0 {
				at = append(at, i)
				break
			}
		}
	}
	return at
}

// places lists what a finder finds. With patience 0 the automaton takes over
// at once.
func places(f *finder, b []byte, patience int) []int {
	var s finding
	s.begin(f, b)
	for i := range s.forms {
		s.forms[i].budget = patience
	}
	var all []int
	for from := 0; from <= len(b); {
		at, length := s.next(from)
		if at < 0 {
			break
		}
		if length <= 0 || at+length > len(b) {
			return append(all, -1)
		}
		all = append(all, at)
		from = at + 1
	}
	return all
}

func TestFind(t *testing.T) {
	tests := []struct {
		name, text, query string
		sensitive         bool
		want              []int
	}{
		{"case", "Foo foo FOO", "fOO", false, []int{0, 4, 8}},
		{"case that counts", "Foo foo FOO", "foo", true, []int{4}},
		{"Kelvin sign for k", "10 \u212a", "10 k", false, []int{0}},
		{"k for the Kelvin sign", "10 k", "10 \u212a", false, []int{0}},
		{"long s", "Wachſtube", "wachstube", false, []int{0}},
		{"long s behind a plain one", "s ſ S", "s", false, []int{0, 2, 5}},
		{"final sigma", "ὈΔΥΣΣΕΎΣ", "σσ", false, []int{7}},
		{"three thetas", "θϑΘ", "θ", false, []int{0, 2, 4}},
		{"dotted capital I is no i", "\u0130stanbul", "istanbul", false, nil},
		{"dotted capital I decomposed", "I\u0307stanbul", "\u0130stanbul", false, []int{0}},
		{"sharp s is not ss", "straße", "strasse", false, nil},
		{"capital sharp s", "STRA\u1e9eE", "straße", false, []int{0}},
		{"composed query, decomposed text", "Cafe\u0301", "café", false, []int{0}},
		{"decomposed query, composed text", "Café", "cafe\u0301", false, []int{0}},
		{"composed and decomposed side by side", "é e\u0301", "É", false, []int{0, 3}},
		{"Angstrom sign", "5 \u212b", "5 å", false, []int{0}},
		{"Hangul jamo", norm.NFD.String("한글"), "한글", false, []int{0}},
		{"Chinese inside a sentence", "我喜欢笔记软件", "笔记", false, []int{9}},
		{"query with a line end, CRLF text", "a\r\nb", "a\nb", false, []int{0}},
		{"query with CRLF, LF text", "a\nb", "a\r\nb", false, []int{0}},
		{"replacement character is itself only", "\xff\ufffd", "\ufffd", false, []int{1}},
		{"bytes that are no UTF-8 around", "\xc5foo\xbf", "foo", false, []int{1}},
		{"rest of a long s", "\xbfs", "s", false, []int{1}},
		{"overlapping", "aaaa", "aa", false, []int{0, 1, 2}},
		{"longer than the text", "a", "aa", false, nil},
		{"at the end", "xxab", "AB", false, []int{2}},
	}
	for _, tt := range tests {
		f := textFinder(tt.query, !tt.sensitive)
		for _, patience := range []int{0, 1 << 20} {
			if got := places(f, []byte(tt.text), patience); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%s (patience %d): %q in %q: got %v, want %v", tt.name, patience, tt.query, tt.text, got, tt.want)
			}
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("Wachſtube \u212a k", "s", true, 0)
	f.Add("aaaaaaaaab", "aab", true, 3)
	f.Add("ΣσςΣσς", "σς", true, 5)
	f.Add("e\u0301é\r\nE\u0301\nx", "é\nx", true, 100)
	f.Add("abcabcabd", "abcabd", false, 1)
	f.Add("ĸKk\u212a\xe2\x84", "kk", true, 9)
	f.Add("straſſe STRASSE Straße", "Straße", true, 100)
	f.Add("\u0345ιΙ\u1fbe\u0390\u1fd3", "\u0390", true, 9)
	f.Fuzz(func(t *testing.T, text, query string, fold bool, patience int) {
		query = strings.ToValidUTF8(query, "")
		if query == "" || len(text) > 2000 || len(query) > 200 {
			t.Skip()
		}
		want := naive([]byte(text), append(variants(query), query), fold)
		got := places(textFinder(query, fold), []byte(text), patience)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q in %q: got %v, want %v", query, text, got, want)
		}
	})
}

func TestWholeWord(t *testing.T) {
	tests := []struct {
		text, word string
		want       bool
	}{
		{"ein café!", "café", true},
		{"ein cafe\u0301!", "café", true},
		{"cafés", "café", false},
		{"cafe\u0301", "cafe", false}, // the accent belongs to the word
		{"naïve", "na", false},
		{"foo_bar", "foo", false},
		{"foo-bar", "foo", true},
		{"foo2", "foo", false},
		{"x=foo;", "foo", true},
		{"#tag", "#tag", true},
		{"a#tag", "#tag", true}, // no word ends before #
		{"привет", "вет", false},
		{"我喜欢笔记软件", "笔记", true},
		{"ภาษาไทย", "ไทย", true},
		{"日本go言語", "go", true},
		{"foofoo foo", "foo", true},
		{"", "foo", false},
	}
	for _, tt := range tests {
		n := NewText(tt.word, true, true).Find(new(Workspace), []byte(tt.text), 5)
		if got := len(n.Lines) > 0; got != tt.want {
			t.Errorf("%q in %q: got %v, want %v", tt.word, tt.text, got, tt.want)
		}
	}
}
