package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type fakeBridge struct {
	URL    string   `yaml:"url" doc:"Where."`
	Secret string   `yaml:"secret" secret:"true" doc:"What."`
	Unset  string   `yaml:"unset" secret:"true" doc:"What."`
	Many   []string `yaml:"many" secret:"true" doc:"What."`
	Plain  []string `yaml:"plain" doc:"What."`
}

func TestShowHidesSecrets(t *testing.T) {
	got := redacted(&fakeBridge{URL: "true", Secret: "hunter2", Many: []string{"hunter3"}, Plain: []string{"a: b", "1"}})
	const want = `url: "true"
secret: '***'
unset: ""
many: '***'
plain:
    - 'a: b'
    - "1"
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsHideSecrets(t *testing.T) {
	for _, text := range []string{"secret: 123456", "secret: 12.3456", "many: [123456]", "many: 123456"} {
		p := &problems{file: "f", lines: map[string]int{}}
		decode(document([]byte(text), p), &fakeBridge{}, p)
		if err := p.err(); err == nil || strings.Contains(err.Error(), "3456") {
			t.Errorf("%s: got %v, want an error without the value", text, err)
		}
	}
}

func TestShow(t *testing.T) {
	p := newPlace(t)
	c, err := p.load("vaults: [{path: Notes, rules: [{glob: 'Private/**', verbs: {read: hide}}]}]")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := c.Show(&b); err != nil {
		t.Fatal(err)
	}
	const want = `vaults:
    - id: main
      path: Notes
      read_only: false
      rules:
        - glob: Private/**
          verbs:
            read: hide
state_dir: ""
surface: core
tools:
    allow: []
    deny: []
    read_only: false
governor:
    max_response_bytes: 1000000
    soft_list_bytes: 10000
    soft_note_chars: 40000
throttle:
    read:
        per_minute: 6000
        burst: 1000
`
	got := strings.ReplaceAll(b.String(), p.path("Notes"), "Notes")
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "log:\n    level: info\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestDocsNameEveryKey(t *testing.T) {
	docs := Docs()
	if docs != Docs() {
		t.Error("the docs differ from one time to the next")
	}
	for _, want := range []string{
		"| `vaults[].rules[].verbs.read` | one of allow, ask, deny, hide | none | Reading, ",
		"| `vaults[].path` | text | required | The folder ",
		"| `governor.max_response_bytes` | whole number from 10000 to 50000000 | `1000000` | The largest ",
		"| `governor.soft_list_bytes` | whole number from 2000 to 50000000 | `10000` | How large ",
		"| `throttle.admin.burst` | whole number from 1 to 1000000 | `10` | Calls ",
		"| `vaults[].read_only` | true or false | `false`, *live* | ",
		"| `vaults[].rules` | list | none, *live* | Folder rules. ",
		"| `VAULT_MCP_LOG` | ",
	} {
		if !strings.Contains(docs, "\n"+want) {
			t.Errorf("the docs lack %q", want)
		}
	}
	for _, line := range strings.Split(docs, "\n") {
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") < 3 {
			t.Errorf("not a row: %s", line)
		}
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	var walk func(t *testing.T, typ reflect.Type, key string)
	walk = func(t *testing.T, typ reflect.Type, key string) {
		for typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		for _, f := range fieldsOf(typ) {
			if f.name == "" || f.tag.Get("doc") == "" {
				t.Errorf("%s.%s has no name or no doc", key, f.name)
			}
			if f.kind == reflect.Int {
				bounds(f.tag) // panics without them
			}
			walk(t, typ.Field(f.index).Type, join(key, f.name))
		}
	}
	walk(t, reflect.TypeFor[Config](), "")
}

func TestNearest(t *testing.T) {
	accepted := []string{"vaults", "state_dir", "governor", "throttle", "log"}
	tests := []struct{ name, want string }{
		{"vault", "vaults"},
		{"statedir", "state_dir"},
		{"state-dir", "state_dir"},
		{"Throttle", "throttle"},
		{"lgo", ""},
		{"xyz", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := nearest(tt.name, accepted); got != tt.want {
			t.Errorf("nearest(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Every section is either told to clients or one of those that are not for them:
// a new one has to be thought about.
func TestWhatIsTold(t *testing.T) {
	p := newPlace(t)
	c, err := p.load("vaults: [{path: Notes, rules: [{glob: 'Private/**', verbs: {read: hide}}]}]")
	if err != nil {
		t.Fatal(err)
	}
	told := c.Told()
	var withheld []string
	for _, f := range fieldsOf(reflect.TypeFor[Config]()) {
		if _, ok := told[f.name]; !ok {
			withheld = append(withheld, f.name)
		}
	}
	if diff := cmp.Diff([]string{"vaults", "state_dir", "tools", "page", "programs"}, withheld); diff != "" {
		t.Error(diff)
	}
	elicit, _ := told["elicit"].(map[string]any)
	if _, ok := elicit["unattended"]; ok || elicit["ttl"] != "300s" {
		t.Errorf("%v", elicit)
	}
}
