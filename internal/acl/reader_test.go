package acl

import (
	"os"
	"path/filepath"
	"testing"

	"vault-mcp/internal/fault"
	"vault-mcp/vault"
)

func TestReaderKeepsTheRules(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"open/A.md", "Private/B.md", "Private/shared/C.md", "denied/D.md", "open/E.md"} {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(path), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v, err := vault.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := Compile([]Rule{
		{Glob: "private/**", Read: Hide}, {Glob: "Private/shared/**", Read: Allow}, {Glob: "denied", Read: Deny}, {Glob: "open/E.md", Read: Ask},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := NewView("main", v, rules, true)
	r := w.Reader()
	defer r.Close()
	for _, tt := range []struct {
		path string
		code fault.Code
	}{
		{"open/A.md", ""}, {"Private/B.md", fault.NoteNotFound}, {"Private/shared/C.md", ""}, {"Private/none.md", fault.NoteNotFound},
		{"denied/D.md", fault.ACLDenied}, {"denied/none.md", fault.ACLDenied}, {"open/E.md", fault.ACLDenied}, {"open/none.md", fault.NoteNotFound},
	} {
		c, err := r.Read(t.Context(), tt.path, 100)
		want := ""
		if tt.code == "" {
			want = tt.path
		}
		if got := fault.Of(err); string(c.Bytes) != want || (err != nil) != (tt.code != "") || err != nil && got.Code != tt.code {
			t.Errorf("%s: got %q, %v; want %q", tt.path, c.Bytes, err, tt.code)
		}
	}
}
