package search

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// finder finds a literal in a text, with or without case. Without case it
// follows Unicode's simple folding, so the Kelvin sign is a k and a long s is
// an s; a text may hold the literal composed or decomposed.
type finder struct {
	forms []form
}

// form is the literal in one normal form.
type form struct {
	text  []byte   // to compare with, folded if case does not count
	runes [][]rune // for each character, every character that folds with it
	fold  bool
	ascii bool
	// rare is the offset of the byte of an ASCII literal that is least common
	// in prose; lo and up are its two cases.
	rare   int
	lo, up byte
	// odd are the non-ASCII characters that fold with one of an ASCII
	// literal's; a text that holds one is compared character by character.
	odd [][]byte
}

// newFinder prepares a search. The literal is not empty.
func newFinder(literal string, fold bool) *finder {
	f := &finder{}
	composed, decomposed := norm.NFC.String(literal), norm.NFD.String(literal)
	for _, s := range []string{literal, composed, decomposed} {
		if !f.has(s) {
			f.forms = append(f.forms, newForm(s, fold))
		}
	}
	return f
}

func (f *finder) has(s string) bool {
	for i := range f.forms {
		if string(f.forms[i].text) == s {
			return true
		}
	}
	return false
}

func newForm(s string, fold bool) form {
	m := form{text: []byte(s), fold: fold, ascii: true}
	if !fold {
		return m
	}
	for _, r := range s {
		m.ascii = m.ascii && r < utf8.RuneSelf
		class := []rune{r}
		for q := unicode.SimpleFold(r); q != r; q = unicode.SimpleFold(q) {
			class = append(class, q)
		}
		m.runes = append(m.runes, class)
	}
	if !m.ascii {
		return m
	}
	best := -1
	for i := range s {
		if w := commonness(s[i]); best < 0 || w < best {
			best, m.rare = w, i
		}
		for _, q := range m.runes[i] {
			if q >= utf8.RuneSelf {
				m.odd = append(m.odd, []byte(string(q)))
			}
		}
	}
	m.lo, m.up = lower(s[m.rare]), upper(s[m.rare])
	return m
}

// commonness ranks bytes by how often prose has them.
func commonness(c byte) int {
	const order = "zqxjkvbpygfwmucldrhsnioate "
	if i := bytes.IndexByte([]byte(order), lower(c)); i >= 0 {
		return i + 1
	}
	return 0
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

// in reports whether the text holds the literal.
func (f *finder) in(b []byte) bool {
	at, _ := f.over(b).next(0)
	return at >= 0
}

// over begins a search in one text. However many matches are asked for, each
// part of the text is looked at a bounded number of times.
func (f *finder) over(b []byte) *search {
	s := &search{forms: make([]formSearch, len(f.forms))}
	for i := range f.forms {
		s.forms[i] = f.forms[i].over(b)
	}
	return s
}

// search is a finder on its way through one text.
type search struct{ forms []formSearch }

// next is the first match at or after from: its offset and length, or -1. from
// never decreases.
func (s *search) next(from int) (at, length int) {
	at = -1
	for i := range s.forms {
		a, n := s.forms[i].next(from)
		if a >= 0 && (at < 0 || a < at) {
			at, length = a, n
		}
	}
	return at, length
}

type formSearch struct {
	*form
	b      []byte
	scouts []scout
	slow   bool
	// found is the match that was last returned; -1 before the first, len(b)
	// once there is none left.
	found, length int
}

func (m *form) over(b []byte) formSearch {
	s := formSearch{form: m, b: b, found: -1, slow: m.fold && !m.ascii}
	for _, o := range m.odd {
		s.slow = s.slow || bytes.Contains(b, o)
	}
	switch {
	case !m.fold:
		s.scouts = []scout{{lit: m.text, at: -1}}
	case s.slow:
		for _, r := range m.runes[0] {
			s.scouts = append(s.scouts, scout{lit: []byte(string(r)), at: -1})
		}
	default:
		s.scouts = append(s.scouts, scout{lit: []byte{m.lo}, at: -1})
		if m.up != m.lo {
			s.scouts = append(s.scouts, scout{lit: []byte{m.up}, at: -1})
		}
	}
	return s
}

func (s *formSearch) next(from int) (at, length int) {
	if s.found < from {
		s.found, s.length = s.look(from)
		if s.found < 0 {
			s.found = len(s.b)
		}
	}
	if s.found == len(s.b) {
		return -1, 0
	}
	return s.found, s.length
}

// look finds the first match at or after from.
func (s *formSearch) look(from int) (at, length int) {
	n := len(s.text)
	for {
		switch {
		case !s.fold:
			at = s.first(from)
			return at, n
		case s.slow:
			if at = s.first(from); at < 0 {
				return -1, 0
			}
			if m := s.matchAt(s.b[at:]); m > 0 {
				return at, m
			}
			from = at + 1
		default:
			p := s.first(from + s.rare)
			if p < 0 || p-s.rare+n > len(s.b) {
				return -1, 0
			}
			if at = p - s.rare; equalFold(s.b[at:at+n], s.text) {
				return at, n
			}
			from = at + 1
		}
	}
}

// first is the nearest place at or after from that any scout finds, or -1.
func (s *formSearch) first(from int) int {
	p := -1
	for i := range s.scouts {
		if q := s.scouts[i].next(s.b, from); q >= 0 && (p < 0 || q < p) {
			p = q
		}
	}
	return p
}

// scout remembers where its literal comes next, so that several can run side
// by side over a text without looking at any part of it twice.
type scout struct {
	lit  []byte
	at   int // -1 before the first look
	none bool
}

func (s *scout) next(b []byte, from int) int {
	if s.none || from > len(b) {
		return -1
	}
	if s.at < from {
		i := bytes.Index(b[from:], s.lit)
		if i < 0 {
			s.none = true
			return -1
		}
		s.at = from + i
	}
	return s.at
}

func equalFold(a, b []byte) bool {
	for i := range a {
		if a[i] != b[i] && lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// matchAt is the length of a match at the start of b, or 0.
func (m *form) matchAt(b []byte) int {
	n := 0
	for _, class := range m.runes {
		r, size := utf8.DecodeRune(b[n:])
		if size == 0 || r == utf8.RuneError && size == 1 || !within(class, r) {
			return 0
		}
		n += size
	}
	return n
}

func within(class []rune, r rune) bool {
	for _, q := range class {
		if q == r {
			return true
		}
	}
	return false
}

// wordAt reports whether b[at:at+n] begins and ends at the border of a word: a
// word goes on over letters, marks, digits and _.
func wordAt(b []byte, at, n int) bool {
	before, _ := utf8.DecodeLastRune(b[:at])
	after, _ := utf8.DecodeRune(b[at+n:])
	first, _ := utf8.DecodeRune(b[at:])
	last, _ := utf8.DecodeLastRune(b[:at+n])
	return !(inWord(before) && inWord(first)) && !(inWord(last) && inWord(after))
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}
