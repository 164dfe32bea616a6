package hitl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// MaxOptions is how many notes a person is asked to choose from.
const MaxOptions = 20

// Option is one of several notes that a call may mean.
type Option struct {
	Path string
	// Parts are what choosing it is bound to: the note, and what would be done.
	Parts [][]byte
	// Floor says why a person has to approve the call with it, "" if none has to.
	// Summary, Undo and Preview say what would be done, and are empty where the call
	// only reads.
	Floor, Summary, Undo string
	Preview              func(whole bool) string
}

// among makes the call one about several notes.
func (c *Call) among(title string, options []Option) {
	c.title, c.options = title, options
	c.Floor, c.Undo, c.Notes, c.Parts, c.Marks = "", "", nil, nil, nil
	needed := "no approval"
	c.Summary = fmt.Sprintf("Choose one of %d notes called %q for %s", len(options), title, c.Tool)
	for _, o := range options {
		c.Parts = append(c.Parts, o.sum())
		c.Marks = append(c.Marks, MarkOf(o.Path, o.sum()))
		if c.Floor == "" && o.Floor != "" {
			c.Floor, needed = o.Floor, "approval"
		}
		if len(o.Undo) > 0 && (c.Undo == "" || strings.Contains(o.Undo, "cannot")) {
			c.Undo = o.Undo
		}
		note := o.Path
		if about := o.about(); about != "" {
			note += ": " + about
		}
		c.Notes = append(c.Notes, note)
	}
	c.Parts = append(c.Parts, []byte(needed)) // or a dry run would be asked about what runs
	c.Preview = func(whole bool) string {
		var b strings.Builder
		for _, o := range options {
			if o.Preview != nil {
				b.WriteString(o.Preview(whole))
			}
		}
		return b.String()
	}
}

// about says what would be done with an option, "" where its path says it all.
func (o Option) about() string {
	if o.Summary == o.Path {
		return ""
	}
	return o.Summary
}

// sum is the parts of an option as one.
func (o Option) sum() []byte {
	var b bytes.Buffer
	for _, p := range o.Parts {
		fmt.Fprintf(&b, "%d:", len(p))
		b.Write(p)
	}
	return b.Bytes()
}

// candidates are what a request keeps of the options, sealed like its state.
func (g *Gate) candidates(c *Call, kid string) (list []Candidate) {
	for _, o := range c.options {
		list = append(list, Candidate{o.Path, seal(g.Keys, kid, o.Parts), o.about()})
	}
	return list
}

// phase is what the person is asked.
func (r *Request) phase() string {
	if len(r.Candidates) > 0 {
		return phaseChoose
	}
	return phaseConfirm
}

// schema is what the form asks for: approval, or which of the options is meant,
// with approval where that is needed. Neither has a default.
func (c *Call) schema() json.RawMessage {
	if len(c.options) == 0 {
		return approveSchema
	}
	type field struct {
		Type  string   `json:"type"`
		Title string   `json:"title"`
		About string   `json:"description,omitempty"`
		Enum  []string `json:"enum,omitempty"`
	}
	schema := struct {
		Type       string           `json:"type"`
		Properties map[string]field `json:"properties"`
		Required   []string         `json:"required"`
	}{"object", map[string]field{}, []string{"note_id"}}
	var paths []string
	for _, o := range c.options {
		paths = append(paths, o.Path)
	}
	schema.Properties["note_id"] = field{Type: "string", Title: "Note", Enum: paths}
	if c.Floor != "" {
		schema.Properties["approve"] = field{Type: "boolean", Title: "Approve", About: "Yes to do it with this note, no to refuse it"}
		schema.Required = append(schema.Required, "approve")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(schema) // strings alone
	return bytes.TrimSpace(b.Bytes())
}

// answerOf reads an answer to the form of a request.
func answerOf(r *Request, raw json.RawMessage) (Answer, error) {
	if len(r.Candidates) == 0 {
		return ParseAnswer(raw)
	}
	parse := ParseChoice
	if r.Floor != "" {
		parse = ParseAnswer
	}
	a, err := parse(raw)
	if err == nil && a.Action == Accept && !a.Refuses() && r.candidate(a.Note) == nil {
		err = fmt.Errorf("%w: note_id has to be one of those that were offered", ErrMalformed)
	}
	return a, err
}

// Offers reports whether an approval may have a choice: one of the candidates, or
// none where there are none.
func (r *Request) Offers(choice string) bool {
	return len(r.Candidates) == 0 && choice == "" || r.candidate(choice) != nil
}

// candidate is the one with a path, or nil.
func (r *Request) candidate(path string) *Candidate {
	i := slices.IndexFunc(r.Candidates, func(k Candidate) bool { return k.Path == path })
	if i < 0 {
		return nil
	}
	return &r.Candidates[i]
}
