package tools

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/google/jsonschema-go/jsonschema"

	"vault-mcp/internal/fingerprint"
)

// jsonNumber is a number as JSON writes one.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// coerce takes numbers and booleans that were sent as strings for what they say,
// where the schema wants one and the string can be read in one way only: "5" and
// "true", neither " 5" nor "yes". Some models quote everything. It changes args and
// tells of each what was done.
func (a *arguments) coerce(args map[string]json.RawMessage) (told []string) {
	for _, f := range a.fields {
		if raw, changed := scalar(f.schema, args[f.name]); changed {
			args[f.name] = raw
			told = append(told, fmt.Sprintf("%s was sent as a string and taken as %s", f.name, Cut(string(raw), 100)))
		}
	}
	return told
}

// scalar is a value as its schema wants it, and whether that is another one.
func scalar(s *jsonschema.Schema, raw json.RawMessage) (json.RawMessage, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return raw, false
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return raw, false
	}
	switch s.Type {
	case "integer", "number":
		if !jsonNumber.MatchString(text) {
			return raw, false
		}
	case "boolean":
		if text != "true" && text != "false" {
			return raw, false
		}
	default:
		return raw, false
	}
	return json.RawMessage(text), true
}

// sentAs are a call's arguments once some of them were coerced. What they are
// refused for as they were sent, they still are.
func sentAs(raw json.RawMessage, args map[string]json.RawMessage) (json.RawMessage, error) {
	if _, err := fingerprint.Canonical(raw); err != nil {
		return raw, nil // refused when it is hashed
	}
	return json.Marshal(args)
}

// coercedKey is where an answer tells of arguments that were coerced.
const coercedKey = "coerced"
