package note

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzEditProperties: an edit is refused, or it changes no byte outside of its key, reads back as what was asked for,
// and changes nothing when it is made again.
func FuzzEditProperties(f *testing.F) {
	for i, s := range fuzzYAML {
		for op := range uint8(5) {
			f.Add([]byte(s), op, uint8(i), `{"a": ["x", 1.50, null, "yes"], "b": "x: y\nz"}`)
			f.Add([]byte(s), op, uint8(i+1), `["- a", "b"]`)
		}
	}
	f.Add([]byte("B: &x [1]\nb: *x\n"), uint8(1), uint8(1), "1")
	f.Add([]byte("B: 1\nb: 2\n"), uint8(3), uint8(1), "1")
	for _, s := range []string{"# c\na: 1 # d\n\nb:\n- x # e\n-\n- 'y'\n", "a: |+\n  x\n\nb: 1\n", "a: x\r\nb: # c\r\n  - [1,2]\r\n", "{\"a\": [], b: {c: d}}\n", "a:\n  # c\n  b: |\n   x\n  d: [\n  1 ]\n", "~\n", "# x\n"} {
		for op := range uint8(5) {
			f.Add([]byte(s), op, uint8(0), `"[[x]]\n y"`)
			f.Add([]byte(s), op, uint8(1), `[[1], {"x": [true, {}]}, []]`)
			f.Add([]byte(s), op, uint8(9), `"a\nb"`)
		}
	}
	f.Fuzz(func(t *testing.T, yaml []byte, op, pick uint8, raw string) {
		value, err := DecodeValue([]byte(raw))
		if err != nil {
			return
		}
		text := slices.Concat([]byte("---\n"), yaml, []byte("\n---\nbody\r\n---"))
		checkEdit(t, text, op, pick, value)
	})
}

func checkEdit(t *testing.T, text []byte, op, pick uint8, value any) {
	t.Helper()
	before := ParseProperties(text)
	key := "new key"
	if p, ok := before.Find(key); ok {
		key = p.Key
	}
	var at *Property
	if int(pick) < len(before.List) {
		at = &before.List[pick]
		key = at.Key
	}
	var edit PropertyEdit
	want := before.Map()
	switch op % 5 {
	case 0:
		edit, want = SetProperty(key, value), want.with(key, value)
	case 1:
		edit, want = RemoveProperty(key), want.without(key)
	case 2:
		list, _ := value.([]any)
		edit = AddItems(key, list...)
		have, _ := want.Get(key)
		want = nil
		if old, ok := have.([]any); ok && len(list) == 1 && !isTagKey(key) && !slices.ContainsFunc(old, func(o any) bool { return equalValues(o, list[0]) }) {
			want = before.Map().with(key, append(slices.Clone(old), list[0]))
		}
	case 3:
		edit, want = RenameProperty(key, "other: key"), nil
	case 4:
		m, _ := value.(*Map)
		if m == nil {
			return
		}
		edit, want = ReplaceProperties(m), nil
	}
	after, err := EditProperties(text, edit)
	if err != nil {
		e, ok := errors.AsType[*PropertyError](err)
		if !ok || after != nil || (before.State == StateInvalid) != (e.Fault == FaultInvalid) || e.Reason == "" {
			t.Fatalf("%v for %q", err, text)
		}
		return
	}
	got := ParseProperties(after)
	if got.State == StateInvalid || want != nil && (!slices.Equal(got.Map().Keys(), want.Keys()) || !equalValues(got.Map(), want)) {
		t.Fatalf("%q\nbecame %q\n%+v", text, after, got.Problem)
	}
	for _, p := range got.List { // what was not named means what it did
		if old, ok := before.Get(p.Key); op%5 != 4 && ok && p.Key != key && !equalValues(old, p.Value) {
			t.Fatalf("%q changed in %q: %q", p.Key, text, after)
		}
	}
	if !bytes.HasSuffix(after, text[before.Block.End:]) {
		t.Fatalf("the body of %q became %q", text, after)
	}
	if op%5 != 4 && got.Block.Len() > 0 {
		checkOutside(t, text, after, before, at)
	}
	if other, ok := got.Find(key); (op%5 == 1 || op%5 == 3) && ok && other.Key != key {
		return // Key and key were there: the same edit means the one that is left now
	}
	if again, err := EditProperties(after, edit); err != nil || !bytes.Equal(again, after) {
		t.Fatalf("%q\nbecame %q\nand again %q, %v", text, after, again, err)
	}
}

