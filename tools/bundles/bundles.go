// Package bundles holds the tools that put several notes into one text.
package bundles

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/compact"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

// Tools are the domain's tools.
func Tools() tools.Domain {
	return tools.Domain{Name: "automation", Tools: []tools.Tool{bundleFolder(), bundleFiles()}}
}

// style is how notes are set apart.
type style string

// Values lists the styles for the schema.
func (style) Values() []string { return []string{"markdown", "xml", string(tools.FormatJSON)} }

// shape are the arguments that both tools share.
type shape struct {
	MaxBytes    int   `json:"max_bytes,omitempty" jsonschema:"most bytes of the bundle; left out, as much as governor.soft_note_chars says" limits:"min=1,max=50000000"`
	Frontmatter bool  `json:"include_frontmatter,omitempty" jsonschema:"with the notes' properties" limits:"default=true"`
	Format      style `json:"format,omitempty" jsonschema:"json is markdown in a structured answer, for programs" limits:"default=markdown"`
	tools.PageArg
}

// bundle is a text under construction. Notes go in whole or not at all.
type bundle struct {
	shape  shape
	budget int // bytes of the answer that are left, as JSON
	enough int // characters that are left before it is long enough
	text   strings.Builder
	files  []file
	left   []left

	warnings *tools.Warnings
}

func newBundle(c *tools.Call, s shape) *bundle {
	b := &bundle{shape: s, budget: c.Budget - frame, enough: math.MaxInt, files: []file{}, left: []left{}, warnings: c.NewWarnings(false)}
	if s.MaxBytes == 0 {
		b.shape.MaxBytes, b.enough = c.Budget, c.Soft.Chars()
	}
	return b
}

// full reports whether there is something in the bundle, and with so many
// characters more it would be longer than it need be.
func (b *bundle) full(chars int) bool {
	return chars > b.enough && len(b.files)+len(b.left) > 0
}

// frame is kept free for the header line and the protocol's own fields, in
// bytes.
const frame = 4 << 10

// take reads a note into the bundle, or says in left_out why it is in none. It
// reports false when the bundle is full: then the note is for the next one.
func (b *bundle) take(c *tools.Call, p vault.Path) (bool, error) {
	most := int64(min(b.shape.MaxBytes, c.Budget-frame))
	content, err := c.View.Read(p, most)
	switch e := fault.Of(err); {
	case errors.As(err, new(*vault.TooLargeError)):
		return b.leave(p.String(), fmt.Sprintf("it has %d bytes, more than a bundle may", p.Size())), nil
	case err != nil && e.Code == fault.ACLDenied:
		return b.leave(p.String(), e.Message), nil
	case err != nil:
		return b.leave(p.String(), vault.Reason(err)), nil
	case !vault.Text(content.Bytes):
		return b.leave(p.String(), vault.NotText), nil
	}
	return b.add(p.String(), content.Bytes), nil
}

func (b *bundle) add(path string, text []byte) bool {
	line, flaw := facts.FlawOf(text)
	if !b.shape.Frontmatter {
		text = text[note.BodyStart(text):]
	}
	part := b.part(path, text)
	cost := compact.StringLen(part) + rowCost(path, "")
	if flaw != "" {
		cost += rowCost(path, flaw)
	}
	chars := utf8.RuneCountInString(part)
	if b.full(chars) {
		return false
	}
	if b.text.Len()+len(part) > b.shape.MaxBytes || cost > b.budget {
		if len(b.files) > 0 {
			return false
		}
		return b.leave(path, "it is larger than a bundle may be")
	}
	b.budget -= cost
	b.enough -= chars
	b.text.WriteString(part)
	b.files = append(b.files, file{path, len(part)})
	if flaw != "" {
		b.warnings.Add(path, line, flaw)
	}
	return true
}

// leave names a note that is in no bundle; false when there is no room for it.
func (b *bundle) leave(path, reason string) bool {
	l := left{path, reason}
	cost := rowCost(path, reason)
	if cost > b.budget || b.full(cost) {
		return false
	}
	b.budget -= cost
	b.enough -= cost
	b.left = append(b.left, l)
	return true
}

// rowCost is at least what a row about a note takes in both halves of an
// answer.
func rowCost(path, about string) int {
	return 2 * (compact.StringLen(path) + compact.StringLen(about) + len(`{"path":,"reason":,"bytes":12345678},`))
}

func (b *bundle) part(path string, text []byte) string {
	var s strings.Builder
	if b.shape.Format == "xml" {
		s.WriteString(`<document path="`)
		_ = xml.EscapeText(&s, []byte(path)) // a Builder takes everything
		s.WriteString("\">\n")
		_ = xml.EscapeText(&s, text)
		s.WriteString("\n</document>\n")
		return s.String()
	}
	s.WriteString("## " + path + "\n\n")
	s.Write(text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		s.WriteByte('\n')
	}
	s.WriteByte('\n')
	return s.String()
}

// about is what there is to say about a bundle beside its text.
type about struct {
	FileCount  int             `json:"file_count"`
	TotalBytes int             `json:"total_bytes"`
	Truncated  bool            `json:"truncated" jsonschema:"there is more; see next_cursor"`
	NextCursor *string         `json:"next_cursor"`
	Files      []file          `json:"files"`
	LeftOut    []left          `json:"left_out" jsonschema:"notes that are in no bundle, with the reason"`
	Warnings   []tools.Warning `json:"warnings,omitempty" jsonschema:"notes of this bundle with problems"`
}

// out is the answer of both tools.
type out struct {
	about
	Bundle string `json:"bundle"`
}

// Facts leaves the text out of the text half of format json.
func (o out) Facts() any { return o.about }

type file struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes" jsonschema:"in the bundle"`
}

type left struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Prose is the bundle under one line that says what is in it.
func (o out) Prose() (header, text string) {
	header = fmt.Sprintf("%d notes · %d bytes", o.FileCount, o.TotalBytes)
	if o.NextCursor != nil {
		header += " · more with cursor " + *o.NextCursor
	}
	for _, l := range o.LeftOut {
		header += fmt.Sprintf(" · left out %s: %s", l.Path, l.Reason)
	}
	for _, w := range o.Warnings {
		header += fmt.Sprintf(" · %s: %s", cmp.Or(w.Path, "warning"), w.Reason)
	}
	return header, o.Bundle
}

// out is the answer; the bundle goes on behind position unless that is nil.
func (b *bundle) out(c *tools.Call, position any) (out, error) {
	o := out{about{
		FileCount: len(b.files), TotalBytes: b.text.Len(), Files: b.files, LeftOut: b.left, Warnings: b.warnings.List(),
	}, b.text.String()}
	if position == nil {
		return o, nil
	}
	o.Truncated = true
	var err error
	o.NextCursor, err = c.NextCursor(position)
	return o, err
}
