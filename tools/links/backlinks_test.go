package links

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vault-mcp/internal/acl"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// What is cut out of a text that the index knows is what reading it anew finds;
// and of a text that it does not know, nothing is cut by its places.
func TestTextsOfLinksAreThoseOfTheFile(t *testing.T) {
	dir := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("Hub.md", "# Hub\n\n[[#Part]] of itself\n")
	put("Bom.md", "\ufeff[[Hub]] first\r\nthen ![[hub|120]] and 😀 [[Hub#A|x]]\r")
	put("Marks.md", "see [a *b*](Hub.md \"title\")\n\n| [[Hub\\|cell]] |\n| - |\n")
	put("Props.md", "---\nup: \"[[Hub]]\"\nall: ['[[Hub|one]]', \"[\\u0074wo](Hub.md)\", x]\nname: &n '[[Hub|same]]'\nagain: *n\n---\n")
	put("Stale.md", "[[Hub]] as the index has it\n")
	v, err := vault.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := acl.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &tools.Call{View: acl.NewView("main", v, rules, true), Budget: 1_000_000}
	find := func() *found {
		t.Helper()
		b, err := findBacklinks(t.Context(), c, "Hub.md", false)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	fill := func(b *found) []backlinkRow {
		t.Helper()
		if n, err := b.fill(t.Context(), c, b.rows, backlinksIn{Context: 1, Verbosity: tools.Full}); err != nil || n != len(b.rows) {
			t.Fatal(n, err)
		}
		return b.rows
	}
	known, unknown := find(), find()
	for i := range unknown.rows {
		if unknown.rows[i].length == 0 {
			t.Errorf("%s:%d has no length", unknown.rows[i].Source, unknown.rows[i].Line)
		}
		unknown.rows[i].hash = [32]byte{}
	}
	fast, slow := fill(known), fill(unknown)
	if d := cmp.Diff(slow, fast, cmp.AllowUnexported(place{}), cmpopts.IgnoreUnexported(backlinkRow{})); d != "" {
		t.Errorf("by the index (-without +with):\n%s", d)
	}
	var raws []string
	for _, r := range fast {
		raws = append(raws, r.Raw)
	}
	want := []string{
		"[[Hub]]", "![[hub|120]]", "[[Hub#A|x]]", "[[#Part]]", `[a *b*](Hub.md "title")`, `[[Hub\|cell]]`,
		"[[Hub]]", "[[Hub|one]]", `"[\u0074wo](Hub.md)"`, "[[Hub|same]]", "*n", "[[Hub]]",
	}
	if d := cmp.Diff(want, raws); d != "" {
		t.Errorf("texts (-want +got):\n%s", d)
	}

	stale := find()
	put("Stale.md", "[[Hob]] as somebody wrote\n")
	fill(stale)
	for _, r := range stale.rows {
		if r.Source == "Stale.md" && (r.Raw != "" || r.Snippet != "") {
			t.Errorf("%q in %q is shown for a link that is gone", r.Raw, r.Snippet)
		}
	}
}
