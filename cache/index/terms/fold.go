package terms

import (
	"unicode"
	"unicode/utf8"
)

// kind says how a character joins its neighbours.
type kind uint8

const (
	plain  kind = 1 << iota // a letter, digit or mark: part of a token
	single                  // of a script without blanks between words
	joiner                  // a mark: belongs to what stands before it
)

// splits reports whether a token ends between two characters. Nothing but the
// two decides, so that a part of a text splits as it does in the whole.
func splits(a, b kind) bool {
	return a == 0 || b == 0 || b&joiner == 0 && (a|b)&single != 0
}

// unblanked are the scripts whose characters are tokens of their own. Hangul is
// none of them: Korean has blanks.
var unblanked = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// ascii holds the folded form of each ASCII letter and digit, 0 for the rest.
var ascii = func() (t [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			t[c] = byte(canonical(r))
		}
	}
	return t
}()

// canonical is the one character that stands for all that differ from r in
// case alone: the lower case of the first letter among them. The iota that is
// a mark, U+0345, counts as the letter.
func canonical(r rune) rune {
	best := r
	for q := unicode.SimpleFold(r); q != r; q = unicode.SimpleFold(q) {
		if was, is := unicode.IsLetter(best), unicode.IsLetter(q); is && !was || is == was && q < best {
			best = q
		}
	}
	low := unicode.ToLower(best)
	for q := unicode.SimpleFold(best); q != best; q = unicode.SimpleFold(q) {
		if q == low {
			return low
		}
	}
	return best
}

// kindOf is the kind of a canonical character.
func kindOf(r rune) kind {
	var k kind
	switch {
	case unicode.IsMark(r):
		k = plain | joiner
	case unicode.IsLetter(r), unicode.IsDigit(r):
		k = plain
	default:
		return 0
	}
	if unicode.In(r, unblanked...) {
		k |= single
	}
	return k
}

// pages remembers what characters fold to and their kinds, in blocks of 256
// that are made when they are first needed. One goroutine uses it at a time.
type pages struct {
	list [(unicode.MaxRune + 1) >> 8]*page
}

type page struct {
	fold [256]rune
	kind [256]kind
}

// look decodes the first character of text, which is not ASCII. Bytes that are
// no UTF-8 separate tokens.
func (p *pages) look(text []byte) (folded rune, k kind, size int) {
	r, size := utf8.DecodeRune(text)
	if r == utf8.RuneError {
		return r, 0, size
	}
	if r >= 0x4e00 && r <= 0x9fff { // Chinese characters, which would fill many pages
		return r, plain | single, size
	}
	pg := p.list[r>>8]
	if pg == nil {
		pg = newPage(r &^ 255)
		p.list[r>>8] = pg
	}
	return pg.fold[r&255], pg.kind[r&255], size
}

func newPage(first rune) *page {
	pg := new(page)
	for i := range pg.fold {
		pg.fold[i] = canonical(first + rune(i))
		pg.kind[i] = kindOf(pg.fold[i])
	}
	return pg
}
