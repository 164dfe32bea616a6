package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Enum is an argument type whose values are a closed list. The schema and the
// check of the argument both come from it.
type Enum interface{ Values() []string }

// arguments describes the struct that a tool's arguments are decoded into.
type arguments struct {
	schema *jsonschema.Schema
	fields []field
	vault  bool // the tool works on a vault
	typ    reflect.Type
	// title is the argument that can stand for path; both are nil where the tool
	// has none.
	title, path *field

	// Rendering takes most of a start if it is done for every tool, so it is
	// done once, when somebody asks: for one vault and for several.
	once     [2]sync.Once
	rendered [2]json.RawMessage
}

// field is one argument.
type field struct {
	name     string
	index    []int
	schema   *jsonschema.Schema
	required bool
	fallback json.RawMessage // what an absent argument counts as, or nil
}

var (
	enumType = reflect.TypeFor[Enum]()
	refType  = reflect.TypeFor[Ref]()
	anyValue = reflect.TypeFor[Value]()
)

// argumentsOf derives an argument list from a flat struct. Field tags: json
// for the name (omitempty makes it optional), jsonschema for what it means,
// limits for its bounds and its default, such as "min=1,max=1000,default=200".
// Lengths of strings are in characters.
func argumentsOf[In any]() (*arguments, error) {
	typ := reflect.TypeFor[In]()
	if typ.Kind() != reflect.Struct {
		return nil, fmt.Errorf("arguments are a %s, not a struct", typ.Kind())
	}
	schema, err := jsonschema.ForType(typ, &jsonschema.ForOptions{TypeSchemas: special(typ)})
	if err != nil {
		return nil, err
	}
	a := &arguments{schema: schema, typ: typ}
	for _, f := range reflect.VisibleFields(typ) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" {
			continue
		}
		s := schema.Properties[name]
		if s == nil {
			return nil, fmt.Errorf("argument %s has no schema", name)
		}
		if f.Type.Kind() == reflect.Pointer {
			return nil, fmt.Errorf("argument %s is a pointer: its schema would be a union", name)
		}
		noUnion(s, false)
		if f.Type.Kind() == reflect.Interface {
			s.AnyOf = anything
		}
		fd := field{name: name, index: f.Index, schema: s, required: !strings.Contains(opts, "omitempty")}
		if err := limits(s, f.Tag.Get("limits")); err != nil {
			return nil, fmt.Errorf("argument %s: %v", name, err)
		}
		fd.fallback = s.Default
		if f.Type == reflect.TypeFor[VaultID]() {
			a.vault = true
		}
		a.fields = append(a.fields, fd)
	}
	return a, a.pair()
}

// special maps the argument types of this package, and every enum that a
// struct uses, to their schemas.
func special(typ reflect.Type) map[reflect.Type]*jsonschema.Schema {
	m := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Title]():   {Type: "string", MinLength: ptr(1), MaxLength: ptr(maxPath)},
		reflect.TypeFor[Note]():    {Type: "string", MinLength: ptr(1), MaxLength: ptr(maxPath)},
		reflect.TypeFor[Target]():  {Type: "string", MinLength: ptr(1), MaxLength: ptr(maxPath)},
		reflect.TypeFor[Spot]():    {Type: "string", MinLength: ptr(1), MaxLength: ptr(maxPath)},
		reflect.TypeFor[File]():    {Type: "string", MinLength: ptr(1), MaxLength: ptr(maxPath)},
		reflect.TypeFor[Folder]():  {Type: "string", MaxLength: ptr(maxPath)},
		reflect.TypeFor[VaultID](): {Type: "string"},
		reflect.TypeFor[Value]():   {AnyOf: anything},
		reflect.TypeFor[Object]():  {Type: "object"},
	}
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		switch {
		case m[t] != nil:
		case t.Implements(enumType):
			s := &jsonschema.Schema{Type: "string"}
			for _, v := range reflect.Zero(t).Interface().(Enum).Values() {
				s.Enum = append(s.Enum, v)
			}
			m[t] = s
		case t.Kind() == reflect.Struct:
			for i := range t.NumField() {
				visit(t.Field(i).Type)
			}
		case t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
			visit(t.Elem())
		}
	}
	visit(typ)
	return m
}

// anything are the schemas of all values.
var anything = oneOf("string", "number", "boolean", "array", "object", "null").AnyOf

// oneOf is a schema of values of several types: a list of types, and none at all, are
// things that some clients refuse.
func oneOf(types ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	for _, t := range types {
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: t})
	}
	return s
}

