package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
)

func explain(g *gated, tool, args string) *app.Explanation {
	g.t.Helper()
	return g.app.Explain(g.t.Context(), dispatch.Request{Caller: auth.Caller{ID: "stdio", Scopes: auth.All}, Tool: tool, Args: json.RawMessage(args)})
}

// What is explained is what a call then meets, and nothing of it is done, asked or
// kept by explaining it.
func TestAnExplanationIsWhatTheCallMeets(t *testing.T) {
	rules := `[{glob: "Private/**", verbs: {read: ask}}, {glob: "Work/**", verbs: {write: ask}}, {glob: "Shut/**", verbs: {read: deny, write: deny}}, {glob: "Gone/**", verbs: {read: hide}}]`
	files := map[string]string{"a.md": "one [[w]]\n", "Private/secret.md": "s\n", "Work/w.md": "w\n", "Shut/x.md": "x\n", "Gone/g.md": "g\n"}
	for _, c := range []struct{ tool, args, outcome, code, says string }{
		{"read_note", `{"path":"a.md"}`, app.WouldRun, "", "person: none is needed"},
		{"read_note", `{"path":"Private/secret"}`, app.WouldAsk, "elicit_required", `read: ask, by rule 1 ("Private/**")`},
		{"read_note", `{"path":"Shut/x.md"}`, app.WouldFail, "acl_denied", `read: deny, by rule 3 ("Shut/**")`},
		{"read_note", `{"pth":"a.md"}`, app.WouldFail, "validation_error", "at the stage bind"},
		{"read_note", `{"path":"a.md","vault":"other"}`, app.WouldFail, "vault_not_found", "at the stage caller"},
		{"append_note", `{"path":"a.md","content":"more"}`, app.WouldRun, "", "1 file, of which 0 only have links kept right; 1 lines added, 0 removed"},
		{"append_note", `{"path":"Work/w.md","content":"more"}`, app.WouldAsk, "elicit_required", `write: ask, by rule 2 ("Work/**")`},
		{"append_note", `{"path":"Work/w.md","content":"more","dry_run":true}`, app.WouldRun, "", "plan: "},
		{"patch_note", `{"path":"Private/absent.md","operation":"append","target_heading":"X","content":"x"}`, app.WouldAsk, "elicit_required", "after the approval it would fail: note_not_found"},
		{"delete_note", `{"path":"a.md"}`, app.WouldAsk, "elicit_required", `because it removes "a.md"`},
		{"write_note", `{"path":"Gone/new.md","content":"x"}`, app.WouldFail, "acl_denied", `write: deny, by rule 4 ("Gone/**")`},
		{"move_note", `{"from":"Work/w.md","to":"Work/v.md"}`, app.WouldAsk, "elicit_required", "links kept right"},
	} {
		g := asking(t, rules, files)
		x := explain(g, c.tool, c.args)
		if text := x.Text(); x.Outcome != c.outcome || !strings.Contains(text, c.says) {
			t.Errorf("%s %s: %s\n%s", c.tool, c.args, x.Outcome, text)
		}
		if kept, _ := filepath.Glob(filepath.Join(g.home, ".local/state/vault-mcp/*")); len(kept) != 0 {
			t.Errorf("%s: explaining it has left %q", c.tool, kept)
		}
		got := g.do(request{tool: c.tool, args: c.args})
		if code, _, _ := strings.Cut(got, " "); c.code == "" && got != "ran" || c.code != "" && code != c.code {
			t.Errorf("%s %s: the call met %s", c.tool, c.args, got)
		}
	}
}

// Explaining writes no note.
func TestAnExplanationWritesNothing(t *testing.T) {
	g := asking(t, "[]", private)
	explain(g, "append_note", `{"path":"a.md","content":"more"}`)
	if b, _ := os.ReadFile(filepath.Join(g.dir, "a.md")); string(b) != private["a.md"] {
		t.Errorf("%q", b)
	}
}
