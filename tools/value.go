package tools

import (
	"encoding/json"

	"vault-mcp/vault/note"
)

// Value is an argument that may be any JSON value; it is kept as it was sent, so
// that 1.10 stays 1.10. Null is a value, unlike in other arguments.
type Value struct{ raw json.RawMessage }

// UnmarshalJSON keeps the value as it was sent.
func (v *Value) UnmarshalJSON(b []byte) error {
	v.raw = append(v.raw[:0], b...)
	return nil
}

// Sent reports whether the argument is there, be it null.
func (v Value) Sent() bool { return len(v.raw) > 0 }

// Get is the value as note.DecodeValue reads it; nil if none was sent. Its
// errors are of type *note.PropertyError.
func (v Value) Get() (any, error) {
	if !v.Sent() {
		return nil, nil
	}
	return note.DecodeValue(v.raw)
}

// Object is an argument that is a JSON object with any values; its keys keep
// their order and its numbers how they were sent.
type Object struct{ Value }

// Get is the object; nil if none was sent.
func (o Object) Get() (*note.Map, error) {
	v, err := o.Value.Get()
	m, _ := v.(*note.Map) // nothing else by the schema
	return m, err
}
