package note

import (
	"bytes"
	"html"
	"unicode/utf8"
)

// target is what stands behind the text of a Markdown link.
type target struct {
	dest  Span // without angle brackets
	angle bool
	title Span // with its quotes; empty without one
	end   int  // behind the closing parenthesis, or behind the line end of a definition
}

// inlineTarget reads (dest "title") from behind the opening parenthesis on (CommonMark 6.3).
func inlineTarget(b []byte, pos int) (target, bool) {
	var t target
	pos = skipSpace(b, pos)
	after, ok := t.readDest(b, pos)
	if !ok {
		return t, false
	}
	gap := skipSpace(b, after)
	t.title = Span{after, after}
	if gap > after && gap < len(b) && b[gap] != ')' {
		end := linkTitle(b, gap)
		if end < 0 {
			return t, false
		}
		t.title = Span{gap, end}
		gap = skipSpace(b, end)
	}
	if gap >= len(b) || b[gap] != ')' {
		return t, false
	}
	t.end = gap + 1
	return t, true
}

// definitionTarget reads the target and the title of a definition up to the end of its last line. A title that the line
// goes on behind is none, if it stands on a line of its own.
func definitionTarget(b []byte, pos int) (target, bool) {
	var t target
	after, ok := t.readDest(b, pos)
	if !ok || after == pos {
		return t, false
	}
	t.title = Span{after, after}
	if gap := skipSpace(b, after); gap > after && gap < len(b) {
		if end := linkTitle(b, gap); end >= 0 {
			if next := skipBlanks(b, end); next == len(b) || isLineEnd(b[next]) {
				t.title, t.end = Span{gap, end}, skipLineEnd(b, next)
				return t, true
			}
		}
	}
	next := skipBlanks(b, after)
	if next < len(b) && !isLineEnd(b[next]) {
		return t, false
	}
	t.end = skipLineEnd(b, next)
	return t, true
}

// readDest reads a link destination at pos, which may be empty, and returns what is behind it.
func (t *target) readDest(b []byte, pos int) (int, bool) {
	if pos < len(b) && b[pos] == '<' {
		for i := pos + 1; i < len(b); i++ {
			switch b[i] {
			case '\\':
				if i+1 < len(b) && isPunctuation(b[i+1]) {
					i++
				}
			case '\n', '\r', '<':
				return 0, false
			case '>':
				t.dest, t.angle = Span{pos + 1, i}, true
				return i + 1, true
			}
		}
		return 0, false
	}
	depth, i := 0, pos
scan:
	for ; i < len(b) && b[i] > ' ' && b[i] != 0x7F; i++ {
		switch b[i] {
		case '\\':
			if i+1 < len(b) && isPunctuation(b[i+1]) {
				i++
			}
		case '(':
			if depth++; depth > maxParens {
				return 0, false
			}
		case ')':
			if depth == 0 {
				break scan
			}
			depth--
		}
	}
	t.dest = Span{pos, i}
	return i, depth == 0
}

// linkTitle reads a title in quotes or parentheses at pos and returns its end, or -1.
func linkTitle(b []byte, pos int) int {
	closer := b[pos]
	switch closer {
	case '(':
		closer = ')'
	case '"', '\'':
	default:
		return -1
	}
	for i := pos + 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case closer:
			return i + 1
		case '(':
			if closer == ')' {
				return -1
			}
		}
	}
	return -1
}

// skipSpace moves over blanks and at most one line end.
func skipSpace(b []byte, pos int) int {
	pos = skipBlanks(b, pos)
	if pos < len(b) && isLineEnd(b[pos]) {
		pos = skipBlanks(b, skipLineEnd(b, pos))
	}
	return pos
}

func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }

// skipLineEnd moves over the line end at pos, if there is one.
func skipLineEnd(b []byte, pos int) int {
	if pos < len(b) && b[pos] == '\r' {
		pos++
		if pos == len(b) || b[pos] != '\n' {
			return pos
		}
	}
	if pos < len(b) && b[pos] == '\n' {
		pos++
	}
	return pos
}

// hasScheme reports whether a target is a URL with a scheme of two letters or more (CommonMark 6.5), such as https,
// mailto or obsidian. A single letter is a drive.
func hasScheme(b []byte) bool {
	if len(b) == 0 || !isAlpha(b[0]) {
		return false
	}
	n := 1
	for n < len(b) && isSchemeByte(b[n]) {
		n++
	}
	return 2 <= n && n <= 32 && n < len(b) && b[n] == ':'
}

func isSchemeByte(c byte) bool { return isAlpha(c) || isDigit(c) || c == '+' || c == '.' || c == '-' }

// Unescape is the destination of a Markdown link without the backslashes before punctuation, and with its entities decoded
// (CommonMark 2.4 and 2.5). Percent escapes stay.
func Unescape(destination string) string { return string(unescape([]byte(destination))) }

// unescape takes the backslashes before punctuation and the entities out of a target (CommonMark 2.4 and 2.5).
func unescape(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 && bytes.IndexByte(b, '&') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '\\' && i+1 < len(b) && isPunctuation(b[i+1]):
			i++
			out = append(out, b[i])
		case b[i] == '&':
			n := entity(b[i:])
			if n == 0 {
				out = append(out, '&')
				continue
			}
			out = append(out, html.UnescapeString(string(b[i:i+n]))...)
			i += n - 1
		default:
			out = append(out, b[i])
		}
	}
	return out
}

// entity is the length of what looks like an entity at the start of b, with its semicolon, or 0.
func entity(b []byte) int {
	for i := 1; i < len(b) && i < 34; i++ {
		if b[i] == ';' {
			if i == 1 {
				return 0
			}
			return i + 1
		}
		if !isAlpha(b[i]) && !isDigit(b[i]) && !(b[i] == '#' && i == 1) {
			return 0
		}
	}
	return 0
}

// decodePercent decodes %XX. What is no escape stays; if the result is not UTF-8, then nothing is decoded, as in the app.
func decodePercent(b []byte) []byte {
	if bytes.IndexByte(b, '%') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '%' && i+2 < len(b) {
			if hi, lo := hexDigit(b[i+1]), hexDigit(b[i+2]); hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, b[i])
	}
	if !utf8.Valid(out) {
		return b
	}
	return out
}

func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
