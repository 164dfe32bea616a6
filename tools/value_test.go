package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"vault-mcp/vault/change"
)

type valueIn struct {
	Any    Value  `json:"any,omitempty" jsonschema:"anything"`
	Object Object `json:"object,omitempty"`
}

// An argument of any type keeps what it was sent as, and null is not nothing.
func TestAnyValueIsKeptAsSent(t *testing.T) {
	tool := Change(Spec{Name: "t"}, func(context.Context, *Call, valueIn) (change.Plan, struct{}, error) {
		return change.Plan{}, struct{}{}, nil
	})
	bind := func(raw string) (valueIn, error) {
		var c Call
		err := tool.Bind(&c, json.RawMessage(raw), "")
		if err != nil {
			return valueIn{}, err
		}
		return *c.in.(*valueIn), nil
	}
	for raw, want := range map[string]string{`1.10`: `1.10`, `1e2`: `1e2`, `null`: `null`, `"01"`: `"01"`, `{"z":[1.0],"a":{}}`: `{"z":[1.0],"a":{}}`} {
		in, err := bind(`{"any":` + raw + `}`)
		if err != nil || !in.Any.Sent() {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		v, err := in.Any.Get()
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		if b, err := json.Marshal(v); err != nil || string(b) != want {
			t.Errorf("%s became %s, %v", raw, b, err)
		}
	}
	if in, err := bind(`{"object":null}`); err != nil || in.Any.Sent() || in.Object.Sent() {
		t.Errorf("%+v, %v: what was not sent is there", in, err)
	}
	if _, err := bind(`{"object":[1]}`); err == nil {
		t.Error("a list is an object")
	}
	if in, err := bind(`{"object":{"b":1,"a":null}}`); err != nil {
		t.Error(err)
	} else if m, err := in.Object.Get(); err != nil || strings.Join(m.Keys(), "") != "ba" {
		t.Errorf("%v, %v", m, err)
	}
	if s := string(tool.InputSchema(false)); !strings.Contains(s, `"any":{"description":"anything","anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"array"},{"type":"object"},{"type":"null"}]}`) || !strings.Contains(s, `"object":{"type":"object"`) {
		t.Error(s)
	}
}
