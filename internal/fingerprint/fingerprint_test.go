package fingerprint

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

// The vectors are lines of: tool, arguments as sent, canonical arguments, hash;
// separated by tabs.
func TestVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			t.Fatalf("line has %d fields: %q", len(f), line)
		}
		n++
		got, err := Canonical([]byte(f[1]))
		if err != nil {
			t.Errorf("%s: %v", f[1], err)
			continue
		}
		if string(got) != f[2] {
			t.Errorf("Canonical(%s)\n got %s\nwant %s", f[1], got, f[2])
		}
		if h := OfCall(f[0], got); string(h) != f[3] {
			t.Errorf("%s %s: hash %s, want %s", f[0], f[1], h, f[3])
		}
	}
	if n < 6 {
		t.Errorf("only %d vectors", n)
	}
}

func TestNumbers(t *testing.T) {
	tests := []struct{ in, want string }{
		{"0", "0"}, {"-0", "0"}, {"1", "1"}, {"-1.50", "-1.5"}, {"1e0", "1"}, {"100E-2", "1"},
		{"9007199254740992", "9007199254740992"}, {"-9007199254740992", "-9007199254740992"},
		{"0.1", "0.1"}, {"1e-6", "0.000001"}, {"1e-7", "1e-7"}, {"5e-324", "5e-324"}, {"0.000", "0"},
		{"123456789.125", "123456789.125"}, {"1.5e-10", "1.5e-10"},
		// A double would round these, so two different calls would share a hash.
		{"9007199254740993", ""}, {"9007199254740994", ""}, {"1e400", ""}, {"-1e400", ""}, {"1e21", ""},
		{"0.1000000000000000055511151231257827", ""}, {"1e-400", ""}, {"1e-99999999999999999999", ""},
		{"1e99999999999999999999", ""},
	}
	for _, tt := range tests {
		got, err := Canonical([]byte(`{"n":` + tt.in + `}`))
		if tt.want == "" {
			if ne := (*NumberError)(nil); !errors.As(err, &ne) || ne.Key != "n" {
				t.Errorf("%s: got %s, %v; want a NumberError for n", tt.in, got, err)
			}
			continue
		}
		if want := `{"n":` + tt.want + `}`; string(got) != want {
			t.Errorf("%s: got %s (%v), want %s", tt.in, got, err, want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, in := range []string{`[]`, `null`, `"x"`, `{"a":1}{}`, `{"a":1,"a":2}`, `{"o":{"a":1,"a":1}}`, `{"a":}`, `{`,
		`{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`} {
		if got, err := Canonical([]byte(in)); err == nil {
			t.Errorf("Canonical(%.60s) = %s, want an error", in, got)
		}
	}
}

func TestSealSeparatesParts(t *testing.T) {
	k := bytes.Repeat([]byte{7}, 32)
	a := Seal("k1", k, []byte("ab"), []byte("c"))
	if b := Seal("k1", k, []byte("a"), []byte("bc")); a == b {
		t.Error("moving a byte between parts leaves the state equal")
	}
	if b := Seal("k1", k, []byte("ab"), []byte("c"), nil); a == b {
		t.Error("an empty part more leaves the state equal")
	}
	if want := State("k1.lpqVjD9EICY0-OkKQ6Eeii4w3lMc3VBkuDKm6SdOff8"); a != want {
		t.Errorf("golden state: got %s, want %s", a, want)
	}
}

func TestContent(t *testing.T) {
	if got := OfContent(nil).String(); got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("empty file: %s", got)
	}
	if got := (Content{}).String(); got != "" {
		t.Errorf("absent file: %q", got)
	}
}

// Whatever order the keys were sent in, the canonical form is the same, is a
// fixpoint, and is valid JSON of the same value.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[null,true,"x\u2028"]}`, `{"😀":1,"￿":2}`, `{"a":{"c":1e-7,"b":-0.0}}`, `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := Canonical(in)
		if err != nil {
			return
		}
		again, err := Canonical(c)
		if err != nil || !bytes.Equal(c, again) {
			t.Fatalf("not a fixpoint: %q then %q (%v)", c, again, err)
		}
		var m map[string]json.RawMessage
		if len(bytes.TrimSpace(in)) == 0 {
			in = []byte("{}")
		}
		if err := json.Unmarshal(in, &m); err != nil {
			t.Fatalf("accepted what is no object: %q", in)
		}
		shuffled, _ := json.Marshal(m) // sorted by bytes: another order
		if s, err := Canonical(shuffled); err != nil || !bytes.Equal(c, s) {
			t.Fatalf("key order matters: %q, %q (%v)", c, s, err)
		}
	})
}
