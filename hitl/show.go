package hitl

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDisplay is how many characters of a name or sentence a person is shown.
const maxDisplay = 200

// maxFormDiff is how many characters of a diff a form shows.
const maxFormDiff = 1500

// Form is what a person is shown, and what they fill in.
type Form struct {
	Message string
	// Schema is a flat JSON Schema.
	Schema json.RawMessage
	// Candidates are what the schema lets a person choose from, and Approve is whether
	// it asks for approval, for who shows the form in another way. Message names the
	// candidates, but at the person's own terminal.
	Candidates []Candidate
	Approve    bool
}

// approveSchema has one field that must be filled in, and no default: a default
// would turn an empty accept into consent.
var approveSchema = json.RawMessage(`{"type":"object","properties":{"approve":{"type":"boolean","title":"Approve","description":"Yes to do it, no to refuse it"}},"required":["approve"]}`)

// form is the question whether a call may run.
func (c *Call) form() Form {
	f := Form{Message: c.message(), Schema: c.schema(), Approve: c.Floor != "" || len(c.options) == 0}
	for _, o := range c.options {
		f.Candidates = append(f.Candidates, Candidate{Path: o.Path, About: o.about()})
	}
	return f
}

// admission decides whether the form may be sent: by its schema, and by what
// this program says in it. The diff, and the names of files, are what others have
// written: they show what would be done, and ask for nothing.
func (c *Call) admission() Admission {
	words := c.words()
	if c.title != "" {
		words = strings.ReplaceAll(words, Display(c.title), "…")
	}
	for _, m := range c.Marks {
		if m.Name != "" {
			words = strings.ReplaceAll(words, Display(m.Name), "…")
		}
	}
	return AdmitForm(c.schema(), words, Capabilities{Form: c.Client.Forms, URL: c.Client.URLs})
}

// message says what would happen, and how it begins; at the person's own terminal,
// all of it.
func (c *Call) message() string {
	var b strings.Builder
	b.WriteString(c.words())
	whole := c.Client.Terminal != ""
	if diff := Text(c.preview(whole)); diff != "" {
		short := diff
		if !whole {
			short = firstCharacters(diff, maxFormDiff)
		}
		b.WriteString("\n\n" + short)
		if len(short) < len(diff) {
			b.WriteString("\n… (cut; vault-mcp elicit shows all)")
		}
	}
	return b.String()
}

// words say what would happen, where, why a person is needed, and whether it can
// be undone.
func (c *Call) words() string {
	var b strings.Builder
	b.WriteString(Display(c.Summary))
	b.WriteString("\n\nTool " + Display(c.Tool) + ", vault " + Display(c.Vault) + ", caller " + Display(c.Caller) + ".")
	if c.Floor != "" {
		b.WriteString(" You are asked because " + Display(c.Floor) + ".")
	}
	if c.Undo != "" {
		b.WriteString(" " + Display(c.Undo))
	}
	if len(c.options) > 0 && c.Client.Terminal != "" {
		return b.String() // they are shown below the diff, with their numbers
	}
	for _, n := range c.Notes {
		b.WriteString("\n" + Display(n))
	}
	return b.String()
}

func firstCharacters(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Display is a name or a sentence as it may be shown in one line: without control
// and format characters and line separators, and cut at 200 characters. A
// person must see what is there, and nothing that hides, reorders or adds lines.
func Display(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return visible(r)
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if utf8.RuneCountInString(s) <= maxDisplay {
		return s
	}
	return firstCharacters(s, maxDisplay-1) + "…"
}

// Text is Display for a text of many lines, which is not cut.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return visible(r)
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// visible is a character as it is shown, or -1.
func visible(r rune) rune {
	switch {
	case r == '\u2028', r == '\u2029':
		return ' '
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return -1
	}
	return r
}
