package dispatch_test

import (
	"strings"
	"testing"

	"vault-mcp/internal/fault"
)

// Links are kept right beyond the caller's folders by a person's leave, and
// nowhere else.
func TestUpkeepBeyondTheCallersFolders(t *testing.T) {
	for _, tt := range []struct {
		path, vault string
		code        fault.Code
		asked       bool
	}{
		{"b.md", "main", "", false},
		{"Rules/b.md", "main", "", true},
		{"Rules/b.md", "closed", fault.ReadOnly, false},
		{"x/../b.md", "main", fault.ACLDenied, false},
		{".obsidian/app.json", "main", fault.ACLDenied, false},
		{"a/.git/config", "main", fault.ACLDenied, false},
	} {
		b := newBench(t)
		_, err := b.do(t.Context(), "keep", `{"path":"`+tt.path+`","vault":"`+tt.vault+`"}`)
		if code(err) != tt.code {
			t.Errorf("%s in %s: %v", tt.path, tt.vault, err)
		}
		if got := strings.Contains(strings.Join(b.asked, ""), "1 file outside"); got != tt.asked {
			t.Errorf("%s in %s: asked for %q", tt.path, tt.vault, b.asked)
		}
	}
}