func ptr[T any](v T) *T { return &v }

// noUnion drops "null" from types: clients with strict schemas refuse unions,
// and an argument that is null counts as absent. In results a scalar may be
// null (next_cursor at the end), an array or object never.
func noUnion(s *jsonschema.Schema, result bool) {
	if keep := result && !slices.Contains(s.Types, "array") && !slices.Contains(s.Types, "object"); len(s.Types) > 0 && !keep {
		if t := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" }); len(t) == 1 {
			s.Type, s.Types = t[0], nil
		}
	}
	for _, p := range s.Properties {
		noUnion(p, result)
	}
	if s.Items != nil {
		noUnion(s.Items, result)
	}
	if s.AdditionalProperties != nil {
		noUnion(s.AdditionalProperties, result)
	}
}

// limits applies a limits tag to a schema. For an array, lengths of strings go
// to its items.
func limits(s *jsonschema.Schema, tag string) error {
	if tag == "" {
		return nil
	}
	item := s
	if s.Items != nil {
		item = s.Items
	}
	for part := range strings.SplitSeq(tag, ",") {
		key, value, _ := strings.Cut(part, "=")
		if key == "default" {
			s.Default = json.RawMessage(value)
			if s.Type == "string" {
				s.Default = json.RawMessage(strconv.Quote(value))
			}
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("limit %q is no number", part)
		}
		switch key {
		case "min":
			item.Minimum = ptr(float64(n))
		case "max":
			item.Maximum = ptr(float64(n))
		case "minLength":
			item.MinLength = &n
		case "maxLength":
			item.MaxLength = &n
		case "minItems":
			s.MinItems = &n
		case "maxItems":
			s.MaxItems = &n
		default:
			return fmt.Errorf("unknown limit %q", key)
		}
	}
	return nil
}

// render is the schema as clients get it: compact, nothing escaped for HTML.
func (a *arguments) render(several bool) json.RawMessage {
	i := 0
	if several && a.vault {
		i = 1
	}
	a.once[i].Do(func() { a.rendered[i] = a.encode(i == 1) })
	return a.rendered[i]
}

func (a *arguments) encode(needVault bool) json.RawMessage {
	s := *a.schema
	if needVault {
		s.Required = append(slices.Clone(s.Required), "vault")
	}
	b, err := marshal(&s)
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", a.typ, err)) // found by the first test that lists tools
	}
	return b
}

// outputSchema derives the schema of a structured result. Arrays are never
// null, so no union is left.
func outputSchema[Out any]() (*jsonschema.Schema, error) {
	typ := reflect.TypeFor[Out]()
	s, err := jsonschema.ForType(typ, &jsonschema.ForOptions{TypeSchemas: special(typ)})
	if err != nil {
		return nil, err
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("results are objects, not %s", s.Type)
	}
	noUnion(s, true)
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	s.Properties[coercedKey] = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}, Description: "arguments that were sent as strings"}
	return s, nil
}

// addCut adds to the result of a list what its call adds where it is cut.
func addCut(s *jsonschema.Schema) error {
	cut, err := outputSchema[CutList]()
	if err != nil {
		return err
	}
	cut.Description = "only where the list ends early because it would be long"
	s.Properties["cut"] = cut
	s.PropertyOrder = append(s.PropertyOrder, "cut")
	return nil
}

// argsHave reports whether the arguments have a field.
func argsHave[In any](field string) bool {
	_, ok := reflect.TypeFor[In]().FieldByName(field)
	return ok
}

// Arguments describes each argument in a line, for a person.
func (t *Tool) Arguments() []string {
	var lines []string
	for _, f := range t.args().fields {
		need := ""
		if f.required {
			need = ", required"
		}
		line := fmt.Sprintf("%s (%s%s)", f.name, cmp.Or(f.schema.Type, "any"), need)
		if of := f.schema.Items; of != nil && len(of.Properties) > 0 {
			line += " each {" + strings.Join(slices.Sorted(maps.Keys(of.Properties)), ", ") + "}"
		}
		if f.schema.Description != "" {
			line += " " + f.schema.Description
		}
		if f.fallback != nil {
			line += fmt.Sprintf("; default %s", f.fallback)
		}
		if len(f.schema.Enum) > 0 {
			line += "; one of " + enumList(f.schema.Enum)
		}
		lines = append(lines, line)
	}
	return lines
}
