package config

import (
	"io"
	"reflect"
	"slices"
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

// Told is the part of Redacted that a client may know: none of the vaults and their
// rules, no path of the machine, and nothing that tells an agent how it could
// approve its own calls. A key belongs to it if its section says so in a tag.
func (c *Config) Told() map[string]any {
	n := &yaml.Node{Kind: yaml.MappingNode}
	v := reflect.ValueOf(c).Elem()
	for _, f := range fieldsOf(v.Type()) {
		if f.tag.Get("told") == "true" {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: f.name}, told(v.Field(f.index)))
		}
	}
	all := map[string]any{}
	if err := n.Decode(&all); err != nil {
		panic(err) // nodes made here can be read
	}
	return all
}

// told is a section without the keys that are not for clients.
func told(v reflect.Value) *yaml.Node {
	if v.Kind() != reflect.Struct {
		return node(v, "")
	}
	n, all := node(v, ""), fieldsOf(v.Type())
	var kept []*yaml.Node
	for pair := range slices.Chunk(n.Content, 2) {
		if !slices.ContainsFunc(all, func(f field) bool { return f.name == pair[0].Value && f.tag.Get("told") == "false" }) {
			kept = append(kept, pair...)
		}
	}
	n.Content = kept
	return n
}

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
