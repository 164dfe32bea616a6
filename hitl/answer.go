package hitl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Action is what a client says that a person did with a form or an address.
type Action string

// The actions. There are no others: a client that answers anything else has
// answered nothing.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// ErrMalformed says that an answer is none: JSON-RPC -32602 at the edge, and
// nothing is claimed by it. The texts of its errors hold nothing of the answer.
var ErrMalformed = errors.New("the answer is malformed")

// Answer is what came back for a form.
type Answer struct {
	Action Action
	// Content is what the person filled in, as it was sent; nil unless Action is
	// Accept.
	Content json.RawMessage
	// Note is the note_id that was chosen; "" if none was.
	Note string
	// yes and no are what approve said; a choice alone says neither.
	yes, no bool
}

// Approves reports whether a person said yes.
func (a Answer) Approves() bool { return a.Action == Accept && a.yes }

// Refuses reports whether a person said no. A cancel is neither: nobody
// answered.
func (a Answer) Refuses() bool { return a.Action == Decline || a.Action == Accept && a.no }

// Chooses reports whether a person has chosen a note and has not said no.
func (a Answer) Chooses() bool { return a.Note != "" && !a.no }

// ParseAnswer reads the result of a form that asks for approval. An accept has
// to say approve as true or false, and may choose a note. What comes with a
// decline or a cancel is dropped unread. It fails with ErrMalformed.
func ParseAnswer(raw json.RawMessage) (Answer, error) {
	a, content, err := parseForm(raw)
	if err != nil || a.Action != Accept {
		return a, err
	}
	approve, there := content["approve"]
	if !there || !isBool(approve) {
		return Answer{}, fmt.Errorf("%w: approve has to be true or false", ErrMalformed)
	}
	a.yes = approve[0] == 't'
	a.no = !a.yes
	return a, nil
}

// ParseChoice reads the result of a form that asks which note is meant, and for
// nothing else: an accept has to choose one, and approves nothing. It fails with
// ErrMalformed.
func ParseChoice(raw json.RawMessage) (Answer, error) {
	a, _, err := parseForm(raw)
	if err == nil && a.Action == Accept && a.Note == "" {
		return Answer{}, fmt.Errorf("%w: note_id is missing", ErrMalformed)
	}
	return a, err
}

// ParseConsent reads what became of an address that was shown. An accept is
// the consent to open it, never more; content has no meaning here and is
// dropped unread. It fails with ErrMalformed.
func ParseConsent(raw json.RawMessage) (Action, error) {
	action, _, err := parseAction(raw)
	return action, err
}

// parseForm reads what all forms have in common.
func parseForm(raw json.RawMessage) (Answer, map[string]json.RawMessage, error) {
	action, content, err := parseAction(raw)
	if err != nil || action != Accept {
		return Answer{Action: action}, nil, err
	}
	given, ok := membersOf(content)
	if !ok {
		return Answer{}, nil, fmt.Errorf("%w: an accept needs a content object", ErrMalformed)
	}
	values := make(map[string]json.RawMessage, len(given))
	for _, m := range given {
		values[m.name] = m.value
	}
	a := Answer{Action: Accept, Content: content}
	if note, there := values["note_id"]; there {
		if a.Note, ok = text(note); !ok {
			return Answer{}, nil, fmt.Errorf("%w: note_id has to be a string", ErrMalformed)
		}
	}
	return a, values, nil
}

func parseAction(raw json.RawMessage) (action Action, content json.RawMessage, err error) {
	result, ok := membersOf(raw)
	if !ok {
		return "", nil, fmt.Errorf("%w: it has to be an object, with no key twice", ErrMalformed)
	}
	for _, m := range result {
		switch m.name {
		case "action":
			s, _ := text(m.value)
			action = Action(s)
		case "content":
			content = m.value
		}
	}
	switch action {
	case Accept, Decline, Cancel:
		return action, content, nil
	}
	return "", nil, fmt.Errorf("%w: the action has to be accept, decline or cancel", ErrMalformed)
}

// member is a member of a JSON object, its value as it was sent.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf reads one JSON object, and nothing but it. Names count as they are
// written, and none may be there twice: else two readers of one text could see
// two answers in it.
func membersOf(raw json.RawMessage) (list []member, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		if err != nil || !isName || seen[name] {
			return nil, false
		}
		seen[name] = true
		m := member{name: name}
		if d.Decode(&m.value) != nil {
			return nil, false
		}
		list = append(list, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	_, err := d.Token()
	return list, err == io.EOF
}

// itemsOf reads a JSON array.
func itemsOf(raw json.RawMessage) (items []json.RawMessage, ok bool) {
	return items, len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &items) == nil
}

// text reads a JSON string.
func text(raw json.RawMessage) (s string, ok bool) {
	return s, len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
}

func isBool(raw json.RawMessage) bool { return string(raw) == "true" || string(raw) == "false" }
