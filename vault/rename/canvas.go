package rename

import (
	"bytes"
	"encoding/json"

	"vault-mcp/vault/canvas"
	"vault-mcp/vault/note"
)

// canvasItems are the files that cards show, the pictures behind groups, and the links in the text of cards. A canvas that
// cannot be read has none.
func canvasItems(text []byte) []item {
	if _, err := canvas.Read(text); err != nil {
		return nil
	}
	var items []item
	s := walker{text: text, start: len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff")))}
	s.d = json.NewDecoder(bytes.NewReader(text[s.start:]))
	s.object(func(key string) bool {
		if key != "nodes" {
			return false
		}
		s.list(func() { items = append(items, s.node()...) })
		return true
	})
	return items
}

// walker walks valid JSON and knows where its strings stand.
type walker struct {
	d     *json.Decoder
	text  []byte
	start int // of the JSON in the text
}

// object reads an object. field is called behind each key and reports whether it has read the value.
func (s *walker) object(field func(key string) bool) {
	if !s.open('{') {
		return
	}
	for s.d.More() {
		key, err := s.d.Token()
		if err != nil {
			return
		}
		if name, _ := key.(string); !field(name) {
			s.skip()
		}
	}
	_, _ = s.d.Token() // the end; valid JSON has it
}

// list reads a list. item is called for each value, and reads it.
func (s *walker) list(item func()) {
	if !s.open('[') {
		return
	}
	for s.d.More() {
		item()
	}
	_, _ = s.d.Token() // the end; valid JSON has it
}

// open reads what opens an object or list; anything else is passed over.
func (s *walker) open(what json.Delim) bool {
	if s.peek() != byte(what) {
		s.skip()
		return false
	}
	_, err := s.d.Token()
	return err == nil
}

func (s *walker) skip() {
	var raw json.RawMessage
	_ = s.d.Decode(&raw) // valid JSON
}

// next is where the next value starts.
func (s *walker) next() int {
	at := s.start + int(s.d.InputOffset())
	for at < len(s.text) && bytes.IndexByte([]byte(" \t\r\n:,"), s.text[at]) >= 0 {
		at++
	}
	return at
}

func (s *walker) peek() byte {
	if at := s.next(); at < len(s.text) {
		return s.text[at]
	}
	return 0
}

// part is a string in the text: what it says, and where it stands without its quotes.
type part struct {
	said string
	note.Span
}

// read reads a string; anything else is passed over.
func (s *walker) read() part {
	at := s.next()
	var v any
	if s.d.Decode(&v) != nil {
		return part{}
	}
	said, ok := v.(string)
	if !ok {
		return part{}
	}
	return part{said, note.Span{Start: at + 1, End: s.start + int(s.d.InputOffset()) - 1}}
}

// node reads one node.
func (s *walker) node() []item {
	fields := map[string]part{}
	s.object(func(key string) bool {
		switch key {
		case "type", "file", "subpath", "text", "background":
			fields[key] = s.read()
			return true
		}
		return false
	})
	switch canvas.Type(fields["type"].said) {
	case canvas.File:
		return s.shows(fields["file"], fields["subpath"])
	case canvas.Group:
		return s.shows(fields["background"], part{})
	case canvas.Text:
		text := fields["text"]
		if in, ok := unquote(text.Of(s.text), text.Start, '"', true); ok {
			return textItems(in)
		}
	}
	return nil
}

// shows is the item of a node that shows a file.
func (s *walker) shows(file, subpath part) []item {
	if file.said == "" {
		return nil
	}
	it := item{kind: exact, in: literal{quote: '"', value: s.text}}
	it.Span = file.Span
	it.Target, it.TargetSpan = file.said, file.Span
	it.Subpath, it.SubpathSpan = subpath.said, subpath.Span
	return []item{it}
}
