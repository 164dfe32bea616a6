// Package canvas owns what the bytes of a canvas mean: its cards and the
// arrows between them, in the format JSON Canvas 1.0. It knows no file and no
// vault, and accepts any bytes at all.
//
// It reads like the app: what it does not know is passed over, and a value of
// a wrong type counts as missing.
package canvas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Limits of a canvas. Beyond them it is not read, so that one file cannot use
// up memory.
const (
	MaxBytes = 16 << 20
	MaxItems = 100_000 // nodes, and edges
)

// Canvas is one canvas.
type Canvas struct {
	// Nodes are the cards and groups, from the back to the front.
	Nodes []Node
	Edges []Edge
}

// Type is the kind of a node.
type Type string

// The types of nodes.
const (
	Text  Type = "text"
	File  Type = "file"
	Link  Type = "link"
	Group Type = "group"
)

// Node is a card or a group. Its Type may be one that the format does not have.
type Node struct {
	ID                  string
	Type                Type
	X, Y, Width, Height int
	Color               string
	// Text is the Markdown of a text card.
	Text string
	// File is the path in the vault that a file card shows, and Subpath "" or
	// the part of it, from the # on.
	File, Subpath string
	// URL is what a link card shows.
	URL string
	// Label, Background and BackgroundStyle are those of a group.
	Label, Background, BackgroundStyle string
	// Line and Column are where the node starts in the source, from 1; the
	// column counts UTF-16 units.
	Line, Column int
}

// Edge is an arrow between two nodes.
type Edge struct {
	ID, FromNode, ToNode string
	// FromSide and ToSide are top, right, bottom, left, or "".
	FromSide, ToSide string
	// FromEnd and ToEnd are none or arrow; an edge has an arrow at its end
	// unless it says otherwise.
	FromEnd, ToEnd string
	Color, Label   string
}

// The ends of edges.
const (
	None  = "none"
	Arrow = "arrow"
)

// errTooLarge says that MaxBytes is passed.
var errTooLarge = fmt.Errorf("the canvas has more than %d bytes", MaxBytes)

// Read reads a canvas. An empty file is an empty canvas. The error says for
// people why the text is none.
func Read(text []byte) (*Canvas, error) {
	if len(text) > MaxBytes {
		return nil, errTooLarge
	}
	c := &Canvas{}
	body := bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(body)) == 0 {
		return c, nil
	}
	if !json.Valid(body) {
		var v any // only to learn what is wrong
		return nil, fmt.Errorf("it is no valid JSON: %w", problem(json.Unmarshal(body, &v)))
	}
	nodes, edges, ok := lists(body)
	if !ok {
		return nil, errors.New("it is no JSON object")
	}
	at := position{text: body, line: 1}
	err := nodes.each(func(o object, offset int) {
		n := o.node()
		n.Line, n.Column = at.of(offset)
		c.Nodes = append(c.Nodes, n)
	})
	if err != nil {
		return nil, fmt.Errorf("its nodes are %w", err)
	}
	if err := edges.each(func(o object, _ int) { c.Edges = append(c.Edges, o.edge()) }); err != nil {
		return nil, fmt.Errorf("its edges are %w", err)
	}
	return c, nil
}

// problem is an error of the parser, which may be nil for what only Valid
// refuses.
func problem(err error) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%w (byte %d)", err, e.Offset)
	}
	if err == nil {
		return errors.New("it cannot be read")
	}
	return err
}

// value is a part of the text, and where it starts.
type value struct {
	raw    json.RawMessage
	offset int
}

// lists are the two lists of a canvas in valid JSON. Of a key that is there
// twice the last one counts.
func lists(text []byte) (nodes, edges value, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return value{}, value{}, false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return value{}, value{}, false
		}
		var v value
		if err := d.Decode(&v.raw); err != nil {
			return value{}, value{}, false
		}
		v.offset = int(d.InputOffset()) - len(v.raw)
		switch key {
		case "nodes":
			nodes = v
		case "edges":
			edges = v
		}
	}
	return nodes, edges, true
}

// errNoList says that a list is something else, errTooMany that MaxItems is
// passed.
var (
	errNoList  = errors.New("no list")
	errTooMany = fmt.Errorf("more than %d", MaxItems)
)

// each calls f with the objects in a list, and where each starts.
func (v value) each(f func(o object, offset int)) error {
	if len(v.raw) == 0 || string(v.raw) == "null" {
		return nil
	}
	if v.raw[0] != '[' {
		return errNoList
	}
	d := json.NewDecoder(bytes.NewReader(v.raw))
	if _, err := d.Token(); err != nil {
		return err
	}
	for n := 0; d.More(); n++ {
		if n == MaxItems {
			return errTooMany
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		var o object
		if json.Unmarshal(raw, &o) == nil && o != nil {
			f(o, v.offset+int(d.InputOffset())-len(raw))
		}
	}
	return nil
}

// object is a node or edge as written.
type object map[string]json.RawMessage

func (o object) text(key string) string {
	var s string
	_ = json.Unmarshal(o[key], &s) // "" for what is no string
	return s
}

func (o object) or(key, missing string) string {
	if s := o.text(key); s != "" {
		return s
	}
	return missing
}

// number is a coordinate. The format has integers; a fraction is cut off.
func (o object) number(key string) int {
	var f float64
	if json.Unmarshal(o[key], &f) != nil || math.Abs(f) > 1<<53 {
		return 0
	}
	return int(f)
}

func (o object) node() Node {
	return Node{
		ID: o.text("id"), Type: Type(o.text("type")),
		X: o.number("x"), Y: o.number("y"), Width: o.number("width"), Height: o.number("height"),
		Color: o.text("color"), Text: o.text("text"), File: o.text("file"), Subpath: o.text("subpath"), URL: o.text("url"),
		Label: o.text("label"), Background: o.text("background"), BackgroundStyle: o.text("backgroundStyle"),
	}
}

func (o object) edge() Edge {
	return Edge{
		ID: o.text("id"), FromNode: o.text("fromNode"), ToNode: o.text("toNode"),
		FromSide: o.text("fromSide"), ToSide: o.text("toSide"),
		FromEnd: o.or("fromEnd", None), ToEnd: o.or("toEnd", Arrow),
		Color: o.text("color"), Label: o.text("label"),
	}
}

// position finds lines and columns of offsets that never decrease.
type position struct {
	text          []byte
	at, line, col int
}

func (p *position) of(offset int) (line, column int) {
	for p.at < offset && p.at < len(p.text) {
		b := p.text[p.at]
		p.at++
		switch {
		case b == '\n', b == '\r' && (p.at == len(p.text) || p.text[p.at] != '\n'):
			p.line++
			p.col = 0
		case b >= 0xf0:
			p.col += 2
		case b < 0x80, b >= 0xc0:
			p.col++
		}
	}
	return p.line, p.col + 1
}

// Texts are the texts of the cards, which is what a search looks at, from the
// back to the front.
func (c *Canvas) Texts() []string {
	var texts []string
	for i := range c.Nodes {
		if n := &c.Nodes[i]; n.Type == Text && n.Text != "" {
			texts = append(texts, n.Text)
		}
	}
	return texts
}

// Files are the cards that show a file: the links of the canvas. Links in the
// text of cards do not count, as in the app.
func (c *Canvas) Files() []Node {
	var cards []Node
	for i := range c.Nodes {
		if n := &c.Nodes[i]; n.Type == File && n.File != "" {
			cards = append(cards, *n)
		}
	}
	return cards
}
