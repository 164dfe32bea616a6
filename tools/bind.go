package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
)

// Bind decodes the arguments of a call strictly into c: unknown names, wrong
// types and broken limits are refused with the argument's name; only a number or a
// boolean in quotes is taken, and the answer says so. defaultVault is
// the id that an absent vault stands for, "" if there are several.
func (t *Tool) Bind(c *Call, raw json.RawMessage, defaultVault string) error {
	args, err := decodeArgs(raw)
	if err != nil {
		return err
	}
	if err := t.args().known(args); err != nil {
		return err
	}
	if t.args().vault && isNull(args["vault"]) && defaultVault != "" {
		if raw, err = fillVault(raw, args, defaultVault); err != nil {
			return err
		}
	}
	if c.coerced = t.args().coerce(args); c.coerced != nil {
		if raw, err = sentAs(raw, args); err != nil {
			return err
		}
	}
	if err := t.args().oneName(args); err != nil {
		return err
	}
	in := reflect.New(t.args().typ)
	for _, f := range t.args().fields {
		if err := f.set(in.Elem().FieldByIndex(f.index), args[f.name]); err != nil {
			return err
		}
	}
	c.Tool, c.in, c.args = t, in.Interface(), args
	c.refs, c.titled = t.args().refs(in.Elem()), t.args().titled(in.Elem())
	return c.hash(raw)
}

// fillVault puts the only vault's id where none was named, and returns the
// arguments as they would have been sent with it.
func fillVault(raw json.RawMessage, args map[string]json.RawMessage, id string) (json.RawMessage, error) {
	_, sentNull := args["vault"]
	value, err := json.Marshal(id)
	if err != nil {
		return nil, err
	}
	args["vault"] = value
	if sentNull || len(args) == 1 {
		return json.Marshal(args)
	}
	// Kept as sent, so that a key that is there twice is still seen.
	rest := bytes.TrimSpace(raw)[1:]
	return slices.Concat([]byte(`{"vault":`), value, []byte(","), rest), nil
}

// decodeArgs splits an object into its members.
func decodeArgs(raw json.RawMessage) (map[string]json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]json.RawMessage{}, nil
	}
	if raw[0] != '{' {
		return nil, fault.New(fault.ValidationError, "The arguments are %s; they must be an object.", jsonType(raw))
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fault.New(fault.ValidationError, "The arguments are no valid JSON.").Because(err)
	}
	return m, nil
}

// known refuses names that the tool does not have.
func (a *arguments) known(args map[string]json.RawMessage) error {
	valid := make([]string, len(a.fields))
	for i, f := range a.fields {
		valid[i] = f.name
	}
	var unknown []string
	for name := range args {
		if !slices.Contains(valid, name) && name != TokenArg {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	name := show(unknown[0])
	msg := fmt.Sprintf("There is no argument %q.", name)
	near := nearest(strings.ToLower(unknown[0]), valid)
	if near != "" {
		msg += fmt.Sprintf(" Did you mean %q?", near)
	}
	if len(valid) == 0 {
		msg += " The tool takes no arguments."
	} else {
		msg += " Valid: " + strings.Join(valid, ", ") + "."
	}
	e := fault.New(fault.ValidationError, "%s", msg).With("argument", name).With("valid", valid)
	if near != "" {
		e = e.With("nearest", near)
	}
	return e
}

// set decodes one argument, or its default if it is absent, into v.
func (f *field) set(v reflect.Value, raw json.RawMessage) error {
	if len(raw) == 0 || isNull(raw) && v.Type() != anyValue {
		if f.required {
			return invalid(f.name, "The argument %q is missing.", f.name)
		}
		if raw = f.fallback; raw == nil {
			return nil
		}
	}
	if f.schema.Type == "array" && f.schema.Items.Type == "string" && raw[0] == '"' {
		raw = slices.Concat([]byte("["), raw, []byte("]")) // one string where a list of them is wanted
	}
	if _, ok := v.Addr().Interface().(*Version); ok && jsonType(raw) == "a number" {
		raw = slices.Concat([]byte(`"`), raw, []byte(`"`))
	}
	if err := checkType(f.name, f.schema, raw); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
		var te *json.UnmarshalTypeError
		if errors.As(err, &te) {
			return invalid(f.name, "The argument %q does not fit: a %s where %s is expected.", f.name, te.Value, te.Type)
		}
		return invalid(f.name, "The argument %q does not fit: %v.", f.name, err)
	}
	return nil
}

// checkType compares a value with its schema and names the place that differs.
func checkType(name string, s *jsonschema.Schema, raw json.RawMessage) error {
	got := jsonType(raw)
	switch s.Type {
	case "string":
		if got != "a string" {
			return invalid(name, "The argument %q must be a string, not %s.", name, got)
		}
		var v string
		if err := json.Unmarshal(raw, &v); err != nil {
			return invalid(name, "The argument %q is no valid string.", name)
		}
		return checkString(name, s, v)
	case "integer", "number":
		if got != "a number" {
			return invalid(name, "The argument %q must be %s, not %s.", name, article(s.Type), got)
		}
		var v float64
		if err := json.Unmarshal(raw, &v); err != nil {
			return invalid(name, "The argument %q is no number that can be carried.", name)
		}
		return checkNumber(name, s, v)
	case "boolean":
		if got != "a boolean" {
			return invalid(name, "The argument %q must be true or false, not %s.", name, got)
		}
	case "array":
		if got != "an array" {
			return invalid(name, "The argument %q must be an array, not %s.", name, got)
		}
		return checkItems(name, s, raw)
	case "object":
		if got != "an object" {
			return invalid(name, "The argument %q must be an object, not %s.", name, got)
		}
		return checkMembers(name, s, raw)
	}
	return nil
}

func checkString(name string, s *jsonschema.Schema, v string) error {
	n := utf8.RuneCountInString(v)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(v)):
		return invalid(name, "The argument %q must be one of %s, not %q.", name, enumList(s.Enum), show(v)).With("valid", s.Enum)
	case s.MinLength != nil && n < *s.MinLength:
		if *s.MinLength == 1 {
			return invalid(name, "The argument %q must not be empty.", name)
		}
		return invalid(name, "The argument %q must have at least %d characters.", name, *s.MinLength)
	case s.MaxLength != nil && n > *s.MaxLength:
		return invalid(name, "The argument %q has %d characters; at most %d are allowed.", name, n, *s.MaxLength)
	}
	return nil
}

