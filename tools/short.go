package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// known are arguments that mean the same in every tool, so that a list of tools that
// a model reads before its first word need not say it each time: the server's
// instructions do.
var known = []string{"cursor", "dry_run", "limit", "prev_hash", "title"}

// paths are the types of arguments that name something in the vault.
var paths = []reflect.Type{
	reflect.TypeFor[VaultID](), reflect.TypeFor[Note](), reflect.TypeFor[Notes](), reflect.TypeFor[Target](), reflect.TypeFor[Folder](),
}

// ShortSchema is an input schema for a list that costs little: only the arguments
// that are named (and the vault, where a call has to name one), without bounds and
// without what the instructions say. As it is not whole, it forbids no other argument;
// InputSchema has them all, and a call is checked against that.
func (t *Tool) ShortSchema(several bool, shown []string) json.RawMessage {
	a := t.args()
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, f := range a.fields {
		vault := a.typ.FieldByIndex(f.index).Type == reflect.TypeFor[VaultID]()
		if shown != nil && !slices.Contains(shown, f.name) && !vault || vault && !several {
			continue
		}
		s.Properties[f.name] = a.short(f)
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if f.required || vault {
			s.Required = append(s.Required, f.name)
		}
	}
	return t.encode(s)
}

func (a *arguments) short(f field) *jsonschema.Schema {
	s := bare(f.schema)
	s.Default = nil
	if slices.Contains(known, f.name) || slices.Contains(paths, a.typ.FieldByIndex(f.index).Type) {
		s.Description = ""
	}
	return s
}

// bare is a schema without bounds.
func bare(of *jsonschema.Schema) *jsonschema.Schema {
	s := *of
	s.MinLength, s.MaxLength, s.MinItems, s.MaxItems, s.Minimum, s.Maximum = nil, nil, nil, nil, nil, nil
	if s.Items != nil {
		s.Items = bare(s.Items)
	}
	if s.Properties != nil {
		s.Properties = map[string]*jsonschema.Schema{}
		for name, p := range of.Properties {
			s.Properties[name] = bare(p)
		}
	}
	return &s
}

// OutlineSchema is the first level of OutputSchema, with nothing required: an answer
// over the budget is cut to the fact that something was done. It is nil for a
// tool that can answer with a text or a picture alone: clients refuse that where
// a schema is listed.
func (t *Tool) OutlineSchema() json.RawMessage {
	if t.Plain {
		return nil
	}
	whole := t.output()
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, PropertyOrder: whole.PropertyOrder}
	for name, p := range whole.Properties {
		if name != coercedKey {
			s.Properties[name] = &jsonschema.Schema{Type: p.Type, Types: p.Types}
		}
	}
	return t.encode(s)
}

func (t *Tool) encode(s *jsonschema.Schema) json.RawMessage {
	b, err := marshal(s)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", t.Name, err)) // found by the first test that lists tools
	}
	return b
}

// plain reports whether a result can be a text or a picture alone.
func plain[Out any]() bool {
	var out any = *new(Out)
	switch out.(type) {
	case Prose, Picture, Choice, Payload:
		return true
	}
	return false
}
