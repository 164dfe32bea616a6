package hitl

import (
	"encoding/json"
	"slices"
)

// Mode is how a person is reached through a client.
type Mode string

// The modes. ModeNone is the fallback of every refusal: what may not go by the
// mode that it needs does not go by another.
const (
	ModeForm Mode = "form"
	ModeURL  Mode = "url"
	ModeNone Mode = "none"
)

// Capabilities are the modes that a client declares for this very request, or
// in an older protocol when it initialized.
type Capabilities struct{ Form, URL bool }

// String names the modes, as they are kept with a request.
func (c Capabilities) String() string {
	switch {
	case c.Form && c.URL:
		return "form,url"
	case c.Form:
		return string(ModeForm)
	case c.URL:
		return string(ModeURL)
	}
	return string(ModeNone)
}

// Admission is the decision whether something may be sent to a person through a
// client.
type Admission struct {
	Admitted bool
	// Wanted is the mode that the data needs, whatever the client can do.
	Wanted     Mode
	Negotiated Capabilities
	// Fallback is always ModeNone.
	Fallback Mode
	// Reason says why not; "" if it is admitted.
	Reason Reason
}

// Reason is why something is not sent: a fixed sentence that repeats nothing of
// what was judged, so that it may stand in a log.
type Reason string

// The reasons why a form is not sent.
const (
	noForm     Reason = "the client declares no form mode for this request"
	noFields   Reason = "the form is not a flat object with at least one required field"
	nested     Reason = "a field of the form is an object"
	listed     Reason = "a field of the form is a list"
	preset     Reason = "a field of the form has a default, which would answer for the person"
	elaborate  Reason = "the form uses more of JSON Schema than forms may"
	oddName    Reason = "the name of a field is not made of letters, digits, - and _"
	asksSecret Reason = "it asks for a secret, which a form never does"
)

func admit(r Reason, wanted Mode, c Capabilities) Admission {
	return Admission{Admitted: r == "", Wanted: wanted, Negotiated: c, Fallback: ModeNone, Reason: r}
}

// AdmitForm decides whether a form may be sent: a flat object of strings,
// numbers, integers, booleans and enums, with a required field, and nothing in
// it or in its message that asks for a secret. Something that does needs an
// address instead, and is no form whatever the client can do. The message is what
// the form itself says; what it quotes of notes, as a diff, asks for nothing.
func AdmitForm(schema json.RawMessage, message string, c Capabilities) Admission {
	r := judgeForm(schema)
	if r != asksSecret && asksForSecret(message) {
		r = asksSecret
	}
	switch {
	case r == asksSecret:
		return admit(r, ModeURL, c)
	case r == "" && !c.Form:
		r = noForm
	}
	return admit(r, ModeForm, c)
}

func judgeForm(schema json.RawMessage) Reason {
	form, ok := membersOf(schema)
	if !ok {
		return noFields
	}
	var kind string
	var fields []member
	var required []json.RawMessage
	for _, m := range form {
		ok := true
		switch m.name {
		case "$schema":
			_, ok = text(m.value)
		case "type":
			kind, ok = text(m.value)
		case "properties":
			fields, ok = membersOf(m.value)
		case "required":
			required, ok = itemsOf(m.value)
		case "additionalProperties":
			if string(m.value) != "false" {
				return elaborate
			}
		default:
			return elaborate
		}
		if !ok {
			return noFields
		}
	}
	// Every field is looked at, so that what asks for a secret is called so.
	var first Reason
	for _, f := range fields {
		r := judgeField(f)
		if r == asksSecret {
			return r
		}
		if first == "" {
			first = r
		}
	}
	if first == "" && (kind != "object" || len(required) == 0) {
		return noFields
	}
	for _, raw := range required {
		name, ok := text(raw)
		if first == "" && (!ok || !slices.ContainsFunc(fields, func(f member) bool { return f.name == name })) {
			return noFields
		}
	}
	return first
}

func judgeField(f member) Reason {
	if namesSecret(f.name) {
		return asksSecret
	}
	if !plainName(f.name) {
		return oddName
	}
	words, ok := membersOf(f.value)
	if !ok {
		return elaborate
	}
	var kind string
	var first Reason
	for _, w := range words {
		switch w.name {
		case "title", "description":
			s, ok := text(w.value)
			if !ok {
				return elaborate
			}
			if namesSecret(s) {
				return asksSecret
			}
		case "type":
			kind, _ = text(w.value)
		case "default":
			first = preset
		}
	}
	switch kind {
	case "object":
		return nested
	case "array":
		return listed
	}
	for _, w := range words {
		if w.name != "default" && first == "" {
			first = judgeKeyword(kind, w)
		}
	}
	if first == "" && kind == "" {
		return elaborate
	}
	return first
}

// judgeKeyword says what is wrong with a keyword in a field of a kind. What can
// be chosen in an enum is data, and asks for nothing.
func judgeKeyword(kind string, w member) Reason {
	switch w.name {
	case "properties":
		return nested
	case "items":
		return listed
	case "title", "description", "type":
		if kind == "string" || kind == "number" || kind == "integer" || kind == "boolean" {
			return ""
		}
	case "minimum", "maximum":
		if kind == "number" || kind == "integer" {
			return unless(isNumber(w.value))
		}
	case "minLength", "maxLength":
		return unless(kind == "string" && isNumber(w.value))
	case "format":
		s, _ := text(w.value)
		return unless(kind == "string" && slices.Contains([]string{"email", "uri", "date", "date-time"}, s))
	case "enum", "enumNames":
		return unless(kind == "string" && isTexts(w.value))
	case "oneOf":
		return unless(kind == "string" && isTitled(w.value))
	}
	return elaborate
}

func unless(ok bool) Reason {
	if ok {
		return ""
	}
	return elaborate
}

func isNumber(raw json.RawMessage) bool {
	var n json.Number
	return len(raw) > 0 && raw[0] != '"' && json.Unmarshal(raw, &n) == nil && n != ""
}

func isTexts(raw json.RawMessage) bool {
	items, ok := itemsOf(raw)
	return ok && len(items) > 0 && !slices.ContainsFunc(items, func(i json.RawMessage) bool {
		_, ok := text(i)
		return !ok
	})
}

// isTitled reports whether a value is a list of {const, title}.
func isTitled(raw json.RawMessage) bool {
	items, ok := itemsOf(raw)
	return ok && len(items) > 0 && !slices.ContainsFunc(items, func(i json.RawMessage) bool {
		pair, ok := membersOf(i)
		if !ok || len(pair) != 2 {
			return true
		}
		for _, m := range pair {
			if _, ok := text(m.value); !ok || m.name != "const" && m.name != "title" {
				return true
			}
		}
		return false
	})
}

// plainName reports whether the name of a field can be told from every other by
// looking at it.
func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
