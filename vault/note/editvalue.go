package note

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"slices"
	"sync"
	"unicode/utf8"
)

// DecodeValue reads one JSON value as a value to set: an object becomes a *Map with its keys in their order, a number a
// json.Number, so that nothing of how it was written is lost. It refuses a repeated key and anything behind the value.
func DecodeValue(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, &PropertyError{Fault: FaultValue, Reason: "there is more than one value"}
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > MaxPropertyDepth {
		return nil, tooDeep()
	}
	t, err := d.Token()
	if err != nil {
		return nil, &PropertyError{Fault: FaultValue, Reason: "the value is not JSON"}
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		m := &Map{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, &PropertyError{Fault: FaultValue, Reason: "the value is not JSON"}
			}
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			if name := key.(string); !m.add(name, v) {
				return nil, &PropertyError{Fault: FaultValue, Key: name, Reason: "the key is there twice"}
			}
		}
		_, err = d.Token()
		return m, err
	}
	return t, nil
}

func tooDeep() error {
	return &PropertyError{Fault: FaultValue, Reason: fmt.Sprintf("the value is nested deeper than %d levels", MaxPropertyDepth)}
}

// sourced is a value that already stands in the note, with how it is written there.
type sourced struct {
	value  any
	source string
}

// plainOf is the value without its source.
func plainOf(v any) any {
	if s, ok := v.(sourced); ok {
		return s.value
	}
	return v
}

// jsonNumber is the grammar of numbers (RFC 8259, 6).
var jsonNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$`)
})

// normal brings a value into the forms that Property.Value has, or says why it cannot be a value. A json.Number stays one,
// since it is written as it is. The keys of a Go map have no order and are sorted.
func normal(v any, depth int) (any, error) {
	if depth > MaxPropertyDepth {
		return nil, tooDeep()
	}
	switch v := v.(type) {
	case nil, bool, int64, float64:
		return v, nil
	case int:
		return int64(v), nil
	case string:
		if !utf8.ValidString(v) {
			return nil, &PropertyError{Fault: FaultValue, Reason: "the text is not UTF-8"}
		}
		return v, nil
	case json.Number:
		if n, ok := readNumber(v); !ok || !jsonNumber().MatchString(string(v)) || n == nil {
			return nil, &PropertyError{Fault: FaultValue, Reason: "the number cannot be read back"}
		}
		return v, nil
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return normal(list, depth)
	case []any:
		list := make([]any, len(v))
		for i, c := range v {
			var err error
			if list[i], err = normal(c, depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		return normalMap(keys, v, depth)
	case *Map:
		return normalMap(v.keys, v.values, depth)
	}
	return nil, &PropertyError{Fault: FaultValue, Reason: fmt.Sprintf("a value of type %T cannot be written", v)}
}

func normalMap(keys []string, values map[string]any, depth int) (any, error) {
	m := &Map{}
	for _, k := range keys {
		c, err := normal(values[k], depth+1)
		if err != nil {
			return nil, err
		}
		if err := checkKey(k); err != nil {
			return nil, err
		}
		m.add(k, c)
	}
	return m, nil
}

// checkKey refuses what cannot be a key: YAML looks for its colon within 1,024 characters (YAML 1.2.2, 7.4.2), and escapes
// can make ten of one.
func checkKey(key string) error {
	switch {
	case !utf8.ValidString(key):
		return &PropertyError{Fault: FaultValue, Reason: "the key is not UTF-8"}
	case len(key) > maxPlainKey || len(quoteDouble(key)) > 2*maxPlainKey:
		return &PropertyError{Fault: FaultValue, Reason: fmt.Sprintf("the key is longer than %d bytes", maxPlainKey)}
	}
	return nil
}

func readNumber(n json.Number) (any, bool) {
	if n == "" {
		return nil, false
	}
	return resolveNumber(string(n))
}

// equalValues reports whether two values mean the same to a reader of JSON: 1 and 1.0 do, and the names of numbers that JSON
// does not have, as MarshalJSON writes them, stand for those numbers. The order of keys does not count.
func equalValues(a, b any) bool {
	a, b = plainOf(a), plainOf(b)
	switch x := a.(type) {
	case nil:
		return b == nil
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case string:
		if y, ok := b.(string); ok {
			return x == y
		}
		f, ok := b.(float64)
		return ok && (math.IsNaN(f) || math.IsInf(f, 0)) && keyString(f) == x
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equalValues)
	case *Map:
		y, ok := b.(*Map)
		if !ok || x.Len() != y.Len() {
			return false
		}
		for _, k := range x.keys {
			if w, ok := y.values[k]; !ok || !equalValues(x.values[k], w) {
				return false
			}
		}
		return true
	}
	if _, ok := b.(string); ok {
		return equalValues(b, a)
	}
	return equalNumbers(a, b)
}

func equalNumbers(a, b any) bool {
	x, y := number(a), number(b)
	switch x := x.(type) {
	case int64:
		switch y := y.(type) {
		case int64:
			return x == y
		case float64:
			return math.Abs(y) < 1<<63 && float64(x) == y && int64(y) == x
		}
	case float64:
		switch y := y.(type) {
		case int64, json.Number:
			return equalNumbers(y, x)
		case float64:
			return x == y || math.IsNaN(x) && math.IsNaN(y)
		}
	case json.Number:
		switch y := y.(type) {
		case json.Number:
			return x == y
		case float64:
			if math.IsInf(y, 0) || math.IsNaN(y) {
				return false
			}
			whole, exact := new(big.Float).SetFloat64(y).Int(nil)
			return exact == big.Exact && whole.String() == string(x)
		}
	}
	return false
}

// number is a number as properties have it: a json.Number is only left for an integer beyond int64.
func number(v any) any {
	if n, ok := v.(json.Number); ok {
		v, _ = readNumber(n)
	}
	return v
}

// with returns a mapping in which a key has a value; a new key comes last.
func (m *Map) with(key string, value any) *Map {
	out := &Map{}
	for _, k := range m.keys {
		out.add(k, m.values[k])
	}
	if !out.add(key, value) {
		out.values[key] = value
	}
	return out
}

// without returns a mapping that lacks a key.
func (m *Map) without(key string) *Map {
	out := &Map{}
	for _, k := range m.keys {
		if k != key {
			out.add(k, m.values[k])
		}
	}
	return out
}

// withPath returns a mapping in which a value stands at the end of a path; mappings on the way are made.
func (m *Map) withPath(path []string, value any) *Map {
	if len(path) == 1 {
		return m.with(path[0], value)
	}
	child, _ := m.values[path[0]].(*Map)
	if child == nil {
		child = &Map{}
	}
	return m.with(path[0], child.withPath(path[1:], value))
}

// withoutPath returns a mapping that lacks what is at the end of a path.
func (m *Map) withoutPath(path []string) *Map {
	if len(path) == 1 {
		return m.without(path[0])
	}
	child, ok := m.values[path[0]].(*Map)
	if !ok {
		return m
	}
	return m.with(path[0], child.withoutPath(path[1:]))
}
