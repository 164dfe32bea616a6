package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/hitl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/vault/change"
)

type kind string

func (kind) Values() []string { return []string{"red", "blue"} }

type bindIn struct {
	VaultArg
	Name  string   `json:"name" jsonschema:"a name" limits:"minLength=2,maxLength=5"`
	Count int      `json:"count,omitempty" limits:"min=1,max=10,default=3"`
	Deep  bool     `json:"deep,omitempty" limits:"default=true"`
	Kind  kind     `json:"kind,omitempty" limits:"default=red"`
	List  []string `json:"list,omitempty" limits:"maxItems=2,maxLength=3"`
	Ratio float64  `json:"ratio,omitempty"`
	PageArg
}

type bindOut struct {
	OK bool `json:"ok"`
}

func bindTool() Tool {
	return Query(Spec{Name: "t", Title: "T", Doc: "T.", Scope: auth.Read}, func(context.Context, *Call, bindIn) (bindOut, error) { return bindOut{}, nil })
}

func TestBind(t *testing.T) {
	tool := bindTool()
	var c Call
	if err := tool.Bind(&c, json.RawMessage(`{"name":"ab","list":"x"}`), "main"); err != nil {
		t.Fatal(err)
	}
	want := &bindIn{Name: "ab", Count: 3, Deep: true, Kind: "red", List: []string{"x"}}
	want.Vault = "" // filled in for the hash and the stages; the struct has what was sent
	got := c.in.(*bindIn)
	got.Vault = ""
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if c.VaultID() != "main" {
		t.Errorf("vault %q", c.VaultID())
	}
}

// Numbers and booleans in quotes are the same call as without, and the answer says in
// both halves what they were taken for.
func TestScalarsInQuotesAreTaken(t *testing.T) {
	tool := bindTool()
	var plain, quoted Call
	if err := tool.Bind(&plain, json.RawMessage(`{"name":"ab","count":5,"deep":false,"ratio":-1.5}`), "main"); err != nil {
		t.Fatal(err)
	}
	if err := tool.Bind(&quoted, json.RawMessage(`{"name":"ab","count":"5","deep":"false","ratio":"-1.5"}`), "main"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(plain.in, quoted.in); d != "" {
		t.Errorf("-plain +quoted:\n%s", d)
	}
	if plain.Hash != quoted.Hash {
		t.Error("another hash")
	}
	r, err := quoted.Render(bindOut{true})
	if err != nil {
		t.Fatal(err)
	}
	const says = "count was sent as a string and taken as 5"
	if !strings.Contains(string(r.Structured), says) || !strings.Contains(r.Text, says) {
		t.Errorf("%s\n%s", r.Structured, r.Text)
	}
	if r, err = plain.Render(bindOut{true}); err != nil || strings.Contains(string(r.Structured), coercedKey) {
		t.Errorf("%s %v", r.Structured, err)
	}
	if r, err = quoted.Render(poem{}); err != nil || r.Text != "head\ntext" || !strings.Contains(string(r.Content()), says) {
		t.Errorf("%s %v", r.Content(), err)
	}
}

type poem struct{}

func (poem) Prose() (header, text string) { return "head", "text" }

func TestBindRefuses(t *testing.T) {
	tests := []struct{ name, args, argument, says string }{
		{"unknown", `{"name":"ab","cout":1}`, "cout", `Did you mean "count"?`},
		{"unknown by case", `{"Name":"ab"}`, "Name", `Did you mean "name"?`},
		{"missing", `{}`, "name", "missing"},
		{"null for a required one", `{"name":null}`, "name", "missing"},
		{"wrong type", `{"name":5}`, "name", "must be a string, not a number"},
		{"no number for an integer", `{"name":"ab","count":"5x"}`, "count", "must be an integer, not a string"},
		{"blanks around a number", `{"name":"ab","count":" 5"}`, "count", "must be an integer, not a string"},
		{"a number that no JSON has", `{"name":"ab","count":"05"}`, "count", "must be an integer, not a string"},
		{"fraction for an integer, as a string", `{"name":"ab","count":"1.5"}`, "count", "whole number"},
		{"a number out of bounds, as a string", `{"name":"ab","count":"11"}`, "count", "at most 10"},
		{"a number that would be rounded, as a string", `{"name":"ab","ratio":"9007199254740993"}`, "ratio", "9007199254740993"},
		{"no boolean", `{"name":"ab","deep":"yes"}`, "deep", "must be true or false, not a string"},
		{"a boolean in another case", `{"name":"ab","deep":"True"}`, "deep", "must be true or false, not a string"},
		{"a value in another case", `{"name":"ab","kind":"RED"}`, "kind", "must be one of red, blue"},
		{"a key twice, one of them coerced", `{"name":"ab","count":"5","count":"6"}`, "count", "twice"},
		{"fraction for an integer", `{"name":"ab","count":1.5}`, "count", "whole number"},
		{"too short", `{"name":"a"}`, "name", "at least 2 characters"},
		{"too long, in characters", `{"name":"ääääää"}`, "name", "has 6 characters"},
		{"too small", `{"name":"ab","count":0}`, "count", "at least 1"},
		{"too large", `{"name":"ab","count":11}`, "count", "at most 10"},
		{"not of the enum", `{"name":"ab","kind":"green"}`, "kind", "one of red, blue"},
		{"too many", `{"name":"ab","list":["a","b","c"]}`, "list", "at most 2"},
		{"wrong item", `{"name":"ab","list":["a",5]}`, "list[1]", "must be a string"},
		{"long item", `{"name":"ab","list":["abcd"]}`, "list[0]", "at most 3"},
		{"boolean", `{"name":"ab","deep":"yes"}`, "deep", "true or false"},
		{"rounded number", `{"name":"ab","ratio":9007199254740993}`, "ratio", "cannot be carried exactly"},
		{"key twice", `{"name":"ab","name":"cd"}`, "name", "twice"},
		{"array", `[]`, "", "must be an object"},
		{"string", `"x"`, "", "must be an object"},
		{"broken", `{"name":`, "", "no valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool := bindTool()
			err := tool.Bind(&Call{}, json.RawMessage(tt.args), "main")
			e := fault.Of(err)
			if e == nil || e.Code != fault.ValidationError || !strings.Contains(e.Message, tt.says) {
				t.Fatalf("got %v, want %q", err, tt.says)
			}
			if tt.argument != "" && e.Details["argument"] != tt.argument {
				t.Errorf("argument %v, want %q", e.Details["argument"], tt.argument)
			}
		})
	}
}

