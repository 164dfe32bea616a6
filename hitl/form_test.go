package hitl

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// both is a client that can do everything.
var both = Capabilities{Form: true, URL: true}

const approveForm = `{"type":"object","properties":{"approve":{"type":"boolean","title":"Approve","description":"Yes, do it."}},"required":["approve"]}`

// A form is flat and asks for no secret; one that does is not sent, whatever
// the client can do.
func TestAdmitForm(t *testing.T) {
	field := func(name, schema string) string {
		return `{"type":"object","properties":{"approve":{"type":"boolean"},"` + name + `":` + schema + `},"required":["approve"]}`
	}
	for _, tt := range []struct {
		what, schema, message string
		want                  Reason
	}{
		{"an approval", approveForm, "Move 1 note to the trash.", ""},
		{"a choice", field("note_id", `{"type":"string","title":"Note","oneOf":[{"const":"n1","title":"Passwords.md"},{"const":"n2","title":"a.md"}]}`), "Which note?", ""},
		{"a plain enum", field("note_id", `{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`), "Which note?", ""},
		{"every kind", field("n", `{"type":"integer","minimum":1,"maximum":9}`), "How many?", ""},
		{"a text", field("s", `{"type":"string","minLength":1,"maxLength":9,"format":"date"}`), "When?", ""},
		{"with what generators add", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{"type":"number"}},"required":["a"],"additionalProperties":false}`, "x", ""},
		{"a note about secrets", approveForm, `Move "Passwords.md" and "API keys.md" to the trash; 3 links would break. This needs your approval.`, ""},
		{"a note to remove", approveForm, "Move 1 note to the trash\n\nTool delete_note, vault main, caller stdio. You are asked because it removes \"Secrets/Tokens.md\". It can be undone.", ""},
		{"a property called token", approveForm, "Set token on 12 notes.\n+token: 7\n+type: secret", ""},

		{"an object", field("o", `{"type":"object","properties":{"a":{"type":"string"}}}`), "x", nested},
		{"an object without a type", field("o", `{"properties":{"a":{"type":"string"}}}`), "x", nested},
		{"a list", field("o", `{"type":"array","items":{"type":"string","enum":["a"]}}`), "x", listed},
		{"a list without a type", field("o", `{"items":{"type":"string"}}`), "x", listed},
		{"two types", field("o", `{"type":["string","object"]}`), "x", elaborate},
		{"no type", field("o", `{}`), "x", elaborate},
		{"a reference", field("o", `{"type":"string","$ref":"#/x"}`), "x", elaborate},
		{"alternatives", field("o", `{"type":"string","anyOf":[{"type":"object"}]}`), "x", elaborate},
		{"a pattern", field("o", `{"type":"string","pattern":"^a"}`), "x", elaborate},
		{"a list of values that are no texts", field("o", `{"type":"string","enum":[{"a":1}]}`), "x", elaborate},
		{"alternatives that hide an object", field("o", `{"type":"string","oneOf":[{"const":"a","title":"A","properties":{}}]}`), "x", elaborate},
		{"an alternative without a title", field("o", `{"type":"string","oneOf":[{"const":"a"}]}`), "x", elaborate},
		{"more properties", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":{"type":"object"}}`, "x", elaborate},
		{"no properties", `{"type":"object"}`, "x", noFields},
		{"an empty form, which some clients accept by themselves", `{"type":"object","properties":{}}`, "x", noFields},
		{"nothing required", `{"type":"object","properties":{"approve":{"type":"boolean"}}}`, "x", noFields},
		{"something else required", `{"type":"object","properties":{"approve":{"type":"boolean"}},"required":["a"]}`, "x", noFields},
		{"a default", field("o", `{"type":"boolean","default":true}`), "x", preset},
		{"a list at the top", `[]`, "x", noFields},
		{"alternatives at the top", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"oneOf":[]}`, "x", elaborate},
		{"one field twice", `{"type":"object","properties":{"a":{"type":"string"},"a":{"type":"object"}},"required":["a"]}`, "x", noFields},
		{"properties twice", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"properties":{}}`, "x", noFields},
		{"no JSON", `{"type":"object"`, "x", noFields},
		{"a name in other letters", field("pаssword", `{"type":"string"}`), "x", oddName},
		{"a name with a blank", field("a b", `{"type":"string"}`), "x", oddName},

		{"a password", field("password", `{"type":"string"}`), "x", asksSecret},
		{"a password in a longer name", field("dbPassword2", `{"type":"string"}`), "x", asksSecret},
		{"an apiKey", field("apiKey", `{"type":"string"}`), "x", asksSecret},
		{"an APIKey", field("APIKey", `{"type":"string"}`), "x", asksSecret},
		{"an API_KEY", field("API_KEY", `{"type":"string"}`), "x", asksSecret},
		{"access tokens", field("access_tokens", `{"type":"string"}`), "x", asksSecret},
		{"a PIN", field("pin", `{"type":"integer"}`), "x", asksSecret},
		{"a card number", field("card-number", `{"type":"string"}`), "x", asksSecret},
		{"a passphrase", field("pass_phrase", `{"type":"string"}`), "x", asksSecret},
		{"a password inside an object", field("password", `{"type":"object"}`), "x", asksSecret},
		{"a harmless name with a title", field("value", `{"type":"string","title":"Your Password"}`), "x", asksSecret},
		{"a harmless name with a description", field("value", `{"type":"string","description":"the API key of the account"}`), "x", asksSecret},
		{"a title in full width", field("value", `{"type":"string","title":"ｐａｓｓｗｏｒｄ"}`), "x", asksSecret},
		{"a title with what does not show", field("value", "{\"type\":\"string\",\"title\":\"to\u200bken\"}"), "x", asksSecret},
		{"a title with accents", field("value", `{"type":"string","title":"pässwórd"}`), "x", asksSecret},
		{"a message", approveForm, "Please enter your password to go on.", asksSecret},
		{"a message that is a prompt", approveForm, "Password:", asksSecret},
		{"a message that wants one", approveForm, "The vault is locked. An access token is required to open it.", asksSecret},
		{"a message that asks what it is", approveForm, "What's the recovery phrase of the wallet?", asksSecret},
		{"a message that says type", approveForm, "Type in the PIN.", asksSecret},
		{"a message in capitals", approveForm, "ENTER THE CARD NUMBER", asksSecret},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got := AdmitForm(json.RawMessage(tt.schema), tt.message, both)
			if got.Reason != tt.want || got.Admitted != (tt.want == "") || got.Fallback != ModeNone {
				t.Errorf("%+v, want %q", got, tt.want)
			}
			wanted := ModeForm
			if tt.want == asksSecret {
				wanted = ModeURL
			}
			if got.Wanted != wanted {
				t.Errorf("wants %s", got.Wanted)
			}
		})
	}
}

