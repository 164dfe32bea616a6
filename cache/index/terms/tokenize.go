package terms

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// Token is a word of a text.
type Token struct {
	// Term is the token without case; empty if it is longer than MaxTerm. It is
	// valid until the next token is asked for.
	Term []byte
	// Start and End are the token's place in the text, in bytes.
	Start, End int
}

// Tokenize lists the tokens of a text in order: the longest runs of letters,
// digits and marks. A character of Chinese, Japanese kana, Thai, Lao, Khmer or
// Burmese is a token of its own, with the marks that follow it; Korean, which
// has blanks, has runs. Everything else separates tokens, the underscore and
// bytes that are no UTF-8 among them.
//
// Letters that differ only in case by Unicode's simple folding are one: the
// Kelvin sign is a k, a long s an s. Accents stay, and so does the difference
// between composed and decomposed letters.
func Tokenize(text []byte) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		var p pages
		var term []byte
		for at := 0; ; {
			var t Token
			term, t.Start, t.End = p.next(term[:0], text, at)
			if t.Start < 0 {
				return
			}
			t.Term, at = term, t.End
			if !yield(t) {
				return
			}
		}
	}
}

// next appends the term of the first token at or after at to dst, nothing if
// it is too long. start is -1 if there is no token left.
func (p *pages) next(dst, text []byte, at int) (_ []byte, start, end int) {
	at = p.skip(text, at)
	if at == len(text) {
		return dst, -1, -1
	}
	start = at
	base := len(dst)
	dst = slices.Grow(dst, MaxTerm+utf8.UTFMax)
	w := dst[base : base+MaxTerm+utf8.UTFMax]
	n, long := 0, false
	var last kind
	for at < len(text) {
		if c := text[at]; c < utf8.RuneSelf {
			t := ascii[c]
			if t == 0 || last&single != 0 {
				break
			}
			w[n], last = t, plain
			n++
			at++
		} else {
			r, k, size := p.look(text[at:])
			if at > start && splits(last, k) {
				break
			}
			n += utf8.EncodeRune(w[n:], r)
			at += size
			last = k
		}
		if n > MaxTerm {
			n, long = 0, true
		}
	}
	if long {
		n = 0
	}
	return dst[:base+n], start, at
}

// skip is the place of the first character of a token at or after at.
func (p *pages) skip(text []byte, at int) int {
	for at < len(text) {
		if c := text[at]; c < utf8.RuneSelf {
			if ascii[c] != 0 {
				break
			}
			at++
			continue
		}
		_, k, size := p.look(text[at:])
		if k != 0 {
			break
		}
		at += size
	}
	return at
}

// fold is a text without case, character by character.
func fold(text string) []byte {
	folded := make([]byte, 0, len(text))
	for _, r := range text {
		folded = utf8.AppendRune(folded, canonical(r))
	}
	return folded
}
