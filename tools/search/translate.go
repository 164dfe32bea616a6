package search

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"vault-mcp/internal/fault"
)

// jsSpace is what \s means in JavaScript (ECMA-262, WhiteSpace and
// LineTerminator), as the inside of a class.
const jsSpace = `\t-\r\x20\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

// translate turns a JavaScript regular expression into RE2's syntax. What RE2
// cannot do in linear time is refused by name.
func translate(pattern string) (string, error) {
	t := translator{in: pattern}
	for t.pos < len(t.in) {
		if err := t.step(); err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

type translator struct {
	in    string
	pos   int
	out   strings.Builder
	class bool // inside [ ]
}

// groups are the openings of groups that look around.
var groups = []struct{ open, name string }{
	{"(?<=", "look-behind"}, {"(?<!", "negative look-behind"}, {"(?=", "look-ahead"}, {"(?!", "negative look-ahead"},
}

func (t *translator) step() error {
	rest := t.in[t.pos:]
	if rest[0] == '\\' {
		return t.escape(rest)
	}
	if t.class {
		switch rest[0] {
		case ']':
			t.class = false
		case '[': // a plain character here, but not for RE2
			t.copy(1, `\[`)
			return nil
		}
		t.copy(1, rest[:1])
		return nil
	}
	switch rest[0] {
	case '(':
		for _, g := range groups {
			if strings.HasPrefix(rest, g.open) {
				return t.refuse(g.name, g.open)
			}
		}
	case '[':
		switch {
		case strings.HasPrefix(rest, "[^]"):
			t.copy(3, `[\x{0}-\x{10FFFF}]`)
			return nil
		case strings.HasPrefix(rest, "[]"):
			t.copy(2, `[^\x{0}-\x{10FFFF}]`)
			return nil
		}
		t.class = true
		if strings.HasPrefix(rest, "[^") {
			t.copy(2, "[^")
			return nil
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	t.copy(size, rest[:size])
	return nil
}

func (t *translator) copy(n int, as string) {
	t.pos += n
	t.out.WriteString(as)
}

func (t *translator) refuse(name, construct string) error {
	return fault.New(fault.InvalidInput, "The pattern uses %s (%s), which does not exist here: searches run in linear time.", name, construct).
		With("argument", "pattern").With("construct", construct).With("name", name)
}

func (t *translator) escape(rest string) error {
	if len(rest) < 2 {
		return fault.New(fault.InvalidInput, `The pattern ends with a single \.`).With("argument", "pattern")
	}
	switch c := rest[1]; {
	case c >= '1' && c <= '9' && !t.class:
		return t.refuse("a back-reference", rest[:2])
	case c == 'k' && strings.HasPrefix(rest, `\k<`):
		return t.refuse("a back-reference", `\k`)
	case c == 's' && t.class:
		t.copy(2, jsSpace)
	case c == 's':
		t.copy(2, "["+jsSpace+"]")
	case c == 'S' && !t.class:
		t.copy(2, "[^"+jsSpace+"]")
	case c == 'b' && t.class:
		t.copy(2, `\x08`)
	case c == 'v':
		t.copy(2, `\x0b`)
	case c == '0':
		t.copy(2, `\x00`)
	case c == 'u':
		t.unicode(rest)
	case c == 'x' && len(rest) >= 4 && isHex(rest[2:4]):
		t.copy(4, rest[:4])
	case c == 'c' && len(rest) >= 3 && isLetter(rest[2]):
		t.copy(3, fmt.Sprintf(`\x%02x`, rest[2]&31))
	case (c == 'p' || c == 'P') && strings.HasPrefix(rest[2:], "{"):
		t.property(rest)
	case strings.IndexByte("dDwWSbBnrtf", c) >= 0:
		t.copy(2, rest[:2])
	case isLetter(c): // any other letter stands for itself
		t.copy(2, rest[1:2])
	default:
		_, size := utf8.DecodeRuneInString(rest[1:])
		if c >= utf8.RuneSelf {
			t.copy(1+size, rest[1:1+size])
		} else {
			t.copy(2, rest[:2])
		}
	}
	return nil
}

// unicode translates \u1234, \u{1234} and a pair of surrogates.
func (t *translator) unicode(rest string) {
	if strings.HasPrefix(rest, `\u{`) {
		if end := strings.IndexByte(rest, '}'); end > 3 && isHex(rest[3:end]) {
			t.copy(end+1, `\x{`+rest[3:end]+`}`)
			return
		}
	}
	r, ok := codeUnit(rest)
	if !ok {
		t.copy(2, "u")
		return
	}
	n := 6
	if utf16.IsSurrogate(r) {
		if low, ok := codeUnit(rest[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				r, n = pair, 12
			}
		}
	}
	t.copy(n, fmt.Sprintf(`\x{%x}`, r))
}

func codeUnit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' || !isHex(s[2:6]) {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

// property translates \p{Script=Greek} and its short forms.
func (t *translator) property(rest string) {
	end := strings.IndexByte(rest, '}')
	if end < 0 {
		t.copy(2, rest[:2])
		return
	}
	name := rest[3:end]
	for _, prefix := range []string{"Script=", "sc=", "Script_Extensions=", "scx=", "General_Category=", "gc="} {
		name = strings.TrimPrefix(name, prefix)
	}
	if short, ok := categories[name]; ok {
		name = short
	}
	t.copy(end+1, rest[:2]+"{"+name+"}")
}

// categories are the long names of the general categories that RE2 knows only
// by the short one.
var categories = map[string]string{
	"Letter": "L", "Lowercase_Letter": "Ll", "Uppercase_Letter": "Lu", "Mark": "M", "Number": "N",
	"Decimal_Number": "Nd", "Punctuation": "P", "Symbol": "S", "Separator": "Z", "Space_Separator": "Zs", "Other": "C",
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; !('0' <= s[i] && s[i] <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return s != ""
}

func isLetter(c byte) bool { c |= 0x20; return 'a' <= c && c <= 'z' }
