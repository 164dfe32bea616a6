package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"vault-mcp/internal/clients"
)

// quote writes text as a string of JSON, which TOML reads too.
func quote(text string) string { return string(hujson.String(text)) }

// putJSON sets the value at a path of names, in a text of an object. Objects on the
// way that are missing or null are made. Nothing else changes.
func putJSON(syntax clients.Syntax, text []byte, path []string, value any) ([]byte, error) {
	root, body, err := syntax.Tree(text)
	if err != nil {
		return nil, err
	}
	bom := bomOf(text)
	if len(body) == 0 {
		s := style{end: lineEnd(text), unit: "  "}
		return slices.Concat(bom, []byte(s.value(wrap(path, value))+s.end)), nil
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, &clients.Unreadable{Line: 1, Why: "it is no object"}
	}
	d := document{body, &root, unitOf(body, object)}
	at := &root
	for i, name := range path {
		found, err := find(object, name)
		if err != nil {
			return nil, err
		}
		if found < 0 {
			return slices.Concat(bom, apply(body, d.insert(at, object, member{name, wrap(path[i+1:], value)})...)), nil
		}
		at = &object.Members[found].Value
		within, ok := at.Value.(*hujson.Object)
		if i == len(path)-1 || at.Value.Kind() == 'n' {
			s := d.styleAt(at.StartOffset)
			return slices.Concat(bom, apply(body, edit{at.StartOffset, at.EndOffset, s.value(wrap(path[i+1:], value))})), nil
		}
		if !ok {
			return nil, fmt.Errorf("%q is no object", name)
		}
		object = within
	}
	return nil, errors.New("no path")
}

// removeJSON takes the member at a path of names out. Nothing else changes.
func removeJSON(syntax clients.Syntax, text []byte, path []string) ([]byte, error) {
	root, body, err := syntax.Tree(text)
	if err != nil {
		return nil, err
	}
	at := &root
	for i, name := range path {
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%q is no object", name)
		}
		found, err := find(object, name)
		if err != nil || found < 0 {
			return nil, errors.Join(err, fmt.Errorf("%q is not there", name))
		}
		if i == len(path)-1 {
			return slices.Concat(bomOf(text), apply(body, cut(body, at, object, found)...)), nil
		}
		at = &object.Members[found].Value
	}
	return nil, errors.New("no path")
}

// bomOf is the BOM of a text, or nothing.
func bomOf(text []byte) []byte {
	return text[:len(text)-len(bytes.TrimPrefix(text, []byte(clients.BOM)))]
}

// wrap puts a value under a path of names.
func wrap(path []string, value any) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = []member{{path[i], value}}
	}
	return value
}

// find is the place of a member, or -1. A name that is there twice is an error:
// which one counts is up to each reader.
func find(o *hujson.Object, name string) (int, error) {
	found := -1
	for i, m := range o.Members {
		if m.Name.Value.(hujson.Literal).String() == name {
			if found >= 0 {
				return 0, fmt.Errorf("%q is there twice", name)
			}
			found = i
		}
	}
	return found, nil
}

// document is a text that is edited.
type document struct {
	text []byte
	root *hujson.Value
	unit string
}

// oneLine reports whether all of the text stands on one line.
func (d document) oneLine() bool { return !bytes.Contains(bytes.TrimSpace(d.text), []byte("\n")) }

// unitOf is by how much the members of the root are indented.
func unitOf(text []byte, root *hujson.Object) string {
	for _, m := range root.Members {
		if blanks, first := margin(text, m.Name.StartOffset); first && blanks != "" {
			return blanks
		}
	}
	return "  "
}

func (d document) styleAt(at int) style {
	blanks, _ := margin(d.text, at)
	return style{end: lineEnd(d.text), unit: d.unit, margin: blanks, inline: d.oneLine()}
}

