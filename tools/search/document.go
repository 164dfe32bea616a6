package search

import (
	"slices"
	"strings"

	"vault-mcp/cache/index/facts"
	"vault-mcp/vault"
	"vault-mcp/vault/canvas"
	"vault-mcp/vault/note"
	"vault-mcp/vault/query"
)

// document is a file as a query sees it. What the index knows of a note stands
// for its text if the query needs none.
type document struct {
	path  string
	kind  query.Kind
	facts *facts.Blob // of a note without text
	text  []byte
	load  func() ([]byte, bool) // reads text when it is needed; false if it cannot be
	// unread is set if it could not.
	unread bool

	scanned *note.Note
	props   *note.Properties
}

func kindOf(p string) query.Kind {
	switch vault.Kind(p) {
	case vault.Note:
		return query.NoteFile
	case vault.Canvas:
		return query.CanvasFile
	}
	return query.OtherFile
}

// newDocument is a file that was read. The text of a canvas is that of its
// cards, with a blank line between two.
func newDocument(p string, text []byte) (*document, error) {
	d := &document{path: p, kind: kindOf(p), text: text}
	if d.kind == query.CanvasFile {
		c, err := canvas.Read(text)
		if err != nil {
			return nil, err
		}
		d.text = []byte(strings.Join(c.Texts(), "\n\n"))
	}
	return d, nil
}

// source is the text for what is read from it.
func (d *document) source() []byte {
	if d.load != nil {
		text, ok := d.load()
		d.text, d.unread, d.load = text, !ok, nil
	}
	return d.text
}

func (d *document) note() *note.Note {
	if d.scanned == nil {
		d.scanned = note.Scan(d.source())
	}
	return d.scanned
}

func (d *document) properties() *note.Properties {
	if d.props == nil {
		p := note.ParseProperties(d.source())
		d.props = &p
	}
	return d.props
}

// isNote reports whether there are properties and the like: in a canvas there
// are none.
func (d *document) isNote() bool { return d.kind == query.NoteFile }

// Path implements query.Document.
func (d *document) Path() string { return d.path }

// Kind implements query.Document.
func (d *document) Kind() query.Kind { return d.kind }

// Text implements query.Document.
func (d *document) Text() []byte { return d.text }

// Headings implements query.Document.
func (d *document) Headings() []query.Heading {
	list := make([]query.Heading, len(d.note().Headings))
	for i, h := range d.note().Headings {
		list[i] = query.Heading{Level: h.Level, Span: query.Span(h.Span)}
	}
	return list
}

// Blocks implements query.Document.
func (d *document) Blocks() []query.Span {
	var list []query.Span
	for _, p := range d.note().Pieces() {
		list = append(list, query.Span(p))
	}
	return list
}

// Tasks implements query.Document.
func (d *document) Tasks() []query.Task {
	if !d.isNote() {
		return nil
	}
	var list []query.Task
	n := d.note()
	tasks := n.Inline().Tasks
	for i := range tasks {
		t := &tasks[i]
		start := min(t.StatusSpan.End+len("]"), len(d.text))
		end := max(start, min(n.LineSpan(t.EndLine).End, t.Span.End))
		list = append(list, query.Task{Text: query.Span{Start: start, End: end}, Done: t.Done()})
	}
	return list
}

// Tags implements query.Document.
func (d *document) Tags() []query.Tag {
	var list []query.Tag
	switch {
	case !d.isNote():
	case d.facts != nil:
		for t := range d.facts.Tags() {
			list = append(list, query.Tag{Name: t.Name})
		}
	default:
		for _, t := range d.properties().Tags() {
			list = append(list, query.Tag{Name: t.Name})
		}
		for _, t := range d.note().Inline().Tags {
			list = append(list, query.Tag{Name: t.Name, Span: query.Span(t.Span)})
		}
	}
	return list
}

// Properties implements query.Document.
func (d *document) Properties() []query.Property {
	var list []query.Property
	switch {
	case !d.isNote():
	case d.facts != nil:
		for p := range d.facts.Properties() {
			list = append(list, query.Property{Name: p.Key, Value: keyed(p.Value)})
		}
	default:
		for _, p := range d.properties().List {
			span := query.Span{Start: p.KeySpan.Start, End: max(p.KeySpan.End, p.ValueSpan.End)}
			list = append(list, query.Property{Name: p.Key, Value: p.Value, Span: span})
		}
	}
	return list
}

// mapping is a mapping of the index with the methods that a query asks for.
type mapping struct{ facts.Map }

// Keys are the keys in the order of the note.
func (m mapping) Keys() []string {
	keys := make([]string, len(m.Map))
	for i := range m.Map {
		keys[i] = m.Map[i].Key
	}
	return keys
}

// Get is the value of a key.
func (m mapping) Get(key string) (any, bool) {
	v, ok := m.Map.Get(key)
	return keyed(v), ok
}

// keyed is a value in which mappings are of that type, down to the next one.
func keyed(v any) any {
	switch v := v.(type) {
	case facts.Map:
		return mapping{v}
	case []any:
		list := slices.Clone(v)
		for i := range list {
			list[i] = keyed(list[i])
		}
		return list
	}
	return v
}

// nameOf is the name that words of a query are looked for in: that of the file
// without its extension.
func nameOf(p string) string {
	name := p[strings.LastIndexByte(p, '/')+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}
