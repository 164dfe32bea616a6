package uri

import (
	"strings"
	"testing"
	"unicode/utf8"

	"vault-mcp/internal/fault"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ uri, vault, path string }{
		{"vault://main/a.md", "main", "a.md"},
		{"VAULT://main/a%20b.md", "main", "a b.md"},
		{"obsidian-tc://main/Plants/Gr%C3%BCnkohl.md", "main", "Plants/Grünkohl.md"},
		{"vault://main/Plants/Grünkohl.md", "main", "Plants/Grünkohl.md"},
		{"vault://main/what's #1?.md", "main", "what's #1?.md"},
		{"vault://main/a+b.md", "main", "a+b.md"},
		{"vault://main/", "", ""},
		{"vault://main", "", ""},
		{"vault://main/50%", "", ""},
		{"file:///etc/passwd", "", ""},
		{"", "", ""},
	} {
		vault, path, err := Parse(tt.uri)
		if vault != tt.vault || path != tt.path || (err == nil) != (tt.path != "") {
			t.Errorf("%s: %q, %q, %v", tt.uri, vault, path, err)
		}
		if err != nil && fault.Of(err).Code != fault.NoteNotFound {
			t.Errorf("%s: %v", tt.uri, err)
		}
	}
}

// FuzzParse: every file has a URI that names it and nothing else, and what is
// parsed names what its own URI names.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"vault://main/a.md", "obsidian-tc://m/50%25 \u00e9.md", "vault:///x", "a%2Fb", "\xff", "vault://main/%zz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if vault, path, err := Parse(s); err == nil {
			v, p, err := Parse(Of(vault, path))
			if err != nil && path != "" || path != "" && (v != vault || p != path) {
				t.Errorf("%q is %q in %q, which comes back as %q in %q, %v", s, path, vault, p, v, err)
			}
		}
		if s == "" {
			return
		}
		u := Of("main", s)
		if vault, path, err := Parse(u); err != nil || vault != "main" || path != s {
			t.Errorf("%q: %s is %q in %q, %v", s, u, path, vault, err)
		}
		if !utf8.ValidString(u) || strings.ContainsAny(u, " #?[]\"<>\\^`{|}") {
			t.Errorf("%q has the URI %s", s, u)
		}
	})
}
