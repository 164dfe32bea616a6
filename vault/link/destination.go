package link

import (
	"strings"
	"unicode/utf8"
)

// The length of a URL scheme (CommonMark 0.31, 6.5). One letter before a colon is a drive of Windows.
const (
	minScheme = 2
	maxScheme = 32
)

// External reports whether a Markdown destination begins with a URL scheme, such as https:, mailto: or obsidian:, so that
// it leads out of the vault. "C:/x" does not.
func External(destination string) bool {
	for i := range len(destination) {
		c := destination[i]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return c == ':' && i >= minScheme && i <= maxScheme
		}
	}
	return false
}

// Decode is the target that a Markdown destination means: %20 and the like are decoded once. What is no escape stays, as
// do escapes that would not be UTF-8.
func Decode(destination string) string {
	if strings.IndexByte(destination, '%') < 0 {
		return destination
	}
	var out strings.Builder
	out.Grow(len(destination))
	for i := 0; i < len(destination); {
		end := i
		for isEscape(destination, end) {
			end += 3
		}
		if end == i {
			out.WriteByte(destination[i])
			i++
			continue
		}
		if decoded := unescape(destination[i:end]); utf8.ValidString(decoded) {
			out.WriteString(decoded)
		} else {
			out.WriteString(destination[i:end])
		}
		i = end
	}
	return out.String()
}

// isEscape reports whether % and two hexadecimal digits stand at i.
func isEscape(s string, i int) bool {
	return i+2 < len(s) && s[i] == '%' && hex(s[i+1]) >= 0 && hex(s[i+2]) >= 0
}

// unescape decodes a text of nothing but escapes.
func unescape(s string) string {
	out := make([]byte, 0, len(s)/3)
	for i := 0; i < len(s); i += 3 {
		out = append(out, byte(hex(s[i+1])<<4|hex(s[i+2])))
	}
	return string(out)
}

func hex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// balanced reports whether each parenthesis has its other one, none more than 32 deep (CommonMark 0.31, 6.3).
func balanced(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 || depth > 32 {
			return false
		}
	}
	return depth == 0
}

// cutDestination takes the destination off what stands in the parentheses of a Markdown link, without its angle brackets,
// and returns what is left behind white space: a title, if anything.
func cutDestination(s string) (dest, rest string, ok bool) {
	if angled, found := strings.CutPrefix(s, "<"); found {
		end := strings.IndexAny(angled, "<>\r\n")
		if end < 0 || angled[end] != '>' {
			return "", "", false
		}
		dest, rest = angled[:end], angled[end+1:]
	} else {
		end := 0
		for end < len(s) && s[end] > ' ' && s[end] != 0x7f {
			end++
		}
		dest, rest = s[:end], s[end:]
		if !balanced(dest) {
			return "", "", false
		}
	}
	title := strings.TrimLeft(rest, " \t\n")
	return dest, title, title == "" || len(title) < len(rest)
}

// isTitle reports whether s is the title of a Markdown link: "…", '…' or (…).
func isTitle(s string) bool {
	if len(s) < 2 {
		return false
	}
	closer := s[0]
	switch closer {
	case '(':
		closer = ')'
	case '"', '\'':
	default:
		return false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case closer:
			return i == len(s)-1
		}
	}
	return false
}
