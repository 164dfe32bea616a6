package note

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// yamlReader reads one block of properties. The YAML library finds the structure; what scalars mean, which keys repeat,
// and where values end is decided here, because the library follows YAML 1.1 and keeps no ends.
type yamlReader struct {
	text    yamlText
	lines   []int // starts of the lines of text.b
	flow    bool
	aliases int // alias weight left
	inAlias int // aliases being followed

	badEscape int // where a \' stands in double quotes, which YAML does not have and the library takes, or 0

	// memo is the last place found: nodes come in text order, so that columns of a long line are counted once.
	memo struct{ line, column, offset int }
}

func newYAML(src []byte) *yamlReader {
	return &yamlReader{text: newYAMLText(src), aliases: maxAliasWeight}
}

// readYAML returns the properties with places in the block, or nil for null, and whether they are one flow mapping. Lines
// count from 0.
func readYAML(yaml []byte) (list []Property, flow bool, problem *Problem) {
	y := newYAML(yaml)
	list, problem = y.read()
	return list, y.flow, problem
}

// errYAML is a problem at an offset of the text that is parsed.
type errYAML struct {
	at     int
	reason string
}

func (e *errYAML) Error() string { return e.reason }

// read returns the properties with places in the block, or nil for null. Lines count from 0.
func (y *yamlReader) read() ([]Property, *Problem) {
	root, problem := y.root()
	if problem != nil {
		return nil, problem
	}
	list, err := y.mapping(root)
	if err != nil {
		at := y.text.source(err.at)
		return nil, &Problem{Line: countLines(y.text.src[:at]), Reason: err.reason}
	}
	return list, nil
}

// root parses the text and makes its places known.
func (y *yamlReader) root() (*yaml.Node, *Problem) {
	root, problem := parseYAML(y.text.b)
	for _, change := range []func() bool{y.text.decodeEscapes, y.text.blankTabs} {
		if problem != nil && change() {
			root, problem = parseYAML(y.text.b)
		}
	}
	if problem != nil {
		return nil, problem
	}
	y.indexLines()
	return root, nil
}

// parseYAML returns the root node of the only document.
func parseYAML(b []byte) (root *yaml.Node, problem *Problem) {
	// The library panics on some malformed inputs. One bad note must not stop the program.
	defer func() {
		if r := recover(); r != nil {
			root, problem = nil, &Problem{Reason: "the YAML cannot be read"}
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, yamlProblem(b, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("yaml: there is more than one document")
		}
		return nil, yamlProblem(b, err)
	}
	return doc.Content[0], nil
}

var (
	yamlLine    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line (\d+): )?`) })
	parserFault = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^did not find expected (?:node content|'-' indicator|key|',' or '\]'|',' or '\}'|<)`)
	})
)

// yamlProblem reads the line out of an error of the library, whose parser counts from 0, whose scanner counts from 1,
// and which leaves the first line out.
func yamlProblem(b []byte, err error) *Problem {
	m := yamlLine().FindStringSubmatch(err.Error())
	if m == nil {
		return &Problem{Reason: err.Error()}
	}
	reason := strings.TrimPrefix(err.Error(), m[0])
	line := 0
	if m[1] != "" {
		line, _ = strconv.Atoi(m[1])
		if !parserFault().MatchString(reason) {
			line--
		}
	}
	if reason == "found unexpected end of stream" {
		reason = "a quote is not closed"
		// Only a quote behind the first line is reported where it opens.
		line = max(line0(append([]byte{'\n'}, b...))-2, 0)
	}
	return &Problem{Line: max(0, min(line, countLines(b))), Reason: reason}
}

// line0 is the line in the error of the library, or 0.
func line0(b []byte) int {
	err := yaml.Unmarshal(b, new(yaml.Node))
	if err == nil {
		return 0
	}
	line := 0
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		line, _ = strconv.Atoi(m[1])
	}
	return line
}

func (y *yamlReader) indexLines() {
	br := breaks{lf: -1, cr: -1}
	for pos := 0; pos < len(y.text.b); {
		y.lines = append(y.lines, pos)
		_, pos = br.next(y.text.b, pos)
	}
	y.lines = append(y.lines, len(y.text.b))
}

