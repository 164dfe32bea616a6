package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"vault-mcp/internal/clients"
)

// errOtherForm is an entry that is not written as a table of its own, so that it
// cannot be changed without touching what stands around it.
var errOtherForm = errors.New("the entry is written in a form that is not edited here (an inline table or dotted keys): change it by hand")

// header is a line like [a.b].
type header struct {
	path  []string
	array bool
	at    int // where its line begins
	keys  []keyValue
}

// keyValue is a line, or several, like a.b = 1.
type keyValue struct {
	path     []string // from the header on
	at       int
	from, to int // its value
}

// outline is where the tables and keys of a text are. What stands before the first
// header has one without a path.
func outline(body []byte) ([]header, error) {
	tables := []header{{}}
	var p unstable.Parser
	p.Reset(body)
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			path, first, _ := names(e.Key())
			tables = append(tables, header{path: path, array: e.Kind == unstable.ArrayTable, at: bytes.LastIndexByte(body[:first], '\n') + 1})
		case unstable.KeyValue:
			path, first, behind := names(e.Key())
			to := int(e.Raw.Offset + e.Raw.Length)
			rest := body[behind:to] // blanks, =, blanks, the value
			value := bytes.TrimLeft(rest[bytes.IndexByte(rest, '=')+1:], " \t")
			in := &tables[len(tables)-1]
			in.keys = append(in.keys, keyValue{path, first, to - len(value), to})
		}
	}
	return tables, p.Error()
}

// names are the parts of a key, and where it begins and ends.
func names(key unstable.Iterator) (path []string, from, to int) {
	from = -1
	for key.Next() {
		n := key.Node()
		path = append(path, string(n.Data))
		if from < 0 {
			from = int(n.Raw.Offset)
		}
		to = int(n.Raw.Offset + n.Raw.Length)
	}
	return path, from, to
}

// ours finds the tables of an entry: its own first, then those within it.
func ours(tables []header, path []string) (found []int, err error) {
	for i, t := range tables {
		if len(t.path) >= len(path) && slices.Equal(t.path[:len(path)], path) {
			if t.array {
				return nil, errOtherForm
			}
			found = append(found, i)
		}
		for _, k := range t.keys {
			whole := slices.Concat(t.path, k.path)
			if len(t.path) < len(path) && len(whole) >= len(path) && slices.Equal(whole[:len(path)], path) {
				return nil, errOtherForm
			}
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return len(tables[a].path) - len(tables[b].path) })
	return found, nil
}

// tomlValue writes a value.
func tomlValue(v any) string {
	switch v := v.(type) {
	case int:
		return fmt.Sprint(v)
	case string:
		return tomlQuote(v)
	case []string:
		quoted := make([]string, len(v))
		for i := range v {
			quoted[i] = tomlQuote(v[i])
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	panic("install: no such value") // only entries of ours are written
}

func tomlQuote(text string) string { return strings.ReplaceAll(quote(text), "\x7f", `\u007f`) }

// addTOML appends a table at the end of a text.
func addTOML(text []byte, path []string, members []member) []byte {
	end := lineEnd(text)
	var b strings.Builder
	if body := bytes.TrimPrefix(text, []byte(clients.BOM)); len(body) > 0 {
		if body[len(body)-1] != '\n' {
			b.WriteString(end)
		}
		if last := bytes.TrimRight(body, "\r\n"); bytes.Count(body[len(last):], []byte("\n")) < 2 && len(last) > 0 {
			b.WriteString(end)
		}
	}
	b.WriteString("[" + path[0] + "." + path[1] + "]" + end)
	for _, m := range members {
		b.WriteString(m.name + " = " + tomlValue(m.value) + end)
	}
	return append(bytes.Clone(text), b.String()...)
}

// setTOML sets keys of a table that is there, in their places; a new one stands
// before the table's first.
func setTOML(text []byte, path []string, members []member) ([]byte, error) {
	body := bytes.TrimPrefix(text, []byte(clients.BOM))
	tables, err := outline(body)
	if err != nil {
		return nil, err
	}
	found, err := ours(tables, path)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || len(tables[found[0]].path) != len(path) || len(tables[found[0]].keys) == 0 {
		return nil, errOtherForm
	}
	keys := tables[found[0]].keys
	var edits []edit
	for _, m := range members {
		i := slices.IndexFunc(keys, func(k keyValue) bool { return len(k.path) == 1 && k.path[0] == m.name })
		if i >= 0 {
			edits = append(edits, edit{keys[i].from, keys[i].to, tomlValue(m.value)})
			continue
		}
		blanks, _ := margin(body, keys[0].at)
		edits = append(edits, edit{keys[0].at, keys[0].at, m.name + " = " + tomlValue(m.value) + lineEnd(body) + blanks})
	}
	return slices.Concat(bomOf(text), apply(body, edits...)), nil
}

// removeTOML takes a table out, with those within it. Comments before the next
// table stay: they are about that one.
func removeTOML(text []byte, path []string) ([]byte, error) {
	body := bytes.TrimPrefix(text, []byte(clients.BOM))
	tables, err := outline(body)
	if err != nil {
		return nil, err
	}
	found, err := ours(tables, path)
	if err != nil || len(found) == 0 {
		return nil, errors.Join(err, errOtherForm)
	}
	var edits []edit
	for _, i := range found {
		to := len(body)
		if i+1 < len(tables) {
			to = tables[i+1].at
		}
		from := tables[i].at
		to = from + len(withoutNotes(body[from:to]))
		if before := body[:from]; blankEnd(before) && (to == len(body) || blankStart(body[to:])) {
			from = beforeLine(body, len(before))
		}
		edits = append(edits, edit{from, to, ""})
	}
	return slices.Concat(bomOf(text), apply(body, edits...)), nil
}

// withoutNotes is a table's text without the blank lines and comments at its end.
func withoutNotes(text []byte) []byte {
	for len(text) > 0 {
		start := bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1
		if line := bytes.TrimSpace(text[start:]); len(line) > 0 && line[0] != '#' {
			break
		}
		text = text[:start]
	}
	return text
}

// blankEnd reports whether a text ends with an empty line.
func blankEnd(text []byte) bool {
	line, ok := bytes.CutSuffix(text, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	return ok && (len(line) == 0 || line[len(line)-1] == '\n')
}

// blankStart reports whether a text begins with an empty line.
func blankStart(text []byte) bool {
	return text[0] == '\n' || bytes.HasPrefix(text, []byte("\r\n"))
}
