package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// known are the arguments that mean the same in every tool, so that a list of tools that
// a model reads before its first word need not say it each time: the server's
// instructions do.
var known = []string{"cursor", "dry_run", "limit", "prev_hash", "title", "vault"}

// paths are the types of arguments that name something in the vault.
var paths = []reflect.Type{
	reflect.TypeFor[Note](), reflect.TypeFor[Notes](), reflect.TypeFor[Target](), reflect.TypeFor[Folder](),
}

// ShortSchema is an input schema for a list that costs little: only the arguments
// that are named (and the vault, where a call has to name one; nil names all), without
// bounds and without what the instructions say. As it is not whole, it forbids no other
// argument; InputSchema has them all, and a call is checked against that.
func (t *Tool) ShortSchema(several bool, shown []string) json.RawMessage {
	return t.listed(func(f field, vault bool) *jsonschema.Schema {
		if vault && !several || !vault && shown != nil && !slices.Contains(shown, f.name) {
			return nil
		}
		s := bare(f.schema)
		s.Default, s.Minimum, s.Maximum = nil, nil, nil
		if slices.Contains(paths, t.args().typ.FieldByIndex(f.index).Type) {
			s.Description = ""
		}
		return s
	}, several, nil)
}

// ListedSchema is an input schema for a list of all tools: InputSchema without the
// lengths of texts and lists, and without what the instructions say.
func (t *Tool) ListedSchema(several bool) json.RawMessage {
	return t.listed(func(f field, _ bool) *jsonschema.Schema { return bare(f.schema) }, several, t.args().schema.AdditionalProperties)
}

// listed is a schema of the arguments that show gives one.
func (t *Tool) listed(show func(f field, vault bool) *jsonschema.Schema, several bool, others *jsonschema.Schema) json.RawMessage {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: others}
	for _, f := range t.args().fields {
		vault := t.args().typ.FieldByIndex(f.index).Type == reflect.TypeFor[VaultID]()
		p := show(f, vault)
		if p == nil {
			continue
		}
		if slices.Contains(known, f.name) {
			p.Description = ""
		}
		s.Properties[f.name] = p
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if f.required || vault && several {
			s.Required = append(s.Required, f.name)
		}
	}
	return t.encode(s)
}

// bare is a schema without the lengths of texts and lists.
func bare(of *jsonschema.Schema) *jsonschema.Schema {
	s := *of
	s.MinLength, s.MaxLength, s.MinItems, s.MaxItems = nil, nil, nil, nil
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

// OutlineSchema is the first level of OutputSchema, without what can be anything and
// with nothing required: an answer
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
		switch {
		case name == coercedKey:
		case p.Type != "":
			s.Properties[name] = &jsonschema.Schema{Type: p.Type}
		case p.Types != nil:
			s.Properties[name] = oneOf(p.Types...)
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
