package compact

import (
	"encoding/json"
	"strings"
)

// Lines says in lines what a JSON object says: a scalar as "key: value", a
// list of objects as one row each under its column names. It drops nothing, so
// that a client which shows only the text misses nothing, and repeats no key.
func Lines(object json.RawMessage) string {
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

func writeMember(b *strings.Builder, m member) {
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
	parsed := make([][]member, len(items))
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

// Cells calls each with every column that an object has in a table of Lines, and
// how many bytes its cell takes within a JSON string. It reports false for what
// is no object.
func Cells(row json.RawMessage, each func(column string, size int)) bool {
	members, ok := membersOf(row)
	for _, m := range members {
		each(m.key, StringLen(cell(m.value))-len(`""`))
	}
	return ok
}
