package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/config"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/tools/facade"
)

// routesTo are the three shapes of a call.
func routesTo(tool, domain, args string) map[string]string {
	return map[string]string{
		tool:                  args,
		facade.CallCapability: fmt.Sprintf(`{"name":%q,"args":%s}`, tool, args),
		domain:                fmt.Sprintf(`{"action":%q,"args":%s}`, tool, args),
	}
}

// What the config denies is nowhere: it cannot be told from a tool that never was.
func TestADeniedToolIsAsIfItWereNot(t *testing.T) {
	a := surfaced(t, "tools: {deny: [delete_note, 'domain:git', 'tag:admin']}")
	for tool, domain := range map[string]string{"delete_note": "notes", "git_log": "notes", "get_metrics": "notes"} {
		for outer, args := range routesTo(tool, domain, `{"path":"a.md"}`) {
			_, err := do(t.Context(), a, outer, args)
			e := fault.Of(err)
			_, other := do(t.Context(), a, strings.Replace(outer, tool, "no_such", 1), strings.Replace(args, tool, "no_such", 1))
			o := fault.Of(other)
			if e == nil || o == nil || e.Code != o.Code || strings.ReplaceAll(e.Message, tool, "no_such") != o.Message || e.Details["nearest"] == tool {
				t.Errorf("%s by %s: %v, and of one that never was: %v", tool, outer, e, o)
			}
		}
		if names := found(t, a, map[string]any{"query": strings.ReplaceAll(tool, "_", " "), "limit": 50}); slices.Contains(names, tool) {
			t.Errorf("%s is found", tool)
		}
		_, err := do(t.Context(), a, "describe_capability", fmt.Sprintf(`{"name":%q}`, tool))
		if e := fault.Of(err); e == nil || e.Code != fault.NotFound || e.Details["nearest"] == tool {
			t.Errorf("%s is described: %v", tool, err)
		}
	}
	if _, err := do(t.Context(), a, "git", `{"action":"git_log"}`); fault.Of(err) == nil || fault.Of(err).Code != fault.NotFound {
		t.Errorf("the domain git is there: %v", err)
	}
}

// A tool that is not listed to a caller without its scope is not found by it either,
// and one that changes notes is not where no vault can be changed.
func TestOnlyWhatACallerMayUseIsFound(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a.md": "a\n"})
	for _, tt := range []struct {
		name, settings string
		scopes         auth.Scope
		finds, not     string
	}{
		{"all", "", auth.All, "delete_note write_note read_note get_metrics", ""},
		{"a reader", "", auth.Read, "read_note", "delete_note write_note get_metrics"},
		{"a writer", "", auth.Read | auth.Write, "read_note write_note", "delete_note get_metrics"},
		{"a vault that is read-only", "read_only: true", auth.All, "read_note get_metrics reset_vault_cache", "delete_note write_note"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			more := ""
			if tt.settings != "" {
				more = ", " + tt.settings
			}
			a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q%s}]\n", dir, more))
			ask := func(tool, args string) (string, error) {
				res, err := a.Dispatcher.Do(t.Context(), dispatch.Request{Caller: auth.Caller{ID: "x", Scopes: tt.scopes}, Tool: tool, Args: json.RawMessage(args)})
				if err != nil {
					return "", err
				}
				return string(res.Structured), nil
			}
			for _, query := range []string{`{}`, `{"query":"delete write read note metrics reset cache","limit":50}`} {
				got, err := ask("find_capability", query)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range strings.Fields(tt.finds) {
					if !strings.Contains(got, `"`+name+`"`) {
						t.Errorf("%s: %s is not in %s", query, name, got)
					}
				}
				for _, name := range strings.Fields(tt.not) {
					if strings.Contains(got, `"`+name+`"`) {
						t.Errorf("%s: %s is in %s", query, name, got)
					}
					if _, err := ask("describe_capability", fmt.Sprintf(`{"name":%q}`, name)); fault.Of(err) == nil {
						t.Errorf("%s is described", name)
					}
				}
			}
		})
	}
}

