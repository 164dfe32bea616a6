package match

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// literal is a text to look for, with or without case. Without case it follows
// Unicode's simple folding: the Kelvin sign is a k, a long s is an s.
type literal struct {
	text string
	fold bool
}

func texts(lits []literal) []string {
	list := make([]string, len(lits))
	for i, l := range lits {
		list[i] = l.text
	}
	return list
}

// form is a literal prepared for searching.
type form struct {
	text    []byte
	classes [][]rune // for each character, every character that it stands for
	exact   bool     // each stands for itself only
	ascii   bool
	quick   probe    // for a text that holds none of odd
	full    probe    // for every text
	odd     [][]byte // stand for characters of another length, as ſ for s
}

// probe says what to look for first: the least common character of a literal,
// in each of its cases, which begins so many bytes behind the literal's start.
type probe struct {
	back  int
	needs [][]byte
}

// newForm prepares a literal that is not empty.
func newForm(l literal) form {
	m := form{text: []byte(l.text), exact: true, ascii: true}
	for _, r := range l.text {
		class := []rune{r}
		if l.fold {
			for q := unicode.SimpleFold(r); q != r; q = unicode.SimpleFold(q) {
				class = append(class, q)
			}
		}
		m.exact = m.exact && len(class) == 1
		m.ascii = m.ascii && r < utf8.RuneSelf
		m.classes = append(m.classes, class)
	}
	if m.exact {
		m.full.needs = [][]byte{m.text}
		return m
	}
	m.quick, m.full, m.odd = m.probe(true), m.probe(false), m.oddOnes()
	return m
}

// probe picks the least common character whose distance from the start is
// known: all before it have as many bytes in every case. Without odd ones that
// is any.
func (m *form) probe(withoutOdd bool) probe {
	var p probe
	var best []rune
	offset := 0
	for _, class := range m.classes {
		if best == nil || commonness(class[0]) < commonness(best[0]) {
			best, p.back = class, offset
		}
		if !withoutOdd && slices.ContainsFunc(class, oddFor(class)) {
			break
		}
		offset += utf8.RuneLen(class[0])
	}
	odd := oddFor(best)
	for _, r := range best {
		if !withoutOdd || !odd(r) {
			p.needs = append(p.needs, []byte(string(r)))
		}
	}
	return p
}

// oddFor tells the characters of a class that are longer or shorter than the
// literal's own.
func oddFor(class []rune) func(rune) bool {
	return func(r rune) bool { return utf8.RuneLen(r) != utf8.RuneLen(class[0]) }
}

func (m *form) oddOnes() [][]byte {
	var odd [][]byte
	seen := map[rune]bool{}
	for _, class := range m.classes {
		isOdd := oddFor(class)
		for _, r := range class {
			if isOdd(r) && !seen[r] {
				seen[r] = true
				odd = append(odd, []byte(string(r)))
			}
		}
	}
	return odd
}

// isOdd reports whether a text holds an odd character.
func (m *form) isOdd(b []byte) bool {
	for _, o := range m.odd {
		if bytes.Contains(b, o) {
			return true
		}
	}
	return false
}

// commonness ranks characters by how often prose has them, 0 for the rarest.
func commonness(r rune) int {
	if r >= utf8.RuneSelf {
		return 0
	}
	return strings.IndexByte("zqxjkvbpygfwmucldrhsnioate \n", lower(byte(r))) + 1
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// equalASCII compares the start of b with an ASCII literal without case. It
// returns the length of the match, or 0, and how many bytes it looked at.
func (m *form) equalASCII(b []byte) (length, looked int) {
	if len(b) < len(m.text) {
		return 0, 0
	}
	for i, c := range m.text {
		if b[i] != c && lower(b[i]) != lower(c) {
			return 0, i + 1
		}
	}
	return len(m.text), len(m.text)
}

// inASCII reports whether an ASCII text holds an ASCII literal. Both are short.
func (m *form) inASCII(s string) bool {
	for at := 0; at+len(m.text) <= len(s); at++ {
		i := 0
		for i < len(m.text) && (s[at+i] == m.text[i] || !m.exact && lower(s[at+i]) == lower(m.text[i])) {
			i++
		}
		if i == len(m.text) {
			return true
		}
	}
	return false
}

// equalRunes is equalASCII for every literal and text. What it looks at counts
// more, since it takes longer.
func (m *form) equalRunes(b []byte) (length, looked int) {
	const weight = 4
	for _, class := range m.classes {
		r, size := utf8.DecodeRune(b[length:])
		if !in(class, r, size) {
			return 0, weight * (length + 1)
		}
		length += size
	}
	return length, weight * length
}

// in reports whether a decoded character is one of a class. A byte that is no
// UTF-8 is in none.
func in(class []rune, r rune, size int) bool {
	if r == utf8.RuneError && size <= 1 {
		return false
	}
	for _, q := range class {
		if q == r {
			return true
		}
	}
	return false
}

// automaton searches a form in time linear in the text whatever both are, as
// Knuth, Morris and Pratt do. It is slower on ordinary texts.
type automaton struct {
	classes [][]rune
	fail    []int // the longest border of each beginning of the literal
	starts  []int // where the last characters began, by their number
	pos     int   // in the text
	count   int   // of characters read
	have    int   // of characters of the literal that end at pos
}

func newAutomaton(m *form) *automaton {
	a := &automaton{classes: m.classes, fail: make([]int, len(m.classes)), starts: make([]int, len(m.classes))}
	for i, k := 1, 0; i < len(a.classes); i++ {
		for k > 0 && !in(a.classes[k], a.classes[i][0], 2) {
			k = a.fail[k-1]
		}
		if in(a.classes[k], a.classes[i][0], 2) {
			k++
		}
		a.fail[i] = k
	}
	return a
}

// next is the first match at or after from, which never decreases and is
// greater than the start of the match before.
func (a *automaton) next(b []byte, from int) (at, length int) {
	if from > a.pos {
		a.pos, a.have = from, 0
	}
	n := len(a.classes)
	for a.pos < len(b) {
		r, size := utf8.DecodeRune(b[a.pos:])
		a.starts[a.count%n] = a.pos
		a.count++
		a.pos += size
		for a.have > 0 && !in(a.classes[a.have], r, size) {
			a.have = a.fail[a.have-1]
		}
		if in(a.classes[a.have], r, size) {
			a.have++
		}
		if a.have < n {
			continue
		}
		a.have = a.fail[n-1]
		if at = a.starts[a.count%n]; at >= from { // n characters ago
			return at, a.pos - at
		}
	}
	return -1, 0
}