// insert puts a member behind the last one of an object, the value at.
func (d document) insert(at *hujson.Value, object *hujson.Object, m member) []edit {
	if len(object.Members) == 0 {
		return d.fill(at, object, m)
	}
	last := object.Members[len(object.Members)-1]
	var edits []edit
	behind, comma := last.Value.EndOffset, ""
	if last.Value.AfterExtra == nil {
		edits = append(edits, edit{behind, behind, ","})
	} else {
		behind += len(last.Value.AfterExtra) + 1
		comma = ","
	}
	s := d.styleAt(last.Name.StartOffset)
	s.tight = len(last.Value.BeforeExtra) == 0
	_, own := margin(d.text, last.Name.StartOffset)
	note, line := sameLine(object.AfterExtra)
	behind += note
	if !own && line { // nothing can follow such a comment on its line
		own, s.margin = true, s.margin+s.unit
	}
	s.inline = !own
	between := s.end + s.margin
	if s.inline {
		between = " "
		if s.tight && (len(object.Members) == 1 || len(last.Name.BeforeExtra) == 0) {
			between = ""
		}
	}
	s.tight = s.tight && s.inline
	return append(edits, edit{behind, behind, between + s.named(m) + comma})
}

// fill puts the first member into an object, behind the comments that are there.
func (d document) fill(at *hujson.Value, object *hujson.Object, m member) []edit {
	s := d.styleAt(at.StartOffset)
	s.inline = s.inline && at != d.root // an empty file has no style yet
	from, to := at.StartOffset+1, at.EndOffset-1
	before, after := s.end+s.margin+s.unit, s.end+s.margin
	if s.inline {
		before, after = "", ""
	}
	within := s.deeper()
	if notes := comments(object.AfterExtra); len(notes) > 0 {
		final := notes[len(notes)-1]
		from += final.to
		if final.line {
			within.inline, before = false, s.end+s.margin+s.unit
		}
		if bytes.Contains(d.text[from:to], []byte("\n")) {
			after, to = "", from
		}
	}
	return []edit{{from, to, before + within.named(m) + after}}
}

// cut takes a member out of an object, the value at.
func cut(text []byte, at *hujson.Value, object *hujson.Object, i int) []edit {
	m := object.Members[i]
	extras := string(m.Name.BeforeExtra) + string(m.Value.AfterExtra) + string(object.AfterExtra)
	if len(object.Members) == 1 && strings.TrimSpace(extras) == "" {
		return []edit{{at.StartOffset + 1, at.EndOffset - 1, ""}}
	}
	from, to := m.Name.StartOffset, m.Value.EndOffset
	var edits []edit
	commaBehind := func(v hujson.Value) edit {
		at := v.EndOffset + len(v.AfterExtra)
		return edit{at, at + 1, ""}
	}
	switch {
	case i < len(object.Members)-1 || m.Value.AfterExtra != nil:
		if comma := commaBehind(m.Value); comma.from == to {
			to++
		} else { // a comment stands between
			edits = append(edits, comma)
		}
	case i > 0:
		edits = append(edits, commaBehind(object.Members[i-1].Value))
	}
	if _, own := margin(text, from); own {
		last := i == len(object.Members)-1 && !endsInLine(m.Name.BeforeExtra)
		if last || endsLine(text, to) {
			from = beforeLine(text, from)
		} else {
			for to < len(text) && (text[to] == ' ' || text[to] == '\t') {
				to++
			}
		}
	} else {
		for from > 0 && (text[from-1] == ' ' || text[from-1] == '\t') {
			from--
		}
	}
	return append(edits, edit{from, to, ""})
}

// comment is where one stands in what is between values.
type comment struct {
	from, to int  // without the line end
	line     bool // up to its line's end
}

func comments(extra hujson.Extra) (all []comment) {
	text := string(extra)
	for at := 0; at < len(text); {
		c := comment{from: at, to: at + 1}
		switch rest := text[at:]; {
		case strings.HasPrefix(rest, "//"):
			body, _, _ := strings.Cut(rest, "\n")
			c.to, c.line = at+len(strings.TrimSuffix(body, "\r")), true
			all = append(all, c)
		case strings.HasPrefix(rest, "/*"):
			c.to = at + 2 + strings.Index(rest[2:], "*/") + 2 // the parser has seen it
			all = append(all, c)
		}
		at = c.to
	}
	return all
}

// endsInLine reports whether nothing can follow the last comment on its line.
func endsInLine(extra hujson.Extra) bool {
	notes := comments(extra)
	return len(notes) > 0 && notes[len(notes)-1].line
}

// sameLine is how far the comments behind a value go that begin on its line, and
// whether nothing can follow them there.
func sameLine(extra hujson.Extra) (length int, line bool) {
	for _, c := range comments(extra) {
		if bytes.Contains(extra[length:c.from], []byte("\n")) {
			break
		}
		length, line = c.to, c.line
	}
	return length, line
}
