package note

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// yamlWriter writes values as YAML that every reader takes for the same: YAML 1.2, which the app reads, and YAML 1.1, which
// many other programs do.
type yamlWriter struct {
	dash  int  // how far the dashes of a list are indented against their key
	quote bool // strings and keys in flow collections are all double-quoted, as in JSON
	dates bool // strings that look like dates are quoted too
}

// written is a value: what stands behind the colon or the dash, and the lines below, without line ends.
type written struct {
	head string
	tail []string
}

// block writes the value of a key that is indented by the given blanks.
func (w yamlWriter) block(v any, indent string) written {
	switch v := v.(type) {
	case nil:
		return written{}
	case string:
		if mark, ok := literalMark(v); ok {
			return written{mark, literalLines(v, indent+"  ")}
		}
	case []any:
		if len(v) == 0 {
			break
		}
		var out written
		for _, c := range v {
			out.tail = append(out.tail, w.item(c, indent+strings.Repeat(" ", w.dash), "- ")...)
		}
		return out
	case *Map:
		if v.Len() > 0 {
			return written{tail: w.fields(v, indent+"  ")}
		}
	}
	return written{head: w.flow(v, false)}
}

// item writes an item of a block list; mark is its dash and the blanks behind it.
func (w yamlWriter) item(v any, indent, mark string) []string {
	switch v := v.(type) {
	case string:
		if literal, ok := literalMark(v); ok {
			return append([]string{indent + mark + literal}, literalLines(v, indent+"  ")...)
		}
	case *Map:
		if v.Len() > 0 {
			inner := indent + strings.Repeat(" ", len(mark))
			lines := w.fields(v, inner)
			lines[0] = indent + mark + lines[0][len(inner):]
			return lines
		}
	}
	return []string{indent + mark + w.flow(v, false)}
}

// fields writes the lines of a block mapping.
func (w yamlWriter) fields(m *Map, indent string) []string {
	var lines []string
	for _, k := range m.keys {
		lines = append(lines, w.field(k, m.values[k], indent)...)
	}
	return lines
}

func (w yamlWriter) field(key string, v any, indent string) []string {
	value := w.block(v, indent)
	line := indent + w.key(key, false) + ":"
	if value.head != "" {
		line += " " + value.head
	}
	return append([]string{line}, value.tail...)
}

// flow writes a value in one line. inside says that it stands between brackets.
func (w yamlWriter) flow(v any, inside bool) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case sourced:
		return v.source
	case bool:
		return keyString(v)
	case string:
		return w.text(v, inside)
	case []any:
		parts := make([]string, len(v))
		for i, c := range v {
			parts[i] = w.flow(c, true)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *Map:
		parts := make([]string, v.Len())
		for i, k := range v.keys {
			parts[i] = w.flowField(k, v.values[k])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return keyString(v)
}

func (w yamlWriter) flowField(key string, v any) string {
	return w.key(key, true) + ": " + w.flow(v, true)
}

// key writes a key. Unlike as a value, a date is quoted, so that no reader takes the key for something else than a text,
// and so is what would end the block at the start of a line.
func (w yamlWriter) key(key string, inside bool) string {
	if inside && w.quote {
		return quoteDouble(key)
	}
	if dateLike(key) || strings.HasPrefix(key, "---") || strings.HasPrefix(key, "...") || !plainText(key, inside) {
		return quoteText(key)
	}
	return key
}

func (w yamlWriter) text(s string, inside bool) string {
	switch {
	case inside && w.quote:
		return quoteDouble(s)
	case w.dates && dateLike(s) || !plainText(s, inside):
		return quoteText(s)
	}
	return s
}

// literalMark is the head of the block scalar that a text of several lines is written as. Texts that a block scalar would
// change or hide something of, such as blanks at its start, are written in quotes.
func literalMark(s string) (string, bool) {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") || isBlank(body[0]) {
		return "", false
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" && blankLine([]byte(line)) {
			return "", false
		}
	}
	for _, r := range s {
		if r == '\r' || refused(r) {
			return "", false
		}
	}
	if body[0] == '\n' || body[len(body)-1] == '\n' {
		return "", false
	}
	if len(body) < len(s) {
		return "|", true
	}
	return "|-", true
}

func literalLines(s, indent string) []string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = indent + l
		}
	}
	return lines
}

// yaml11 are the plain scalars to which YAML 1.1 gives a meaning and YAML 1.2 does not (the types bool, int, float, null,
// timestamp, merge and value of its type repository). Dates are told by dateLike.
var yaml11 = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?i:yes|no|on|off|true|false|null)` +
		`|[-+]?0b[01_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|[-+]?\.[0-9_]+(?:[eE][-+]?[0-9]+)?` +
		`|[-+]?[0-9][0-9_]*(?::[0-9]?[0-9])+(?:\.[0-9_]*)?|[-+]?\.(?i:inf|nan)` +
		`|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?|<<|=)$`)
})

var dateText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[-+][0-9]{2}:?[0-9]{2})?)?$`)
})

// dateLike reports whether s is a date or time as the app writes them, without quotes: YYYY-MM-DD, YYYY-MM-DDTHH:mm:ss.
func dateLike(s string) bool { return dateText().MatchString(s) }

// plainText reports whether a string can stand without quotes, and still be that string. inside says that it stands
// between brackets.
func plainText(s string, inside bool) bool {
	if s == "" || s[len(s)-1] == ' ' || s[len(s)-1] == ':' {
		return false
	}
	switch c := s[0]; c {
	case '-', '?', ':':
		if len(s) == 1 || s[1] == ' ' || inside && c != '-' {
			return false
		}
		if inside && strings.IndexByte(",[]{}", s[1]) >= 0 {
			return false
		}
	case ' ', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || inside && strings.ContainsAny(s, ",[]{}?") { // YAML 1.1 ends a text between brackets at ?
		return false
	}
	for _, r := range s {
		if r == '\t' || r == '\n' || r == '\r' || refused(r) {
			return false
		}
	}
	if dateLike(s) {
		return true
	}
	_, text := resolveScalar(s).(string)
	return text && !yaml11().MatchString(s)
}

// quoteText writes a string in double quotes, or in single ones if that saves escapes.
func quoteText(s string) string {
	if strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'") {
		single := true
		for _, r := range s {
			single = single && r != '\t' && r != '\n' && r != '\r' && !refused(r)
		}
		if single {
			return "'" + s + "'"
		}
	}
	return quoteDouble(s)
}

// quoteDouble writes a string as JSON does, which is YAML too.
func quoteDouble(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case refused(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