// The hash is over the effective arguments: the only vault filled in, defaults
// not, and whatever order or spelling they came in.
func TestHashOfEffectiveArguments(t *testing.T) {
	hash := func(args string) string {
		var c Call
		tool := bindTool()
		if err := tool.Bind(&c, json.RawMessage(args), "main"); err != nil {
			t.Fatal(args, err)
		}
		return string(c.Hash)
	}
	same := []string{`{"name":"ab"}`, `{"vault":"main","name":"ab"}`, `{"name":"\u0061b", "vault":null}`, ` { "name" : "ab" } `}
	for _, args := range same[1:] {
		if hash(args) != hash(same[0]) {
			t.Errorf("%s hashes unlike %s", args, same[0])
		}
	}
	for _, args := range []string{`{"name":"ab","count":3}`, `{"name":"abc"}`, `{"name":"ab","vault":"x"}`} {
		if hash(args) == hash(same[0]) {
			t.Errorf("%s hashes like %s", args, same[0])
		}
	}
}

func TestRegistrationRule(t *testing.T) {
	ok := Spec{Name: "t", Title: "T", Doc: "T.", Scope: auth.Execute}
	run := func(context.Context, *Call, bindIn) (bindOut, error) { return bindOut{}, nil }
	targets := func(context.Context, *Call, bindIn) (hitl.Targets, error) { return hitl.Targets{}, nil }
	effect := func(s EffectSpec[bindIn, bindOut]) Tool { s.Spec = ok; return Effect(s) }
	tests := []struct {
		name string
		tool Tool
		says string // "" if it is served
	}{
		{"targets", effect(EffectSpec[bindIn, bindOut]{Run: run, Targets: targets}), ""},
		{"none, said out loud", effect(EffectSpec[bindIn, bindOut]{Run: run, None: "it happens elsewhere"}), ""},
		{"neither", effect(EffectSpec[bindIn, bindOut]{Run: run}), "neither a plan nor targets nor none"},
		{"neither, with a floor", effect(EffectSpec[bindIn, bindOut]{Run: run, Floor: hitl.Always("x")}), "neither a plan nor targets nor none"},
		{"both", effect(EffectSpec[bindIn, bindOut]{Run: run, Targets: targets, None: "x"}), "both"},
		{"nothing to run", effect(EffectSpec[bindIn, bindOut]{Targets: targets}), "nothing to run"},
		{"a change without a plan", Change[bindIn, bindOut](ok, nil), "without a plan"},
		{"a change", Change(ok, func(context.Context, *Call, bindIn) (change.Plan, bindOut, error) {
			return change.Plan{}, bindOut{}, nil
		}), ""},
		{"a query that would write", Query(ok, run), "more than reading"},
		{"a bad name", Query(Spec{Name: "Read-Note", Title: "T", Doc: "T."}, run), "a name has"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewRegistry(Domain{Name: "d", Tools: []Tool{tt.tool}})
			if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
	if _, err := NewRegistry(Domain{Tools: []Tool{bindTool(), bindTool()}}); err == nil {
		t.Error("one name twice is served")
	}
}

func TestSchema(t *testing.T) {
	tool := bindTool()
	var s struct {
		Type                 string
		Required             []string
		AdditionalProperties any
		Properties           map[string]map[string]any
	}
	if err := json.Unmarshal(tool.InputSchema(true), &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != "object" || s.AdditionalProperties == nil {
		t.Errorf("root %+v", s)
	}
	if d := cmp.Diff([]string{"name", "vault"}, s.Required); d != "" {
		t.Errorf("required (-want +got):\n%s", d)
	}
	want := map[string]any{"type": "integer", "minimum": 1.0, "maximum": 10.0, "default": 3.0}
	if d := cmp.Diff(want, s.Properties["count"]); d != "" {
		t.Errorf("count (-want +got):\n%s", d)
	}
	if s.Properties["list"]["type"] != "array" {
		t.Errorf("a list is a %v", s.Properties["list"]["type"])
	}
	if strings.Contains(string(tool.InputSchema(false)), `"vault"]`) {
		t.Error("the only vault is required")
	}
}

// Whatever a client sends as arguments is bound or refused, never a panic and
// never an internal error.
func FuzzBind(f *testing.F) {
	for _, s := range []string{`{"name":"ab"}`, `{"name":"ab","list":["a"],"cursor":"x"}`, `{"vault":null,"vault":"x"}`, `[{}]`, `{"count":1e99}`} {
		f.Add([]byte(s))
	}
	tool := bindTool()
	f.Fuzz(func(t *testing.T, args []byte) {
		var c Call
		if err := tool.Bind(&c, args, "main"); err != nil {
			if e := fault.Of(err); e.Code != fault.ValidationError {
				t.Fatalf("%q: %v", args, err)
			}
		} else if len(c.Hash) != 32 {
			t.Fatalf("%q: hash %q", args, c.Hash)
		}
	})
}
