// Package facts owns what the index knows of one note, and the bytes in which
// that is kept. It does no I/O.
//
// A Blob is read in place: each list is found without reading the others, and
// its strings are parts of the blob, so that a query over many notes decodes
// only what it asks for and copies nothing.
package facts

import (
	"bytes"

	"vault-mcp/vault/canvas"
	"vault-mcp/vault/note"
)

// Note is everything that the index knows of one note.
type Note struct {
	// State says whether the note has properties and whether they could be read.
	State note.State
	// Problem says why properties could not be read, or in another State what
	// else is wrong with the text, on line ProblemLine; it is empty if nothing is.
	Problem     string
	ProblemLine int
	// Lines is the number of lines of the note.
	Lines int

	// Properties are the properties in the order of the note.
	Properties []Property
	// Aliases are the other names of the note.
	Aliases []string
	// Tags are the tags of the properties, then those of the text, one for each
	// place.
	Tags []Tag
	// Links are the links and embeds of the properties, then those of the text,
	// then the link definitions.
	Links []Link
	// Headings, Blocks and Tasks are in the order of the text.
	Headings []Heading
	Blocks   []Block
	Tasks    []Task
}

// Property is one property.
type Property struct {
	Key string
	// Value is nil, bool, int64, float64, json.Number (an integer beyond int64),
	// string, []any or Map.
	Value any
	// Line is where the key stands, from 1.
	Line int
}

// Map is a mapping in the properties, in the order of the note.
type Map []Member

// Member is one key of a Map.
type Member struct {
	Key   string
	Value any
}

// Get is the value of a key.
func (m Map) Get(key string) (any, bool) {
	for _, e := range m {
		if e.Key == key {
			return e.Value, true
		}
	}
	return nil, false
}

// Tag is one tag at one place.
type Tag struct {
	// Name is the tag as written, without the #.
	Name string
	// Line is where it stands, from 1.
	Line int
	// Property is the key of the property that holds it, and empty in the text.
	Property string
}

// Link is one link or embed, not resolved.
type Link struct {
	// Target is the path as the link has it, decoded, or the whole address of an
	// external link; it is empty for a link into the same note.
	Target string
	// Subpath is what follows the path, from the first # on.
	Subpath string
	// Text is the display text as written, or empty.
	Text     string
	Form     note.LinkForm
	Embed    bool
	External bool
	// Line and Column are where it starts, from 1, in UTF-16 units.
	Line, Column int
	// Length is how many bytes of the text it takes; 0 for a card.
	Length int
	// Property is the key of the property that the link is a value of, and empty
	// in the text. Item is its index in the list that the property holds, or -1.
	Property string
	Item     int
	// Card is set for a card of a canvas that shows a file, and Node is its id.
	// Its Target is the whole path of the file, and it has no Form.
	Card bool
	Node string
}

// Heading is a heading.
type Heading struct {
	Level int
	// Text is the source of the title.
	Text string
	// Line is where it starts and Lines how many lines its section has.
	Line, Lines int
}

// Block is a part of a note with an id.
type Block struct {
	ID            string
	Kind          note.Kind
	Line, EndLine int
}

// Of reads the facts of a note from its text, which it does not keep.
func Of(text []byte) *Note {
	props := note.ParseProperties(text)
	scanned := note.Scan(text)
	inline := scanned.Inline()
	n := &Note{State: props.State, Lines: scanned.Lines(), Aliases: props.Aliases()}
	n.Problem, n.ProblemLine = problem(props.Problem, text)
	for _, p := range props.List {
		n.Properties = append(n.Properties, Property{p.Key, plain(p.Value), p.Line})
	}
	for _, tags := range [][]note.Tag{props.Tags(), inline.Tags} {
		for _, t := range tags {
			n.Tags = append(n.Tags, Tag{t.Name, t.Line, t.Property})
		}
	}
	n.links(scanned, props.Links(text), inline.Links, inline.Definitions)
	for _, h := range scanned.Headings {
		n.Headings = append(n.Headings, Heading{h.Level, h.Text, h.Line, h.SectionLines})
	}
	for _, b := range scanned.Blocks {
		n.Blocks = append(n.Blocks, Block{b.ID, b.Kind, b.Line, b.EndLine})
	}
	n.tasks(inline.Tasks)
	return n
}

// problem is what is wrong with a note that is text. A NUL character is in no
// text that somebody wrote: a disk or a program has lost a part of it.
func problem(p *note.Problem, text []byte) (reason string, line int) {
	if p != nil {
		return p.Reason, p.Line
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return "it holds a NUL character, as files do that were damaged", note.LineAt(text, at)
	}
	return "", 0
}

// Flaw says for people what is wrong with a note and on which line; the reason
// is empty if nothing is. Such a note is used, but not all that was in it may be.
func (b Blob) Flaw() (line int, reason string) {
	n := b.Head()
	return flaw(n.State, n.Problem, n.ProblemLine)
}

// FlawOf is the Flaw of a text.
func FlawOf(text []byte) (line int, reason string) {
	state, p := note.CheckProperties(text)
	reason, line = problem(p, text)
	return flaw(state, reason, line)
}

func flaw(s note.State, reason string, line int) (int, string) {
	if s == note.StateInvalid {
		reason = "its properties are no valid YAML: " + reason
	}
	return line, reason
}

// OfCanvas reads the facts of a canvas from its text: its cards that show a
// file are its links. The error says for people why the text is no canvas.
func OfCanvas(text []byte) (*Note, error) {
	c, err := canvas.Read(text)
	if err != nil {
		return nil, err
	}
	n := &Note{}
	for _, k := range c.Files() {
		n.Links = append(n.Links, Link{
			Target: k.File, Subpath: k.Subpath, Line: k.Line, Column: k.Column, Item: -1, Card: true, Node: k.ID,
		})
	}
	return n, nil
}

func (n *Note) links(scanned *note.Note, lists ...[]note.Link) {
	places := scanned.Positions()
	for i, list := range lists {
		for j := range list {
			l := &list[j]
			at := places.Pos(l.Span.Start)
			item := -1
			if i == 0 && l.Property != "" {
				item = l.Item
			}
			n.Links = append(n.Links, Link{
				Target: l.Target, Subpath: l.Subpath, Text: l.Text, Form: l.Form, Embed: l.Embed, External: l.External,
				Line: at.Line, Column: at.Column, Length: l.Span.End - l.Span.Start, Property: l.Property, Item: item,
			})
		}
	}
}

// plain is a property's value with mappings as Map.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case *note.Map:
		m := make(Map, 0, v.Len())
		for _, k := range v.Keys() {
			value, _ := v.Get(k)
			m = append(m, Member{k, plain(value)})
		}
		return m
	}
	return v
}
