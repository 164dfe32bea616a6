package compact

import (
	"bytes"
	"encoding/json"
)

// Each byte of what is taken apart is looked at once or twice, where decoding an
// answer again would take most of a call.

// member is a member of an object, its value as it stands.
type member struct {
	key   string
	value json.RawMessage
}

// membersOf splits an object, in order; it reports false for another value.
func membersOf(raw json.RawMessage) ([]member, bool) {
	if len(raw) < 2 || raw[0] != '{' {
		return nil, false
	}
	ms := make([]member, 0, 8)
	for i := 1; raw[i] != '}'; {
		if raw[i] == ',' {
			i++
		}
		key := raw[i : i+valueLen(raw[i:])]
		i += len(key) + 1 // the colon
		value := raw[i : i+valueLen(raw[i:])]
		i += len(value)
		ms = append(ms, member{unquote(key), value})
	}
	return ms, true
}

// itemsOf splits an array, in order.
func itemsOf(raw json.RawMessage) []json.RawMessage {
	var items []json.RawMessage
	for i := 1; raw[i] != ']'; {
		if raw[i] == ',' {
			i++
		}
		item := raw[i : i+valueLen(raw[i:])]
		i += len(item)
		items = append(items, item)
	}
	return items
}

// valueLen is the length of the value at the start of raw.
func valueLen(raw []byte) int {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			switch depth--; {
			case depth == 0:
				return i + 1
			case depth < 0: // the end of what holds a number, true, false or null
				return i
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return len(raw)
}

// unquote is the text of a JSON string.
func unquote(raw json.RawMessage) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // it was marshalled a moment ago
	return s
}
