package stdio

import (
	"bytes"
	"encoding/json"
	"iter"
)

// members walks the members of a JSON object: decoded key, raw value. It is for
// valid JSON, or a prefix of it, where it stops at the first member that is cut
// off; of anything else than an object it finds none.
func members(obj []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		if len(obj) == 0 || obj[0] != '{' {
			return
		}
		for i := skipSpace(obj, 1); i < len(obj) && obj[i] == '"'; i = skipSpace(obj, i+1) {
			end := skipString(obj, i)
			if end < 0 {
				return
			}
			key := obj[i+1 : end-1]
			if bytes.IndexByte(key, '\\') >= 0 {
				key = []byte(unquote(obj[i:end]))
			}
			i = skipSpace(obj, skipSpace(obj, end)+1) // over the colon
			end = skipValue(obj, i)
			if end < 0 || !yield(key, obj[i:end:end]) {
				return
			}
			i = skipSpace(obj, end) // at the comma or the closing brace
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipString returns the end of the string that starts at b[i], or -1.
func skipString(b []byte, i int) int {
	start := i + 1
	for at := start; ; at++ {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		escapes := 0
		for at-escapes > start && b[at-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}

// skipValue returns the end of the value that starts at b[i], or -1.
func skipValue(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := skipString(b, i)
			if end < 0 || depth == 0 {
				return end
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		default:
			if depth == 0 {
				return skipScalar(b, i)
			}
		}
	}
	return -1
}

// skipScalar returns the end of the number or literal that starts at b[i], or
// -1 if it runs into the end of b: then it may be cut off.
func skipScalar(b []byte, i int) int {
	if n := bytes.IndexAny(b[i:], ",}] \t\r\n"); n > 0 {
		return i + n
	}
	return -1
}

// unquote decodes a JSON string.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil { // only in the head of a line that is not JSON
		return ""
	}
	return s
}