// checkOutside: what stands before and behind the edited key is unchanged.
func checkOutside(t *testing.T, text, after []byte, p Properties, at *Property) {
	t.Helper()
	e := propertyEditor{text: text}
	head, tail := text[:p.YAML.End], text[p.YAML.End:]
	switch {
	case bytes.Equal(text, after):
		return
	case at == nil && (p.Flow || p.State == StateEmpty):
		return
	case at == nil:
	case p.Flow:
		head, tail = text[:at.KeySpan.Start], text[max(at.ValueSpan.End, at.KeySpan.End):]
		head, tail = bytes.TrimRight(head, " \t\r\n,"), bytes.TrimLeft(tail, " \t\r\n,")
		if bytes.IndexByte(p.YAML.Of(text), '#') >= 0 {
			return
		}
	default:
		head, tail = text[:e.lineStart(at.KeySpan.Start)], text[e.blockEnd(Span{at.KeySpan.Start, max(at.KeySpan.End, at.ValueSpan.End)}):]
	}
	if !bytes.HasPrefix(after, head) || !bytes.HasSuffix(after, tail) || len(after) < len(head)+len(tail) {
		t.Fatalf("bytes outside of the key: %q\nbecame %q", text, after)
	}
}

// FuzzPropertiesToThemselves: giving each property the value that it has is no change, whether the value comes as it is
// or through JSON.
func FuzzPropertiesToThemselves(f *testing.F) {
	for _, s := range fuzzYAML {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, yaml []byte) {
		checkSelf(t, slices.Concat([]byte("---\n"), yaml, []byte("\n---\n")))
	})
}

func checkSelf(t *testing.T, text []byte) {
	t.Helper()
	p := ParseProperties(text)
	if p.State != StateOK {
		return
	}
	for _, prop := range p.List {
		raw, err := appendJSON(nil, prop.Value)
		if err != nil {
			t.Fatal(err)
		}
		values := []any{prop.Value}
		if v, err := DecodeValue(raw); err == nil {
			values = append(values, v)
		}
		for _, v := range values {
			got, err := EditProperties(text, SetProperty(prop.Key, v))
			if err != nil {
				if e, ok := errors.AsType[*PropertyError](err); ok && e.Fault == FaultValue {
					continue // a key that could not be written, or a depth that JSON adds to
				}
			}
			if err != nil || !bytes.Equal(got, text) {
				t.Fatalf("%q set to itself (%s): %q became %q, %v", prop.Key, raw, text, got, err)
			}
		}
	}
}

// TestVaultRoundTrip sets each property of each note below the folder in VAULT to its own value; then each to another
// value and back, which restores the note up to how the value is written.
func TestVaultRoundTrip(t *testing.T) {
	root := os.Getenv("VAULT")
	if root == "" {
		t.Skip("VAULT names no folder of notes")
	}
	notes, properties, refused := 0, 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		notes++
		checkSelf(t, text)
		p := ParseProperties(text)
		for i, prop := range p.List {
			properties++
			for op := range uint8(4) {
				for _, v := range []any{"x: y", []any{"- a"}, (&Map{}).with("k", "a\nb")} {
					checkEdit(t, text, op, uint8(i), v)
				}
			}
			other, err := EditProperties(text, SetProperty(prop.Key, "~"))
			if err != nil {
				refused++
				t.Logf("%s: %v", path, err)
				continue
			}
			back, err := EditProperties(other, SetProperty(prop.Key, prop.Value))
			if again := ParseProperties(back); err != nil || !equalValues(again.Map(), p.Map()) {
				t.Errorf("%s: %q there and back: %v", path, prop.Key, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d notes, %d properties, %d refused", notes, properties, refused)
	if notes == 0 {
		t.Error("no notes")
	}
}
