package hitl

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// What came back approves only if it says so in the one way there is, and what
// is no answer is never taken for one.
func TestOnlyApproveTrueApproves(t *testing.T) {
	for _, tt := range []struct {
		raw               string
		approves, refuses bool
		note              string
		malformed         bool
	}{
		{raw: `{"action":"accept","content":{"approve":true}}`, approves: true},
		{raw: ` { "content" : {"approve": true ,"note_id":"n1"}, "_meta":{}, "action":"accept"} `, approves: true, note: "n1"},
		{raw: `{"action":"accept","content":{"approve":false}}`, refuses: true},
		{raw: `{"action":"accept","content":{"approve":false,"note_id":"n1"}}`, refuses: true, note: "n1"},
		{raw: `{"action":"decline"}`, refuses: true},
		{raw: `{"action":"decline","content":{"approve":true}}`, refuses: true},
		{raw: `{"action":"decline","content":"not even an object"}`, refuses: true},
		{raw: `{"action":"cancel"}`},
		{raw: `{"action":"cancel","content":{"approve":true,"note_id":"n1"}}`},
		{raw: `{"action":"accept"}`, malformed: true},
		{raw: `{"action":"accept","content":null}`, malformed: true},
		{raw: `{"action":"accept","content":[]}`, malformed: true},
		{raw: `{"action":"accept","content":{}}`, malformed: true},
		{raw: `{"action":"accept","content":{"approve":"true"}}`, malformed: true},
		{raw: `{"action":"accept","content":{"approve":1}}`, malformed: true},
		{raw: `{"action":"accept","content":{"approve":null}}`, malformed: true},
		{raw: `{"action":"accept","content":{"Approve":true}}`, malformed: true},
		{raw: `{"action":"accept","content":{"approve":true,"note_id":7}}`, malformed: true},
		// A reader that takes the first of two, and one that takes the last.
		{raw: `{"action":"accept","content":{"approve":false,"approve":true}}`, malformed: true},
		{raw: `{"action":"decline","action":"accept","content":{"approve":true}}`, malformed: true},
		{raw: `{"Action":"accept","content":{"approve":true}}`, malformed: true},
		{raw: `{"action":"ACCEPT","content":{"approve":true}}`, malformed: true},
		{raw: `{"action":"approve","content":{"approve":true}}`, malformed: true},
		{raw: `{"action":["accept"],"content":{"approve":true}}`, malformed: true},
		{raw: `{"content":{"approve":true}}`, malformed: true},
		{raw: `{"action":"accept","content":{"approve":true}}{}`, malformed: true},
		{raw: `{"action":"accept","content":{"approve":true}`, malformed: true},
		{raw: `[{"action":"accept","content":{"approve":true}}]`, malformed: true},
		{raw: `null`, malformed: true},
		{raw: ``, malformed: true},
	} {
		a, err := ParseAnswer(json.RawMessage(tt.raw))
		if errors.Is(err, ErrMalformed) != tt.malformed || (err != nil) != tt.malformed {
			t.Errorf("%s: %v", tt.raw, err)
		}
		if a.Approves() != tt.approves || a.Refuses() != tt.refuses || a.Note != tt.note {
			t.Errorf("%s: approves %t, refuses %t, note %q", tt.raw, a.Approves(), a.Refuses(), a.Note)
		}
		if want := tt.note != "" && tt.approves; a.Chooses() != want {
			t.Errorf("%s: chooses %t", tt.raw, a.Chooses())
		}
		if (a.Content != nil) != (a.Action == Accept) {
			t.Errorf("%s: content %s", tt.raw, a.Content)
		}
	}
}

// A choice of a note approves nothing, whatever else it says.
func TestAChoiceApprovesNothing(t *testing.T) {
	a, err := ParseChoice(json.RawMessage(`{"action":"accept","content":{"note_id":"n1","approve":true}}`))
	if err != nil || a.Note != "n1" || a.Approves() || a.Refuses() || !a.Chooses() {
		t.Errorf("%+v, %v", a, err)
	}
	for _, raw := range []string{`{"action":"accept","content":{}}`, `{"action":"accept","content":{"note_id":null}}`, `{"action":"accept"}`, `{"action":"yes"}`} {
		if a, err := ParseChoice(json.RawMessage(raw)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", raw, a, err)
		}
	}
}

// No text of an error repeats what came in.
func TestErrorsHoldNothingOfTheAnswer(t *testing.T) {
	for _, raw := range []string{
		`{"action":"hunter2"}`, `{"action":"accept","content":"hunter2"}`, `hunter2`, `{"hunter2":1,"hunter2":2}`,
		`{"action":"accept","content":{"approve":"hunter2"}}`, `{"action":"accept","content":{"approve":true,"note_id":["hunter2"]}}`,
	} {
		if _, err := ParseAnswer(json.RawMessage(raw)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func FuzzParseAnswer(f *testing.F) {
	for _, raw := range []string{
		`{"action":"accept","content":{"approve":true,"note_id":"x"}}`, `{"action":"decline","content":{"approve":true}}`,
		`{"action":"cancel"}`, `{"action":"accept","content":{"approve":false,"approve":true}}`, `{"ACTION":"accept"}`, `[]`, `{"action":"accept","content":`,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := ParseAnswer(raw)
		if err != nil {
			if !errors.Is(err, ErrMalformed) || a.Approves() || a.Refuses() || a.Content != nil {
				t.Fatalf("%+v, %v", a, err)
			}
			return
		}
		if a.Approves() && a.Refuses() || a.Action != Accept && (a.Content != nil || a.Note != "" || a.Approves()) {
			t.Fatalf("%+v", a)
		}
		// A plain reader sees the same.
		var plain struct {
			Action  string
			Content json.RawMessage
		}
		if err := json.Unmarshal(raw, &plain); err != nil {
			t.Fatalf("not JSON, but an answer: %v", err)
		}
		if a.Action != Accept {
			return
		}
		var content map[string]any
		if err := json.Unmarshal(a.Content, &content); err != nil || content["approve"] != a.Approves() {
			t.Fatalf("approves %t, but the content says %v (%v)", a.Approves(), content["approve"], err)
		}
	})
}