// A read-only server changes nothing by any route, and says why.
func TestAReadOnlyServerChangesNothing(t *testing.T) {
	a := surfaced(t, "tools: {read_only: true}")
	for outer, args := range routesTo("append_note", "notes", `{"path":"a.md","content":"x"}`) {
		if _, err := do(t.Context(), a, outer, args); fault.Of(err) == nil || fault.Of(err).Code != fault.ReadOnly {
			t.Errorf("%s: %v", outer, err)
		}
	}
	if _, err := do(t.Context(), a, "reset_vault_cache", `{}`); fault.Of(err) == nil || fault.Of(err).Code != fault.ReadOnly {
		t.Errorf("reset_vault_cache: %v", err)
	}
	for _, tool := range a.Registry.All() {
		if tool.Mutates() {
			t.Errorf("%s is listed", tool.Name)
		}
	}
	if names := found(t, a, map[string]any{"query": "append to a note", "limit": 50}); slices.Contains(names, "append_note") {
		t.Error("append_note is found")
	}
}

// A list with a name that is none is a rule that does nothing: the server does not
// start, and says what was meant.
func TestAnUnknownNameInAListStopsTheStart(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{"a.md": "a\n"})
	env := config.Env(func(k string) string {
		if k == "HOME" {
			return home
		}
		return ""
	})
	file := filepath.Join(home, "c.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, "vaults: [{path: %q}]\ntools: {allow: ['domain:notes'], deny: [delete_notes, 'domain:got']}\n", dir), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := env.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = app.New(cfg, app.Options{Env: env, Version: "test"})
	for _, want := range []string{`tools.deny[0]: "delete_notes"`, `did you mean "delete_note"?`, `tools.deny[1]: "domain:got"`, `did you mean "domain:git"?`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	if checked := app.CheckTools(cfg.Tools); checked == nil || checked.Error() != err.Error() {
		t.Errorf("%v, and when it is only checked: %v", err, checked)
	}
}

// Without a query the domains are told, and with one the tools of it.
func TestTheDomainsAreTold(t *testing.T) {
	a := surfaced(t, "")
	res, err := do(t.Context(), a, "find_capability", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Domains []struct {
			Name  string
			Tools []string
		}
	}
	if err := json.Unmarshal(res.Structured, &out); err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, d := range out.Domains {
		all += len(d.Tools)
		names := found(t, a, map[string]any{"domain": d.Name, "limit": 50})
		if !slices.Equal(names, d.Tools) {
			t.Errorf("%s: %v and %v", d.Name, d.Tools, names)
		}
	}
	if own := 2; all != len(a.Registry.All())-own {
		t.Errorf("%d tools in the domains, %d in all", all, len(a.Registry.All()))
	}
	if _, err := do(t.Context(), a, "find_capability", `{"domain":"note"}`); fault.Of(err) == nil || fault.Of(err).Code != fault.ValidationError {
		t.Errorf("a domain that is none: %v", err)
	}
	if names := found(t, a, map[string]any{"query": "zyxwv"}); len(names) != 0 {
		t.Errorf("nonsense finds %v", names)
	}
}

// A tool is described with all that a call needs, and a name that is none with the
// nearest; of several names each is answered.
func TestAToolIsDescribedWhole(t *testing.T) {
	a := surfaced(t, "")
	res, err := do(t.Context(), a, "describe_capability", `{"names":["move_note","git_comit","git_commit","read_note"]}`)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Capabilities []struct {
			Name        string
			Input       map[string]any `json:"input_schema"`
			Output      map[string]any `json:"output_schema"`
			Annotations map[string]bool
			Gate        string
		}
		Unknown []struct{ Name, Nearest string }
	}
	if err := json.Unmarshal(res.Structured, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Capabilities) != 3 || len(out.Unknown) != 1 || out.Unknown[0].Nearest != "git_commit" {
		t.Fatalf("%s", res.Structured)
	}
	move := out.Capabilities[0]
	props, _ := move.Input["properties"].(map[string]any)
	for _, arg := range []string{"elicit_token", "idempotency_key", "prev_hash", "update_backlinks", "title", "vault"} {
		if props[arg] == nil {
			t.Errorf("move_note has no %s in %v", arg, props)
		}
	}
	if move.Output["properties"] == nil || !move.Annotations["destructive"] || !strings.Contains(move.Gate, "dry_run") {
		t.Errorf("%+v", move)
	}
	if gate := out.Capabilities[1].Gate; !strings.Contains(gate, "every call") {
		t.Errorf("git_commit: %s", gate)
	}
	for args, want := range map[string]fault.Code{`{}`: fault.ValidationError, `{"name":"read_nots"}`: fault.NotFound} {
		if _, err := do(t.Context(), a, "describe_capability", args); fault.Of(err) == nil || fault.Of(err).Code != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}
