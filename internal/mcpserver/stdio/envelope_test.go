package stdio

import (
	"encoding/json"
	"maps"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestMembers(t *testing.T) {
	tests := []struct {
		in   string
		want map[string]string
	}{
		{`{}`, map[string]string{}},
		{`[1,2]`, map[string]string{}},
		{`"{}"`, map[string]string{}},
		{`{"a":1,"b":"x","c":{"d":[1,{"e":"}"}]},"f":[],"g":null}`, map[string]string{
			"a": "1", "b": `"x"`, "c": `{"d":[1,{"e":"}"}]}`, "f": "[]", "g": "null"}},
		{" { \"a\" :\t-1.5e3 , \"b\":true\r\n}"[1:], map[string]string{"a": "-1.5e3", "b": "true"}},
		{`{"\u0061\"":"\\","b":"\"}"}`, map[string]string{`a"`: `"\\"`, "b": `"\"}"`}},
		{`{"a":1,"b":12`, map[string]string{"a": "1"}}, // 12 may go on
		{`{"a":"x","b":"y\"`, map[string]string{"a": `"x"`}},
		{`{"a":"x","b":{"c":1`, map[string]string{"a": `"x"`}},
		{`{"a`, map[string]string{}},
		{`{"a"`, map[string]string{}},
		{`{"a":`, map[string]string{}},
	}
	for _, tt := range tests {
		got := map[string]string{}
		for k, v := range members([]byte(tt.in)) {
			got[string(k)] = string(v)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.in, diff)
		}
	}
}

func TestPeekID(t *testing.T) {
	tests := []struct{ head, want string }{
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"x":"yyy`, "5"},
		{` {"method":"m","id":"a\"b","params":[`, `"a\"b"`},
		{`{"jsonrpc":"2.0","id":5,"result":{"x":"yyy`, ""},
		{`{"jsonrpc":"2.0","method":"m","params":{"id":5`, ""},
		{`{"id":1.5,"method":"m","params":"`, ""},
		{`{"id":"\uZZZZ","method":"m","x":"`, ""},
		{`{"id":007,"method":"m","x":"`, ""},
		{"{\"id\":\"\xff\",\"method\":\"m\",\"x\":\"", ""},
		{`[{"id":5,"method":"m"},`, ""},
		{`xxxx`, ""},
		{``, ""},
	}
	for _, tt := range tests {
		if got := peekID([]byte(tt.head)); string(got) != tt.want {
			t.Errorf("%s: got %s, want %s", tt.head, got, tt.want)
		}
	}
}

// FuzzMembers: of any JSON object, the members are those that encoding/json finds.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":"x\"","c":{"d":[1,{"e":"}"}]}, "\u0061":[] }`))
	f.Fuzz(func(t *testing.T, in []byte) {
		got := map[string]json.RawMessage{}
		for k, v := range members(in) { // must not panic, whatever in is
			got[string(k)] = v
		}
		var want map[string]json.RawMessage
		// What is no UTF-8 is refused before; decoding would replace its bytes.
		if len(in) == 0 || in[0] != '{' || !utf8.Valid(in) || json.Unmarshal(in, &want) != nil {
			return
		}
		equal := func(a, b json.RawMessage) bool { return string(a) == string(b) }
		if !maps.EqualFunc(got, want, equal) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	})
}