// What a client cannot show is not sent; what it can show decides nothing else.
func TestAFormNeedsItsMode(t *testing.T) {
	for _, tt := range []struct {
		c    Capabilities
		want Reason
		text string
	}{
		{Capabilities{}, noForm, "none"},
		{Capabilities{URL: true}, noForm, "url"},
		{Capabilities{Form: true}, "", "form"},
		{both, "", "form,url"},
	} {
		got := AdmitForm(json.RawMessage(approveForm), "x", tt.c)
		if got.Reason != tt.want || got.Wanted != ModeForm || got.Negotiated.String() != tt.text || got.Fallback != ModeNone {
			t.Errorf("%v: %+v", tt.c, got)
		}
	}
}

// everyReason is what may stand in a log of a decision.
var everyReason = []Reason{
	"", noForm, noFields, nested, listed, preset, elaborate, oddName, asksSecret,
	noURL, noAddress, notHTTPS, foreignOrigin, superfluous, carriesSecret, aboutPerson, noOpaqueID, notCarried, notRequired, otherEra,
}

func FuzzAdmitForm(f *testing.F) {
	for _, s := range []string{
		approveForm, `{"type":"object","properties":{"a":{"type":"array"}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"a":{"type":"object"}},"required":["a"]}`, `[]`, `{`,
	} {
		f.Add([]byte(s), "Move 1 note")
	}
	f.Add([]byte(approveForm), "enter your password")
	f.Fuzz(func(t *testing.T, schema []byte, message string) {
		got := AdmitForm(schema, message, both)
		if !slices.Contains(everyReason, got.Reason) || got.Admitted != (got.Reason == "") || got.Fallback != ModeNone {
			t.Fatalf("%+v", got)
		}
		if AdmitForm(schema, message, Capabilities{URL: true}).Admitted {
			t.Fatal("sent to a client that has no forms")
		}
		if !got.Admitted {
			return
		}
		// A plain reader sees a flat form as well.
		var plain struct {
			Type       string                    `json:"type"`
			Properties map[string]map[string]any `json:"properties"`
			Required   []string                  `json:"required"`
		}
		if err := json.Unmarshal(schema, &plain); err != nil || plain.Type != "object" || len(plain.Properties) == 0 || len(plain.Required) == 0 {
			t.Fatalf("%+v, %v", plain, err)
		}
		for name, p := range plain.Properties {
			if !slices.Contains([]any{"string", "number", "integer", "boolean"}, p["type"]) || p["properties"] != nil || p["items"] != nil || p["default"] != nil ||
				strings.Contains(strings.ToLower(name), "password") {
				t.Fatalf("%q: %v", name, p)
			}
		}
	})
}
