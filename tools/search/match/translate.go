package match

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"vault-mcp/internal/fault"
)

// jsSpace is what \s means in JavaScript (ECMA-262, WhiteSpace and
// LineTerminator), as the inside of a class; jsNoSpace is all else.
const (
	jsSpace   = `\t-\r\x20\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	jsNoSpace = `\x{0}-\x08\x0e-\x1f\x21-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
)

// translate turns a JavaScript regular expression, as with the flag u, into
// RE2's syntax. What RE2 cannot do in linear time is refused by name.
func translate(pattern string) (string, error) {
	t := translator{in: pattern}
	for t.pos < len(t.in) {
		if err := t.step(t.in[t.pos:]); err != nil {
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

func (t *translator) copy(n int, as string) error {
	t.pos += n
	t.out.WriteString(as)
	return nil
}

// step translates what comes next.
func (t *translator) step(rest string) error {
	switch {
	case rest[0] == '\\':
		return t.escape(rest)
	case t.class:
		return t.inClass(rest)
	case rest[0] == '(':
		return t.group(rest)
	case strings.HasPrefix(rest, "[^]"):
		return t.copy(3, `[\x{0}-\x{10FFFF}]`)
	case strings.HasPrefix(rest, "[]"):
		return t.copy(2, `[^\x{0}-\x{10FFFF}]`)
	case rest[0] == '[':
		t.class = true
		if strings.HasPrefix(rest, "[^") {
			return t.copy(2, "[^")
		}
	case rest[0] == '\r':
		return t.lineEnd(rest, 1, "\n")
	}
	return t.copy(1, rest[:1])
}

func (t *translator) inClass(rest string) error {
	switch rest[0] {
	case ']':
		t.class = false
	case '[': // a plain character here, but not for RE2
		return t.copy(1, `\[`)
	}
	return t.copy(1, rest[:1])
}

// lineEnd translates a CR of n bytes. Texts are searched with every line end
// as LF, so that CR LF in a pattern is one character.
func (t *translator) lineEnd(rest string, n int, lf string) error {
	if strings.HasPrefix(rest[n:], lf) {
		if next := rest[n+len(lf):]; next == "" || strings.IndexByte("?*+{", next[0]) < 0 {
			return t.copy(n+len(lf), `\n`)
		}
	}
	return t.copy(n, `\r`)
}

// lookArounds are the openings of groups that look around.
var lookArounds = []struct{ open, name string }{
	{"(?<=", "look-behind"}, {"(?<!", "negative look-behind"}, {"(?=", "look-ahead"}, {"(?!", "negative look-ahead"},
}

// group translates the opening of a group.
func (t *translator) group(rest string) error {
	for _, g := range lookArounds {
		if strings.HasPrefix(rest, g.open) {
			return t.refuse(g.name, g.open)
		}
	}
	if !strings.HasPrefix(rest, "(?") {
		return t.copy(1, "(")
	}
	end := strings.IndexAny(rest, ":)>")
	if end < 0 {
		return t.copy(1, "(")
	}
	head := rest[:end+1]
	switch {
	case strings.HasPrefix(head, "(?<") && head[end] == '>' && end > 3: // what it matches is not told apart
		return t.copy(len(head), "(")
	case head[end] != '>' && strings.Trim(head[2:end], "imsu-") == "":
		return t.modifiers(head)
	case head[end] != '>' && strings.Contains(head[2:end], "U"):
		return refuse("The pattern uses %s, which is not JavaScript.", head)
	}
	return t.copy(1, "(")
}

// modifiers translates (?i:, and (?i) that other dialects have. The flags m
// and u are always on.
func (t *translator) modifiers(head string) error {
	on, off, minus := strings.Cut(head[2:len(head)-1], "-")
	if strings.ContainsAny(off, "mu") {
		return refuse("The flags m and u cannot be turned off (%s).", head)
	}
	drop := strings.NewReplacer("m", "", "u", "")
	flags := drop.Replace(on)
	if minus && off != "" {
		flags += "-" + off
	}
	if head[len(head)-1] == ')' && flags == "" {
		return t.copy(len(head), "(?:)")
	}
	return t.copy(len(head), "(?"+flags+head[len(head)-1:])
}

func refuse(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidInput, format, args...).With("argument", "pattern")
}

func (t *translator) refuse(name, construct string) error {
	return refuse("The pattern uses %s (%s), which does not exist here: searches run in linear time.", name, construct).
		With("construct", construct).With("name", name)
}

func (t *translator) escape(rest string) error {
	if len(rest) < 2 {
		return refuse(`The pattern ends with a single \.`)
	}
	switch c := rest[1]; {
	case c == 's' && t.class:
		return t.copy(2, jsSpace)
	case c == 's':
		return t.copy(2, "["+jsSpace+"]")
	case c == 'S' && t.class:
		return t.copy(2, jsNoSpace)
	case c == 'S':
		return t.copy(2, "[^"+jsSpace+"]")
	case c == 'b' && t.class:
		return t.copy(2, `\x08`)
	case c == 'r' && !t.class:
		return t.lineEnd(rest, 2, `\n`)
	case c == 'v':
		return t.copy(2, `\x0b`)
	case strings.IndexByte("dDwWbBnrtf", c) >= 0:
		return t.copy(2, rest[:2])
	case c >= '0' && c <= '9':
		return t.digit(rest)
	case c == 'k' && strings.HasPrefix(rest, `\k<`):
		return t.refuse("a back-reference", `\k`)
	case c == 'u':
		return t.unicode(rest)
	case c == 'x' && len(rest) >= 4 && isHex(rest[2:4]):
		return t.copy(4, rest[:4])
	case c == 'c' && len(rest) >= 3 && isLetter(rest[2]):
		return t.copy(3, fmt.Sprintf(`\x%02x`, rest[2]&31))
	case c == 'p' || c == 'P':
		return t.property(rest)
	case isLetter(c):
		return unknownEscape(rest[:2])
	case c >= utf8.RuneSelf:
		return t.copy(1, "") // it stands for itself
	}
	return t.copy(2, rest[:2])
}

// unknownEscape refuses what is no escape in JavaScript, or not complete: other
// dialects give it a meaning, so that to take it for the letter would find
// nothing and say nothing.
func unknownEscape(escape string) error {
	hint := ""
	switch escape[1] {
	case 'A':
		hint = "; use ^"
	case 'z', 'Z':
		hint = "; use $"
	case 'x', 'u':
		hint = `; use \xhh, \uhhhh or \u{h…} with hexadecimal digits`
	}
	return refuse("The pattern uses %s, which is no escape in JavaScript%s.", escape, hint)
}

func (t *translator) digit(rest string) error {
	octal := len(rest) > 2 && '0' <= rest[2] && rest[2] <= '9'
	switch {
	case rest[1] == '0' && !octal:
		return t.copy(2, `\x00`)
	case rest[1] == '0' || t.class:
		return refuse("The pattern uses an octal escape (%s); use \\xhh.", rest[:2])
	}
	return t.refuse("a back-reference", rest[:2])
}

// unicode translates \u1234, \u{1234} and a pair of surrogates.
func (t *translator) unicode(rest string) error {
	if strings.HasPrefix(rest, `\u{`) {
		end := strings.IndexByte(rest, '}')
		if end < 0 || !isHex(rest[3:end]) {
			return unknownEscape(rest[:2])
		}
		return t.copy(end+1, `\x{`+rest[3:end]+`}`)
	}
	r, ok := codeUnit(rest)
	if !ok {
		return unknownEscape(rest[:2])
	}
	n := 6
	if low, ok := codeUnit(rest[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			r, n = pair, 12
		}
	}
	return t.copy(n, fmt.Sprintf(`\x{%x}`, r))
}

func codeUnit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' || !isHex(s[2:6]) {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

// property translates \p{Script=Greek} and its short forms.
func (t *translator) property(rest string) error {
	end := strings.IndexByte(rest, '}')
	if len(rest) < 3 || rest[2] != '{' || end < 0 {
		return refuse("The pattern uses %s without a property in braces.", rest[:2])
	}
	name := rest[3:end]
	if key, value, ok := strings.Cut(name, "="); ok {
		switch key {
		case "Script", "sc", "Script_Extensions", "scx", "General_Category", "gc":
			name = value
		}
	}
	return t.copy(end+1, rest[:2]+"{"+name+"}")
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
