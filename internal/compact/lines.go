package compact

import (
	"encoding/json"
	"strings"
)

// Lines says in lines what a JSON object says: a scalar as "key: value", a
// list of objects as one row each under its column names. It drops nothing, so
// that a client which shows only the text misses nothing, and repeats no key.
func Lines(object json.RawMessage) string {
	members, ok := Members(object)
	if !ok {
		return string(object)
	}
	var b strings.Builder
	for _, m := range members {
		writeMember(&b, m)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeMember(b *strings.Builder, m Member) {
	b.WriteString(m.Key)
	b.WriteByte(':')
	if m.Value[0] != '[' {
		b.WriteByte(' ')
		b.WriteString(Cell(m.Value))
		b.WriteByte('\n')
		return
	}
	items := itemsOf(m.Value)
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
			b.WriteString(Cell(it))
		}
		b.WriteByte('\n')
	}
}

// table lays objects out in the union of their keys.
func table(items []json.RawMessage) (rows [][]string, columns []string, ok bool) {
	at := map[string]int{}
	parsed := make([][]Member, len(items))
	for i, it := range items {
		if parsed[i], ok = Members(it); !ok {
			return nil, nil, false
		}
		for _, m := range parsed[i] {
			if _, seen := at[m.Key]; !seen {
				at[m.Key] = len(columns)
				columns = append(columns, m.Key)
			}
		}
	}
	for _, ms := range parsed {
		row := make([]string, len(columns))
		for _, m := range ms {
			row[at[m.Key]] = Cell(m.Value)
		}
		rows = append(rows, row)
	}
	return rows, columns, true
}

// Cell is a value in one line. A string stands bare if it cannot be taken for
// anything else.
func Cell(raw json.RawMessage) string {
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
