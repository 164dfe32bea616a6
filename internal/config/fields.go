package config

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// field is a key of the file: a struct field that is not yaml:"-".
type field struct {
	name  string
	index int
	kind  reflect.Kind
	tag   reflect.StructTag
}

func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		if name := f.Tag.Get("yaml"); name != "-" {
			fields = append(fields, field{name, i, f.Type.Kind(), f.Tag})
		}
	}
	return fields
}

// defaults is a T as it is when nothing is given.
func defaults[T any]() T {
	var v T
	setDefaults(reflect.ValueOf(&v).Elem())
	return v
}

// setDefaults fills a struct from its default tags, which hold YAML.
func setDefaults(v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	for _, f := range fieldsOf(v.Type()) {
		setDefaults(v.Field(f.index))
		text, given := f.tag.Lookup("default")
		if !given {
			continue
		}
		if err := yaml.Unmarshal([]byte(text), v.Field(f.index).Addr().Interface()); err != nil {
			panic(err) // a default in the structs that is not of its type
		}
	}
}
