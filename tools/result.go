package tools

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"vault-mcp/internal/compact"
)

// Prose is a result that is a text to read: it goes out as text alone, a
// header line and the text as it is, unless format json was asked for.
type Prose interface {
	// Prose is the header, without a line end, and the text. It is not asked
	// for with format json.
	Prose() (header, text string)
}

// Facts is a structured result that holds notes' texts: its text half says
// the same without them, so that no text is sent twice.
type Facts interface{ Facts() any }

// Picture is a result that is an image for a model to look at: it goes out as
// that under its caption.
type Picture interface {
	Picture() (caption string, image Image)
}

// Choice is a result that has one of several forms; it goes out
// as if the tool had returned that.
type Choice interface{ Chosen() any }

// Payload is a result that another method of the protocol renders; only its
// size counts here.
type Payload interface{ PayloadSize() int }

// Image is one picture.
type Image struct {
	MIME string
	Data []byte
}

// Result is what a call answers, in both halves. Each half stands alone.
type Result struct {
	// Out is what the tool's function returned.
	Out any
	// Text is what a person or a model reads.
	Text string
	// Structured is the data as a JSON object, nil for prose.
	Structured json.RawMessage
	Images     []Image
	// Notes are said beside a text or a picture, in a part of their own.
	Notes []string

	content []byte // the rendered content array
	payload int    // size of what is rendered elsewhere
}

// Render renders what a tool returned in the format that the call asked for.
func (c *Call) Render(out any) (*Result, error) {
	var format Format
	_ = json.Unmarshal(c.args["format"], &format) // absent: text; one of its values by the schema otherwise
	if o, ok := out.(Choice); ok {
		out = o.Chosen()
	}
	r := &Result{Out: out}
	if p, ok := out.(Payload); ok {
		return &Result{Out: out, payload: p.PayloadSize()}, nil
	}
	if p, ok := out.(Picture); ok {
		caption, image := p.Picture()
		return &Result{Out: out, Text: caption, Images: []Image{image}, Notes: c.coerced}, nil
	}
	if p, ok := out.(Prose); ok && format != FormatJSON {
		header, text := p.Prose()
		r.Text, r.Notes = header+"\n"+text, c.coerced
		return r, nil
	}
	var err error
	if r.Structured, err = c.encode(out); err != nil {
		return nil, err
	}
	f, withText := out.(Facts)
	switch {
	case c.TextOnly:
		r.Text, r.Structured = string(r.Structured), nil
	case withText:
		facts, err := c.encode(f.Facts())
		if err != nil {
			return nil, err
		}
		r.Text = compact.Lines(facts)
	default:
		r.Text = compact.Lines(r.Structured)
	}
	return r, nil
}

// encode encodes an object, and says in it what the budget left out and what
// arguments were taken for.
func (c *Call) encode(object any) (json.RawMessage, error) {
	b, err := marshal(object)
	if err == nil && c.cut != nil {
		b, err = withMember(b, "cut", c.cut)
	}
	if err == nil && len(c.coerced) > 0 {
		b, err = withMember(b, coercedKey, c.coerced)
	}
	return b, err
}

// withMember is an encoded object with one more member.
func withMember(object json.RawMessage, key string, value any) (json.RawMessage, error) {
	v, err := marshal(value)
	if err != nil {
		return nil, err
	}
	comma := ","
	if string(object) == "{}" {
		comma = ""
	}
	return slices.Concat(object[:len(object)-1], []byte(comma+`"`+key+`":`), v, []byte("}")), nil
}

// marshal is json.Marshal without escaping for HTML, which would make six
// bytes of every < in a note.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// envelope is more than what the protocol adds around content and structured
// content, in bytes.
const envelope = 256

// Size is how many bytes the answer has on the wire, never less than it really
// has.
func (r *Result) Size() int {
	if r.payload > 0 {
		return r.payload
	}
	return len(r.Content()) + len(r.Structured) + envelope
}

// Content is the result's content array as JSON.
func (r *Result) Content() json.RawMessage {
	if r.content != nil {
		return r.content
	}
	size := len(r.Text) + len(r.Text)/16 + 64
	for _, im := range r.Images {
		size += base64.StdEncoding.EncodedLen(len(im.Data)) + 96
	}
	b := make([]byte, 0, size)
	b = append(b, `[{"type":"text","text":`...)
	b = compact.AppendString(b, r.Text)
	b = append(b, '}')
	if len(r.Notes) > 0 {
		b = append(b, `,{"type":"text","text":`...)
		b = compact.AppendString(b, strings.Join(r.Notes, "\n"))
		b = append(b, '}')
	}
	for _, im := range r.Images {
		b = append(b, `,{"type":"image","mimeType":`...)
		b = compact.AppendString(b, im.MIME)
		b = append(b, `,"data":"`...)
		b = base64.StdEncoding.AppendEncode(b, im.Data)
		b = append(b, `"}`...)
	}
	r.content = append(b, ']')
	return r.content
}

// Cost is how many bytes a row adds to the structured half of this call's
// answer, or to its text where that carries everything.
func (c *Call) Cost(row any) (int, error) {
	b, err := marshal(row)
	if err != nil {
		return 0, err
	}
	if c.TextOnly {
		return len(compact.AppendString(nil, string(b))), nil
	}
	return len(b), nil
}

// TextCost is at least as many bytes as a row adds to the text half: its JSON
// once more, escaped. Nothing where the text carries everything.
func (c *Call) TextCost(row any) (int, error) {
	if c.TextOnly {
		return 0, nil
	}
	b, err := marshal(row)
	return len(compact.AppendString(nil, string(b))), err
}