func checkNumber(name string, s *jsonschema.Schema, v float64) error {
	switch {
	case s.Type == "integer" && v != float64(int64(v)):
		return invalid(name, "The argument %q must be a whole number.", name)
	case s.Minimum != nil && v < *s.Minimum:
		return invalid(name, "The argument %q must be at least %v.", name, *s.Minimum)
	case s.Maximum != nil && v > *s.Maximum:
		return invalid(name, "The argument %q must be at most %v.", name, *s.Maximum)
	}
	return nil
}

func checkItems(name string, s *jsonschema.Schema, raw json.RawMessage) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return invalid(name, "The argument %q is no valid array.", name)
	}
	switch {
	case s.MinItems != nil && len(items) < *s.MinItems:
		return invalid(name, "The argument %q needs at least %d items.", name, *s.MinItems)
	case s.MaxItems != nil && len(items) > *s.MaxItems:
		return invalid(name, "The argument %q has %d items; at most %d are allowed.", name, len(items), *s.MaxItems)
	}
	if s.Items == nil {
		return nil
	}
	for i, it := range items {
		if err := checkType(fmt.Sprintf("%s[%d]", name, i), s.Items, it); err != nil {
			return err
		}
	}
	return nil
}

// checkMembers compares the members of an object with those that its schema
// names, if it names any.
func checkMembers(name string, s *jsonschema.Schema, raw json.RawMessage) error {
	if len(s.Properties) == 0 {
		return nil
	}
	members, err := decodeArgs(raw)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		member := s.Properties[key]
		if member == nil {
			return invalid(name, "The argument %q has no member %q. Valid: %s.", name, show(key), strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "))
		}
		if isNull(members[key]) {
			continue
		}
		if err := checkType(name+"."+key, member, members[key]); err != nil {
			return err
		}
	}
	for _, key := range s.Required {
		if isNull(members[key]) {
			return invalid(name, "The argument %q has no member %q.", name, key)
		}
	}
	return nil
}

// hash sets the call's hash over the effective arguments.
func (c *Call) hash(effective json.RawMessage) error {
	canonical, err := fingerprint.Canonical(effective)
	if err != nil {
		var ne *fingerprint.NumberError
		var de *fingerprint.DuplicateKeyError
		switch {
		case errors.As(err, &ne):
			return invalid(ne.Key, "%s.", ne.Error())
		case errors.As(err, &de):
			return invalid(de.Key, "%s.", de.Error())
		}
		return fault.New(fault.ValidationError, "The arguments cannot be read: %v.", err)
	}
	c.Hash = fingerprint.OfCall(c.Tool.Name, canonical)
	return nil
}

func invalid(argument, format string, args ...any) *fault.Error {
	return fault.New(fault.ValidationError, format, args...).With("argument", show(argument))
}

// show cuts what a caller sent to a length that is safe to send back.
func show(s string) string { return Cut(s, 100) }

// Cut is a text of at most most bytes, and an ellipsis where it was longer.
func Cut(s string, most int) string {
	if len(s) <= most {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

func article(typ string) string {
	if typ == "integer" {
		return "an integer"
	}
	return "a " + typ
}

func enumList(values []any) string {
	s := make([]string, len(values))
	for i, v := range values {
		s[i] = fmt.Sprint(v)
	}
	return strings.Join(s, ", ")
}

// jsonType names the type of a valid JSON value by its first byte.
func jsonType(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
