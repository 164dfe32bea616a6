package fingerprint

import (
	"math"
	"strconv"
	"strings"
)

// maxInteger is 2^53, the last integer up to which a double carries each one.
const maxInteger = 1 << 53

// appendNumber writes a JSON number as ECMAScript's Number::toString does
// (RFC 8785 section 3.2.2.3). It refuses one whose double has another decimal
// value, or that is an integer beyond 2^53.
func appendNumber(b []byte, literal, key string) ([]byte, error) {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.Abs(f) > maxInteger && f == math.Trunc(f) {
		return nil, &NumberError{key, literal}
	}
	s := formatNumber(f)
	if normalize(s) != normalize(literal) {
		return nil, &NumberError{key, literal}
	}
	return append(b, s...), nil
}

func formatNumber(f float64) string {
	if f == 0 {
		return "0" // -0 too
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	// Go pads the exponent to two digits, ECMAScript does not.
	if i := strings.IndexByte(s, 'e'); len(s) == i+4 && s[i+2] == '0' {
		s = s[:i+2] + s[i+3:]
	}
	return s
}

// decimal is a number as digits·10^exp without leading or trailing zeros, so
// that equal values are equal however they were written.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

func normalize(s string) decimal {
	var d decimal
	s, d.negative = strings.CutPrefix(s, "-")
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		// An exponent that overflows int belongs to a number that ParseFloat
		// made 0 or refused; the saturated value then differs, as it should.
		d.exp, _ = strconv.Atoi(s[i+1:])
		s = s[:i]
	}
	if whole, frac, ok := strings.Cut(s, "."); ok {
		s, d.exp = whole+frac, d.exp-len(frac)
	}
	s = strings.TrimLeft(s, "0")
	trimmed := strings.TrimRight(s, "0")
	d.exp += len(s) - len(trimmed)
	if d.digits = trimmed; trimmed == "" {
		return decimal{}
	}
	return d
}
