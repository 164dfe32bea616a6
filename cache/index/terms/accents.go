package terms

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FoldDiacritics lists the numbers of the terms that equal term, or any of whose
// accents are other ones or missing: café for cafe, and cafe for café.
//
// Accents are the combining marks U+0300 to U+036F of the decomposed term, so
// those of Latin, Greek and Cyrillic; vowel signs of other scripts are not, and
// ø, ł and ß are letters of their own.
//
// A term that has accents takes some 20 bytes and half a microsecond more in
// the dictionary, other terms nothing. A lookup scans the terms that have
// accents: 0.1 ms for some 30,000 of them.
func (d *Dictionary) FoldDiacritics(term []byte) []uint32 {
	base, ok := unaccented(term)
	if !ok {
		base = term
	}
	d.mu.RLock()
	id, known := d.find(base, hashOf(base))
	accented, ids := d.base, d.baseOf
	d.mu.RUnlock()
	var found []uint32
	if known {
		found = append(found, id)
	}
	if len(base) > 0 {
		accented.find(pattern(base, true, true), func(i, _ uint32) { found = append(found, ids[i]) })
	}
	slices.Sort(found)
	return found
}

// unaccented is a term without accents, if it has any. A term of accents alone
// stays as it is.
func unaccented(term []byte) (base []byte, ok bool) {
	i := 0
	for i < len(term) && term[i] < utf8.RuneSelf {
		i++
	}
	if i == len(term) {
		return nil, false
	}
	apart := norm.NFD.Append(nil, term...) // not Bytes, which may return term itself
	kept := apart[:0]
	for _, r := range string(apart) {
		if r < 0x300 || r > 0x36f {
			kept = utf8.AppendRune(kept, r)
		}
	}
	base = fold(string(norm.NFC.Bytes(kept)))
	if len(base) == 0 || string(base) == string(term) {
		return nil, false
	}
	return base, true
}
