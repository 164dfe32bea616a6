package rename

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape reads the escape of JSON, or of a quote, at the start of b: what it stands for, and its length, or 0 if it is
// none.
func unescape(b []byte, quote byte) (out []byte, n int) {
	if len(b) < 2 {
		return nil, 0
	}
	if b[1] == quote {
		return b[1:2], 2
	}
	if i := strings.IndexByte(`"\/bfnrt`, b[1]); i >= 0 {
		return []byte{"\"\\/\b\f\n\r\t"[i]}, 2
	}
	r, ok := unit(b)
	if !ok {
		return nil, 0
	}
	n = 6
	if utf16.IsSurrogate(r) {
		low, ok := unit(b[n:])
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			return nil, 0
		}
		n = 12
	}
	return utf8.AppendRune(nil, r), n
}

// unit reads \uXXXX.
func unit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(v), err == nil
}

// quoted writes a text as it stands between quotes that know backslashes.
func quoted(s string, quote byte) string {
	if strings.IndexFunc(s, func(r rune) bool { return r == rune(quote) || r == '\\' || r < ' ' }) < 0 {
		return s
	}
	var out strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == quote || c == '\\':
			out.Write([]byte{'\\', c})
		case c < ' ':
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// doubled writes a text as it stands between the single quotes of YAML.
func doubled(s string) string { return strings.ReplaceAll(s, "'", "''") }
