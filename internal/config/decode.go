package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

var (
	yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: line (\d+): `) })
	// jsonEscape is an escape in a JSON string; two of them for a character
	// beyond 16 bits.
	jsonEscape = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|.)`)
	})
	plainKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`) })
)

// document reads the one YAML or JSON document of a file; nil if there is none.
func document(text []byte, p *problems) *yaml.Node {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if json.Valid(text) {
		text = jsonEscape().ReplaceAllFunc(text, yamlEscape)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	err := d.Decode(&first)
	if err == io.EOF || err == nil && first.Content[0].ShortTag() == "!!null" {
		p.line(0, "", "is empty: name at least one vault, as in vaults: [{path: ~/Notes}]")
		return nil
	}
	if err == nil {
		if err = d.Decode(&second); err == nil {
			p.line(second.Line, "", "a second document begins here: keep one, without lines of ---")
			return nil
		}
	}
	if err != io.EOF {
		n, message := 0, err.Error()
		if m := yamlLine().FindStringSubmatch(message); m != nil {
			n, _ = strconv.Atoi(m[1])
			message = message[len(m[0]):]
		}
		p.line(n, "", "not valid YAML or JSON: %s", cut(strings.TrimPrefix(message, "yaml: "), maxQuoted))
		return nil
	}
	return first.Content[0]
}

// yamlEscape replaces an escape that JSON has and the YAML parser has not.
func yamlEscape(escape []byte) []byte {
	switch {
	case string(escape) == `\/`:
		return []byte("/")
	case len(escape) == len(`\ud83d\ude00`):
		var char string
		if json.Unmarshal(fmt.Appendf(nil, `"%s"`, escape), &char) == nil {
			return []byte(char)
		}
	}
	return escape
}

// decode puts the values of a document into a struct that holds the defaults.
func decode(root *yaml.Node, into any, p *problems) {
	d := decoder{p}
	d.value(root, reflect.ValueOf(into).Elem(), "", "")
}

// decoder reads YAML nodes into tagged structs and takes nothing that the
// structs do not name.
type decoder struct{ *problems }

func (d decoder) value(n *yaml.Node, v reflect.Value, key string, tag reflect.StructTag) {
	d.lines[key] = n.Line
	switch {
	case n.Kind == yaml.AliasNode:
		d.line(n.Line, key, "aliases are not read: write the value out")
	case n.ShortTag() == "!!null":
		d.line(n.Line, key, "has no value: give it %s, or remove the key", expected(v.Kind(), tag))
	case v.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		d.mapping(n, v, key)
	case v.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		d.sequence(n, v, key, tag)
	case v.Kind() == reflect.String && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str":
		d.text(n, v, key, tag)
	case v.Kind() == reflect.Bool && n.ShortTag() == "!!bool" && n.Decode(v.Addr().Interface()) == nil:
	case v.Kind() == reflect.Int && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int":
		d.number(n, v, key, tag)
	default:
		found, hint := found(n), ""
		if tag.Get("secret") == "true" && n.Kind == yaml.ScalarNode {
			found = "another value"
		}
		if v.Kind() == reflect.String && n.Kind == yaml.ScalarNode {
			hint = ": put it in quotes"
		}
		d.line(n.Line, key, "expected %s, found %s%s", expected(v.Kind(), tag), found, hint)
	}
}

func (d decoder) mapping(n *yaml.Node, v reflect.Value, key string) {
	fields := fieldsOf(v.Type())
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		path := join(key, name.Value)
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == name.Value })
		if before, twice := seen[name.Value]; twice {
			d.line(name.Line, path, "is given twice (before on line %d): keep one", before)
			continue
		}
		seen[name.Value] = name.Line
		if at < 0 || name.Kind != yaml.ScalarNode {
			d.unknown(name, path, fields)
			continue
		}
		d.value(value, v.Field(fields[at].index), path, fields[at].tag)
	}
	for _, f := range fields {
		if _, given := seen[f.name]; !given && f.tag.Get("required") == "true" {
			d.line(n.Line, join(key, f.name), "is missing: give it %s", expected(f.kind, f.tag))
		}
	}
}

func (d decoder) unknown(name *yaml.Node, path string, fields []field) {
	accepted := make([]string, len(fields))
	for i, f := range fields {
		accepted[i] = f.name
	}
	hint := ""
	if near := nearest(cut(name.Value, maxQuoted), accepted); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	d.line(name.Line, path, "unknown key%s (accepted here: %s)", hint, strings.Join(accepted, ", "))
}

func (d decoder) sequence(n *yaml.Node, v reflect.Value, key string, tag reflect.StructTag) {
	v.SetZero() // what is given stands in place of the default
	for i, item := range n.Content {
		element := reflect.New(v.Type().Elem()).Elem()
		setDefaults(element)
		d.value(item, element, fmt.Sprintf("%s[%d]", key, i), tag)
		v.Set(reflect.Append(v, element))
	}
}

func (d decoder) text(n *yaml.Node, v reflect.Value, key string, tag reflect.StructTag) {
	enum := tag.Get("enum")
	if enum != "" && !slices.Contains(strings.Split(enum, ","), n.Value) {
		why := tag.Get("why")
		if why != "" {
			why = " (" + why + ")"
		}
		d.line(n.Line, key, "%s is not one of %s%s", quote(n.Value), strings.ReplaceAll(enum, ",", ", "), why)
		return
	}
	if v.Type() == durationType && !within(n.Value, tag) {
		d.line(n.Line, key, "%s is out of bounds: expected %s", quote(n.Value), expectedDuration(tag))
		return
	}
	v.SetString(n.Value)
}

func (d decoder) number(n *yaml.Node, v reflect.Value, key string, tag reflect.StructTag) {
	var i int64
	err := n.Decode(&i)
	low, high := bounds(tag)
	if err != nil || i < low || i > high {
		d.line(n.Line, key, "%s is out of bounds: expected %s", cut(n.Value, maxQuoted), expected(v.Kind(), tag))
		return
	}
	v.SetInt(i)
}

// bounds are the least and the greatest value of a number.
func bounds(tag reflect.StructTag) (low, high int64) {
	low, errLow := strconv.ParseInt(tag.Get("min"), 10, 64)
	high, errHigh := strconv.ParseInt(tag.Get("max"), 10, 64)
	if err := errors.Join(errLow, errHigh); err != nil {
		panic(err) // a number in the structs without bounds
	}
	return low, high
}

// expected says what a key takes.
func expected(kind reflect.Kind, tag reflect.StructTag) string {
	switch kind {
	case reflect.Struct:
		return "a group of keys"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		low, high := bounds(tag)
		return fmt.Sprintf("a whole number from %d to %d", low, high)
	}
	if enum := tag.Get("enum"); enum != "" {
		return "one of " + strings.ReplaceAll(enum, ",", ", ")
	}
	return "text"
}

// found says what a file has in place of what was expected.
func found(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a group of keys"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!int", n.ShortTag() == "!!float":
		return "the number " + cut(n.Value, maxQuoted)
	case n.ShortTag() == "!!str":
		return "the text " + quote(n.Value)
	}
	return cut(n.Value, maxQuoted)
}

// join makes the path of a key; a name that is no plain word is quoted.
func join(key, name string) string {
	if !plainKey().MatchString(name) {
		name = strconv.Quote(cut(name, 40))
	}
	if key == "" {
		return name
	}
	return key + "." + name
}