// mapping turns the root into properties.
func (y *yamlReader) mapping(root *yaml.Node) ([]Property, *errYAML) {
	start := y.offset(root)
	if root.Kind == yaml.ScalarNode && root.Style&(yaml.TaggedStyle|quoted) == 0 && resolveScalar(root.Value) == nil {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, &errYAML{start, "the properties are not a list of keys with values"}
	}
	y.flow = root.Style&yaml.FlowStyle != 0
	list := make([]Property, 0, len(root.Content)/2)
	seen := make(map[string]bool, len(root.Content)/2)
	x, end := extents{yamlReader: y}, 0
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		at := y.offset(k)
		key, err := y.key(k, 1)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, &errYAML{at, fmt.Sprintf("the key %q is there twice", key)}
		}
		seen[key] = true
		value, err := y.value(v, 1)
		if err != nil {
			return nil, err
		}
		p := Property{Key: key, Value: value, Line: k.Line - 1}
		if err := x.property(&p, k, v, y.flow); err != nil {
			return nil, err
		}
		if p.KeySpan.Start < end || p.ValueSpan.Start < p.KeySpan.End {
			return nil, &errYAML{at, "the key and its value cannot be told apart"}
		}
		if y.badEscape > 0 {
			return nil, &errYAML{y.badEscape, "a double-quoted text holds the unknown escape \\'"}
		}
		end = p.ValueSpan.End
		list = append(list, p)
	}
	return list, nil
}

const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// value converts a node. Tags outside the core schema leave a scalar a string, as in the app.
func (y *yamlReader) value(n *yaml.Node, depth int) (any, *errYAML) {
	if depth > MaxPropertyDepth {
		return nil, &errYAML{y.offset(n), fmt.Sprintf("values are nested deeper than %d levels", MaxPropertyDepth)}
	}
	if strings.ContainsAny(n.Tag, ",[]{}") {
		return nil, &errYAML{y.offset(n), "a tag holds a bracket or a comma"} // YAML 1.2 ends the tag there
	}
	if y.inAlias > 0 {
		if y.aliases -= 16 + len(n.Value); y.aliases < 0 {
			return nil, &errYAML{y.offset(n), "aliases repeat too much text"}
		}
	}
	switch n.Kind {
	case yaml.AliasNode:
		y.inAlias++
		v, err := y.value(n.Alias, depth+1)
		y.inAlias--
		return v, err
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := y.value(c, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		m := &Map{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, err := y.key(n.Content[i], depth+1)
			if err != nil {
				return nil, err
			}
			v, err := y.value(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			if !m.add(key, v) {
				return nil, &errYAML{y.offset(n.Content[i]), fmt.Sprintf("the key %q is there twice", key)}
			}
		}
		return m, nil
	}
	return y.scalar(n), nil
}

func (y *yamlReader) scalar(n *yaml.Node) any {
	s := y.text.original(n.Value)
	if n.Style&yaml.TaggedStyle != 0 {
		switch v := resolveScalar(s); v.(type) {
		case nil:
			if n.Tag == "!!null" {
				return nil
			}
		case bool:
			if n.Tag == "!!bool" {
				return v
			}
		case int64, float64:
			if n.Tag == "!!int" || n.Tag == "!!float" {
				return v
			}
		}
		return s
	}
	if n.Style&quoted != 0 {
		return s
	}
	return resolveScalar(s)
}

// key is the name that a key node stands for. A list or mapping as a key, which an unquoted {{placeholder}} is, is named
// by its flow form.
func (y *yamlReader) key(n *yaml.Node, depth int) (string, *errYAML) {
	v, err := y.value(n, depth)
	if err != nil {
		return "", err
	}
	switch v.(type) {
	case *Map, []any:
		return flowString(v), nil
	}
	return keyString(v), nil
}

func flowString(v any) string {
	switch v := v.(type) {
	case *Map:
		parts := make([]string, 0, v.Len())
		for _, k := range v.keys {
			if c := v.values[k]; c != nil {
				k += ": " + flowString(c)
			}
			parts = append(parts, k)
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case []any:
		parts := make([]string, 0, len(v))
		for _, c := range v {
			parts = append(parts, flowString(c))
		}
		return "[ " + strings.Join(parts, ", ") + " ]"
	}
	return keyString(v)
}

// offset is where a node starts in the text that is parsed; the library counts columns in characters.
func (y *yamlReader) offset(n *yaml.Node) int {
	line, column := n.Line-1, n.Column-1
	if line < 0 || line >= len(y.lines) {
		return len(y.text.b)
	}
	at, i := y.lines[line], 0
	if y.memo.line == line && y.memo.column <= column {
		at, i = y.memo.offset, y.memo.column
	}
	for ; i < column && at < len(y.text.b); i++ {
		at += runeLen(y.text.b[at])
	}
	at = min(at, len(y.text.b))
	y.memo.line, y.memo.column, y.memo.offset = line, column, at
	return at
}

// runeLen is the length of the UTF-8 character that starts with c.
func runeLen(c byte) int {
	switch {
	case c < 0xC0:
		return 1
	case c < 0xE0:
		return 2
	case c < 0xF0:
		return 3
	}
	return 4
}

// indent is the column of an offset in its line, in bytes.
func (y *yamlReader) indent(at int) int {
	i, exact := slices.BinarySearch(y.lines, at)
	if !exact {
		i--
	}
	return at - y.lines[i]
}
