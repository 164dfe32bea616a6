package note

import (
	"unicode"

	"golang.org/x/text/width"
)

// DisplayWidth is the number of columns that a text takes in a font of even width: wide characters and emoji take two,
// marks that stand on others none.
func DisplayWidth(s string) int {
	total, last, joined := 0, 0, false // last is the width of the character before
	for _, r := range s {
		w := runeWidth(r)
		switch {
		case joined, 0x1F3FB <= r && r <= 0x1F3FF && last == 2: // joined to the one before, or its skin tone
			w = 0
		case r == 0xFE0F && last == 1: // shown as an emoji
			w = 1
		}
		joined = r == 0x200D
		total += w
		if w > 0 {
			last = w
		} else if r == 0xFE0F {
			last = 2
		}
	}
	return total
}

func runeWidth(r rune) int {
	switch {
	case r < 0x20 || r == 0x7F:
		if r == '\t' {
			return 1
		}
		return 0
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
