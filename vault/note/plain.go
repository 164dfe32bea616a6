package note

import "strings"

// plainReader reads properties of the simplest forms without the YAML library, which costs ten times as much:
//
//	key: plain text
//	key: "quoted", or 'quoted'
//	key: [a, "b"]
//	key:
//	  - item
//
// It gives up on everything else, so that what it accepts means the same to both.
type plainReader struct {
	text string
	pos  int // the start of the current line
	line int // from 0
	list []Property
}

// maxPlainKey is the length of a key from which YAML may take it for no key: it wants the colon within 1,024 characters
// (YAML 1.2.2, 7.4.2).
const maxPlainKey = 500

// maxPlain is the number of properties up to which comparing each key with all others is cheap.
const maxPlain = 64

// readPlain returns the properties with places in the block, and false if it does not know.
func readPlain(yaml []byte) ([]Property, bool) { return readPlainInto(yaml, nil) }

// readPlainInto is readPlain with a list to fill, or nil for a new one.
func readPlainInto(yaml []byte, list []Property) ([]Property, bool) {
	if !ordinary(yaml) {
		return nil, false
	}
	r := plainReader{text: string(yaml), list: list}
	if r.list == nil {
		r.list = make([]Property, 0, min(maxPlain, strings.Count(r.text, "\n")+1))
	}
	for r.pos < len(r.text) {
		line := r.current()
		if line != "" && !r.property(line) {
			return nil, false
		} else if line == "" {
			r.next(0)
		}
	}
	return r.list, len(r.list) > 0
}

// ordinary reports whether all characters are ones that YAML has no rules for, and that the library takes as they are.
func ordinary(b []byte) bool {
	for i, c := range b {
		switch {
		case c < ' ' && c != '\n' || c == 0x7F:
			return false
		case c == 0xC2: // control characters
			if i+1 == len(b) || b[i+1] < 0xA0 {
				return false
			}
		case c == 0xE2: // U+2028, U+2029
			if i+2 >= len(b) || b[i+1] == 0x80 && (b[i+2] == 0xA8 || b[i+2] == 0xA9) {
				return false
			}
		case c == 0xEF: // U+FEFF, U+FFFE, U+FFFF
			if i+2 >= len(b) || b[i+1] == 0xBB && b[i+2] == 0xBF || b[i+1] == 0xBF && b[i+2] >= 0xBE {
				return false
			}
		}
	}
	return true
}

// current is the current line without its line end.
func (r *plainReader) current() string {
	line := r.text[r.pos:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	return line
}

// next moves to the next line, from one of the given length.
func (r *plainReader) next(length int) {
	r.pos = min(r.pos+length+1, len(r.text))
	r.line++
}

func (r *plainReader) property(line string) bool {
	n := 0
	for n < len(line) && isPlainKey(line[n]) {
		n++
	}
	if n == 0 || isDigit(line[0]) || line[0] == '-' || line[0] == ' ' || line[n-1] == ' ' || n == len(line) || line[n] != ':' {
		return false
	}
	key := line[:n]
	if len(key) > maxPlainKey {
		return false
	}
	if _, ok := resolveScalar(key).(string); !ok || len(r.list) == maxPlain {
		return false
	}
	for i := range r.list {
		if r.list[i].Key == key {
			return false
		}
	}
	p := Property{Key: key, Line: r.line, KeySpan: Span{r.pos, r.pos + n}}
	at := r.pos + n + 1
	value := strings.TrimRight(line[n+1:], " ")
	if value == "" {
		r.next(len(line))
		p.ValueSpan = Span{at, at}
		if !r.items(&p) {
			return false
		}
		r.list = append(r.list, p)
		return true
	}
	if value[0] != ' ' {
		return false
	}
	blanks := len(value) - len(strings.TrimLeft(value, " "))
	p.ValueSpan = Span{at + blanks, at + len(value)}
	value = value[blanks:]
	ok := false
	if value[0] == '[' {
		p.Value, p.Items, ok = flowList(value, p.ValueSpan.Start)
	} else {
		p.Value, ok = plainValue(value)
	}
	r.next(len(line))
	r.list = append(r.list, p)
	return ok
}

// items reads the lines "- item" behind a key without a value. A missing value is null.
func (r *plainReader) items(p *Property) bool {
	indent := -1
	var list []any
	for r.pos < len(r.text) {
		line := r.current()
		trimmed := strings.TrimLeft(line, " ")
		if trimmed == "" {
			if line != "" {
				return false
			}
			r.next(0)
			continue
		}
		blanks := len(line) - len(trimmed)
		if trimmed[0] != '-' {
			if blanks > 0 {
				return false
			}
			break
		}
		item := strings.TrimLeft(trimmed[1:], " ")
		if indent >= 0 && blanks != indent || len(item) >= len(trimmed)-1 || item == "" {
			return false
		}
		if indent < 0 {
			p.ValueSpan.Start = r.pos + blanks
		}
		indent = blanks
		start := r.pos + len(line) - len(item)
		item = strings.TrimRight(item, " ")
		v, ok := plainValue(item)
		if !ok {
			return false
		}
		list = append(list, v)
		p.Items = append(p.Items, Span{start, start + len(item)})
		p.ValueSpan.End = start + len(item)
		r.next(len(line))
	}
	if list != nil {
		p.Value = list
	}
	return true
}

func isPlainKey(c byte) bool { return isAlpha(c) || isDigit(c) || c == '_' || c == '-' || c == ' ' }

// plainValue is what a scalar means that is the rest of its line.
func plainValue(s string) (any, bool) {
	if s[0] == '"' || s[0] == '\'' {
		return quotedValue(s)
	}
	if !startsPlain(s[0]) || s[len(s)-1] == ':' || strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return nil, false
	}
	return resolveScalar(s), true
}

// quotedValue is a string in quotes without any escape.
func quotedValue(s string) (any, bool) {
	inner := s[1:]
	if len(inner) == 0 || inner[len(inner)-1] != s[0] {
		return nil, false
	}
	inner = inner[:len(inner)-1]
	if strings.IndexByte(inner, s[0]) >= 0 || s[0] == '"' && strings.IndexByte(inner, '\\') >= 0 {
		return nil, false
	}
	return inner, true
}

// startsPlain reports whether no rule of YAML is about a plain scalar that starts with c.
func startsPlain(c byte) bool { return isAlpha(c) || isDigit(c) || c == '_' || c == '/' || c >= 0x80 }

// flowList reads [a, "b"], which stands at an offset.
func flowList(s string, offset int) (any, []Span, bool) {
	if s[len(s)-1] != ']' {
		return nil, nil, false
	}
	list, spans := []any{}, []Span{}
	inner, at := s[1:len(s)-1], offset+1
	if strings.Trim(inner, " ") == "" {
		return list, spans, true
	}
	for part := range strings.SplitSeq(inner, ",") {
		item := strings.TrimLeft(part, " ")
		start := at + len(part) - len(item)
		item = strings.TrimRight(item, " ")
		if item == "" {
			return nil, nil, false
		}
		var v any
		var ok bool
		if item[0] == '"' || item[0] == '\'' {
			v, ok = quotedValue(item)
		} else if startsPlain(item[0]) && !strings.ContainsAny(item, "[]{}\"'#:&*!|>%@`?") {
			v, ok = resolveScalar(item), true
		}
		if !ok {
			return nil, nil, false
		}
		list = append(list, v)
		spans = append(spans, Span{start, start + len(item)})
		at += len(part) + 1
	}
	return list, spans, true
}
