package tools

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Clock writes a time as every tool does: RFC 3339 with offset.
func Clock(t time.Time) string { return t.Format(time.RFC3339) }

// appendJSON appends s as a JSON string. Bytes that are no UTF-8 become
// U+FFFD; nothing is escaped that need not be.
func appendJSON(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x80 && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= 0x80 {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			b = append(append(b, s[start:i]...), "\uFFFD"...)
			i++
			start = i
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// EncodedLen is how many bytes a text takes in an answer, as a JSON string
// with its quotes.
func EncodedLen(s string) int {
	n := len(s) + 2
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				n += len("\uFFFD") - 1
			}
			i += size
			continue
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
			n++
		case c < 0x20:
			n += len(`\u0000`) - 1
		}
		i++
	}
	return n
}

// Compact says in lines what a JSON object says: a scalar as "key: value", a
// list of objects as one row each under its column names. It drops nothing, so
// that a client which shows only the text misses nothing, and repeats no key.
func Compact(object json.RawMessage) string {
	members, ok := membersOf(object)
	if !ok {
		return string(object)
	}
	var b strings.Builder
	for _, m := range members {
		writeMember(&b, m)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeMember(b *strings.Builder, m jsonMember) {
	b.WriteString(m.key)
	b.WriteByte(':')
	if m.value[0] != '[' {
		b.WriteByte(' ')
		b.WriteString(cell(m.value))
		b.WriteByte('\n')
		return
	}
	items := itemsOf(m.value)
	if len(items) == 0 {
		b.WriteString(" none\n")
		return
	}
	rows, columns, ok := table(items)
	if ok {
		b.WriteString(" [" + strings.Join(columns, " | ") + "]")
	}
	b.WriteByte('\n')
	for i, it := range items {
		b.WriteString("- ")
		if ok {
			b.WriteString(strings.Join(rows[i], " | "))
		} else {
			b.WriteString(cell(it))
		}
		b.WriteByte('\n')
	}
}

// table lays objects out in the union of their keys.
func table(items []json.RawMessage) (rows [][]string, columns []string, ok bool) {
	at := map[string]int{}
	parsed := make([][]jsonMember, len(items))
	for i, it := range items {
		if parsed[i], ok = membersOf(it); !ok {
			return nil, nil, false
		}
		for _, m := range parsed[i] {
			if _, seen := at[m.key]; !seen {
				at[m.key] = len(columns)
				columns = append(columns, m.key)
			}
		}
	}
	for _, ms := range parsed {
		row := make([]string, len(columns))
		for _, m := range ms {
			row[at[m.key]] = cell(m.value)
		}
		rows = append(rows, row)
	}
	return rows, columns, true
}

// cell is a value in one line. A string stands bare if it cannot be taken for
// anything else.
func cell(raw json.RawMessage) string {
	if raw[0] != '"' {
		return string(raw)
	}
	s := unquote(raw)
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsAny(s, "\n\r\t") || strings.Contains(s, " | ") || looksTyped(s) {
		return string(raw)
	}
	return s
}

// looksTyped reports whether a bare string would read as another JSON value.
func looksTyped(s string) bool {
	switch c := s[0]; {
	case c == '"', c == '{', c == '[':
		return true
	case c == '-', '0' <= c && c <= '9', c == 't', c == 'f', c == 'n':
		return json.Valid([]byte(s))
	}
	return false
}
