package fingerprint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// maxDepth bounds nesting in arguments, so that recursion cannot overflow the
// stack.
const maxDepth = 100

// unhashed are the top-level arguments that do not belong to what a call does.
var unhashed = []string{"elicit_token", "idempotency_key", "dry_run"}

// ErrNotObject is returned by Canonical for arguments that are no JSON object.
var ErrNotObject = errors.New("arguments must be a JSON object")

// NumberError says that a number cannot be carried exactly by a double, so
// that two different calls would share one hash.
type NumberError struct {
	Key     string // the argument that holds it, dotted
	Literal string // as it was sent
}

// Error names the argument and the number, cut to a readable length.
func (e *NumberError) Error() string {
	return fmt.Sprintf("%s: the number %.40s cannot be carried exactly; send it as a string", e.Key, e.Literal)
}

// DuplicateKeyError says that an object holds one key twice.
type DuplicateKeyError struct{ Key string }

// Error names the key.
func (e *DuplicateKeyError) Error() string {
	return fmt.Sprintf("the key %.100q is there twice", e.Key)
}

// Canonical writes arguments in the form of RFC 8785 (JSON Canonicalization
// Scheme): keys sorted by UTF-16 code units, numbers as ECMAScript writes
// them, nothing escaped that need not be. The token, the idempotency key and
// dry_run are left out at the top level. Empty arguments count as {}.
//
// It fails with *NumberError, *DuplicateKeyError, ErrNotObject or a syntax
// error; then the call has no hash and must be refused.
func Canonical(args []byte) ([]byte, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		return []byte("{}"), nil
	}
	v, err := decode(args)
	if err != nil {
		return nil, err
	}
	o, ok := v.(object)
	if !ok {
		return nil, ErrNotObject
	}
	o = slices.DeleteFunc(o, func(m member) bool { return slices.Contains(unhashed, m.key) })
	return appendValue(nil, o, "")
}

type member struct {
	key   string
	value any
}

// object keeps members sorted as RFC 8785 demands.
type object []member

// decode reads one JSON value and nothing after it.
func decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is something after the arguments")
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("arguments nest deeper than %d levels", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			o = append(o, member{k.(string), v})
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		slices.SortStableFunc(o, func(a, b member) int { return compareUTF16(a.key, b.key) })
		for i := 1; i < len(o); i++ {
			if o[i].key == o[i-1].key {
				return nil, &DuplicateKeyError{o[i].key}
			}
		}
		return o, nil
	case json.Delim('['):
		a := []any{}
		for d.More() {
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			a = append(a, v)
		}
		_, err := d.Token()
		return a, err
	}
	return t, nil
}

// compareUTF16 orders strings by UTF-16 code units: a character beyond the
// basic plane sorts by its surrogates, before U+E000.
func compareUTF16(a, b string) int {
	if isASCII(a) && isASCII(b) {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func appendValue(b []byte, v any, key string) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return appendString(b, v), nil
	case json.Number:
		return appendNumber(b, string(v), key)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendValue(b, e, key+"["+strconv.Itoa(i)+"]"); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, m.key), ':')
			if b, err = appendValue(b, m.value, strings.TrimPrefix(key+"."+m.key, ".")); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	}
	panic(fmt.Sprintf("fingerprint: a %T in decoded JSON", v))
}

// appendString writes s by RFC 8785 section 3.2.2.2.
func appendString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 0x20:
			b = append(b, c)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c == '\r':
			b = append(b, `\r`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(b, '"')
}
