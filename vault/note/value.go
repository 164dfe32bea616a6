package note

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Map is a mapping whose keys keep the order of the source.
type Map struct {
	keys   []string
	values map[string]any
}

// Keys returns the keys in source order. The caller must not change the slice.
func (m *Map) Keys() []string { return m.keys }

// Len is the number of keys.
func (m *Map) Len() int { return len(m.keys) }

// Get returns the value of exactly this key.
func (m *Map) Get(key string) (any, bool) {
	v, ok := m.values[key]
	return v, ok
}

// add appends a key and reports whether it is new.
func (m *Map) add(key string, value any) bool {
	if _, ok := m.values[key]; ok {
		return false
	}
	if m.values == nil {
		m.values = map[string]any{}
	}
	m.keys = append(m.keys, key)
	m.values[key] = value
	return true
}

// MarshalJSON writes the mapping with its keys in source order. JSON has no infinite numbers: they become the strings
// ".inf", "-.inf" and ".nan", as YAML writes them.
func (m *Map) MarshalJSON() ([]byte, error) {
	return appendJSON(nil, m)
}

// MarshalJSON writes the properties as one object, keys in source order. Without properties it is {}.
func (p Properties) MarshalJSON() ([]byte, error) {
	return p.Map().MarshalJSON()
}

func appendJSON(b []byte, v any) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case *Map:
		b = append(b, '{')
		for i, key := range v.keys {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendJSON(b, key); err != nil {
				return nil, err
			}
			if b, err = appendJSON(append(b, ':'), v.values[key]); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendJSON(b, item); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return appendJSON(b, keyString(v))
		}
	}
	var w bytes.Buffer
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	if err = e.Encode(v); err != nil {
		return nil, err
	}
	return append(b, bytes.TrimRight(w.Bytes(), "\n")...), nil
}

// resolveScalar gives a plain scalar its meaning in the core schema of YAML 1.2 (chapter 10.3): everything that is not
// null, a truth value or a number there is a string.
func resolveScalar(s string) any {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	case ".nan", ".NaN", ".NAN":
		return math.NaN()
	}
	if n, ok := resolveNumber(s); ok {
		return n
	}
	return s
}

func resolveNumber(s string) (any, bool) {
	if strings.HasPrefix(s, "0x") {
		return resolveInt(s[2:], 16, "0123456789abcdefABCDEF")
	}
	if strings.HasPrefix(s, "0o") {
		return resolveInt(s[2:], 8, "01234567")
	}
	digits := s
	if digits[0] == '-' || digits[0] == '+' {
		digits = digits[1:]
	}
	switch digits {
	case "":
		return nil, false
	case ".inf", ".Inf", ".INF":
		if s[0] == '-' {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	}
	if strings.Trim(digits, "0123456789") == "" {
		return parseInt(strings.TrimPrefix(s, "+"), 10)
	}
	if !isFloat(digits) {
		return nil, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || math.IsInf(f, 0) // too large is infinite, as in JavaScript
}

func resolveInt(digits string, base int, set string) (any, bool) {
	if digits == "" || strings.Trim(digits, set) != "" {
		return nil, false
	}
	return parseInt(digits, base)
}

// parseInt returns an int64, or a json.Number for what is larger, so that no digit is lost.
func parseInt(s string, base int) (any, bool) {
	if n, err := strconv.ParseInt(s, base, 64); err == nil {
		return n, true
	}
	if len(s) > 1000 {
		return nil, false // kept as a string: reading so many digits takes more than linear time
	}
	n, ok := new(big.Int).SetString(s, base)
	if !ok {
		return nil, false
	}
	return json.Number(n.String()), true
}

// isFloat: digits with a point before, between or behind them, and perhaps an exponent.
func isFloat(s string) bool {
	whole := digitRun(s)
	rest, fraction := s[whole:], 0
	if strings.HasPrefix(rest, ".") {
		fraction = digitRun(rest[1:])
		rest = rest[1+fraction:]
	}
	if whole+fraction == 0 || whole == 0 && s[0] != '.' {
		return false
	}
	if rest == "" {
		return true
	}
	if rest[0]|0x20 != 'e' {
		return false
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	return rest != "" && digitRun(rest) == len(rest)
}

func digitRun(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// keyString is a scalar as the name of a property, as JavaScript writes it: null is the empty name.
func keyString(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case json.Number:
		return v.String()
	case float64:
		switch {
		case math.IsNaN(v):
			return ".nan"
		case math.IsInf(v, 1):
			return ".inf"
		case math.IsInf(v, -1):
			return "-.inf"
		}
		b, err := json.Marshal(v)
		if err != nil {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return string(b)
	case string:
		return v
	}
	return ""
}
