// Package terms answers which notes hold a text, and ranks notes by words, from
// memory. It decides what the words of a text are, keeps the list of all words
// and where each occurs, and does no I/O: whoever owns it stores the words and
// one vector a note, and loads them again.
//
// What it finds is what a scan of the texts finds that ignores case by
// Unicode's simple folding and looks for a text as it is written, composed
// (NFC) and decomposed (NFD). So texts are never normalised here; queries are
// looked for in all three forms.
package terms

import (
	"fmt"
	"hash/maphash"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// MaxTerm is the longest term in bytes, folded. Longer runs of letters, as in
// encoded data, are no terms: all of them together are counted as the empty
// term, and a document that has one is a candidate for every text.
const MaxTerm = 128

// mark stands around terms in a pile. No UTF-8 has this byte.
const mark = 0xff

// seed makes the places of terms in tables unpredictable to those who write
// notes. It never changes.
var seed = maphash.MakeSeed()

func hashOf(term []byte) uint32 { return uint32(maphash.Bytes(seed, term)) }

// Format names what stored terms and vectors depend on: how they are written
// and the tables of characters. What was stored under another name is of no
// use.
func Format() string { return fmt.Sprintf("1/%s/%s", unicode.Version, norm.Version) }
