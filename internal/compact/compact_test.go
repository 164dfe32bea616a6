package compact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinesDropNothing(t *testing.T) {
	got := Lines(compacted(t, `{"a":"x","n":null,"empty":"","num":"5","list":[],"strings":["p","q | r"],
		"rows":[{"path":"a.md","size":1},{"path":"b | c.md","more":true}],"multi":"l1\nl2","obj":{"k":1}}`))
	want := strings.Join([]string{
		`a: x`, `n: null`, `empty: ""`, `num: "5"`, `list: none`, `strings:`, `- p`, `- "q | r"`,
		`rows: [path | size | more]`, `- a.md | 1 | `, `- "b | c.md" |  | true`, `multi: "l1\nl2"`, `obj: {"k":1}`,
	}, "\n")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func compacted(t *testing.T, s string) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(s)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Taking JSON apart gives what decoding it gives.
func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"a":"x\\\"{}","b":[1,{"c":[]},"],"],"":-0.5,"n":null,"t":{"u":{}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var v map[string]any
		if json.Unmarshal(in, &v) != nil || v == nil {
			return
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		raw := bytes.TrimSpace(b.Bytes())
		var want map[string]json.RawMessage
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		got := map[string]json.RawMessage{}
		ms, ok := membersOf(raw)
		for _, m := range ms {
			got[m.key] = m.value
		}
		if d := cmp.Diff(want, got); d != "" || !ok {
			t.Fatalf("%s: -want +got:\n%s", raw, d)
		}
		for _, m := range ms {
			if m.value[0] != '[' {
				continue
			}
			var items []json.RawMessage
			if err := json.Unmarshal(m.value, &items); err != nil {
				t.Fatal(err)
			}
			if len(items) == 0 {
				items = nil
			}
			if d := cmp.Diff(items, itemsOf(m.value)); d != "" {
				t.Fatalf("%s: -want +got:\n%s", m.value, d)
			}
		}
		_ = Lines(raw)
	})
}

// What is written as a JSON string reads back the same, and its length is
// known beforehand.
func FuzzAppendJSON(f *testing.F) {
	f.Add("a\n\"\\\x00\u2028é😀\xff<")
	f.Fuzz(func(t *testing.T, s string) {
		b := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); strings.ReplaceAll(back, "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
			t.Fatalf("%q became %q", s, back)
		}
		if n := StringLen(s); n != len(b) {
			t.Fatalf("StringLen(%q) = %d, want %d", s, n, len(b))
		}
	})
}
