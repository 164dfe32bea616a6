package config

import (
	"io"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Show writes the effective config as YAML that Load reads again, with every
// secret shown as ***.
func (c *Config) Show(w io.Writer) error {
	_, err := io.WriteString(w, c.Redacted())
	return err
}

// Redacted is what Show writes.
func (c *Config) Redacted() string { return redacted(c) }

// String is Redacted, so that no log shows a secret.
func (c *Config) String() string { return c.Redacted() }

// redacted writes a pointer to a tagged struct as YAML.
func redacted(v any) string {
	text, err := yaml.Marshal(node(reflect.ValueOf(v).Elem(), ""))
	if err != nil {
		panic(err) // nodes made here can be written
	}
	return string(text)
}

func node(v reflect.Value, tag reflect.StructTag) *yaml.Node {
	if tag.Get("secret") == "true" && !v.IsZero() {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "***"}
	}
	switch v.Kind() {
	case reflect.Struct:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, f := range fieldsOf(v.Type()) {
			value := v.Field(f.index)
			if f.tag.Get("enum") != "" && value.IsZero() {
				continue // not given, and it has no default
			}
			name := &yaml.Node{Kind: yaml.ScalarNode, Value: f.name}
			n.Content = append(n.Content, name, node(value, f.tag))
		}
		return n
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			n.Content = append(n.Content, node(v.Index(i), tag))
		}
		return n
	case reflect.Int:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v.Int(), 10)}
	case reflect.Bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v.Bool())}
	}
	n := &yaml.Node{}
	n.SetString(v.String())
	n.Tag = "!!str"
	return n
}
