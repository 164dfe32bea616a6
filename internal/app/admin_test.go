package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
)

// as is a call of a caller that holds some scopes, for some vaults.
func as(t *testing.T, a *app.App, scopes auth.Scope, vaults []string, tool, args string, out any) error {
	t.Helper()
	res, err := a.Dispatcher.Do(t.Context(), dispatch.Request{
		Caller: auth.Caller{ID: "other", Scopes: scopes, Vaults: vaults}, Tool: tool, Args: json.RawMessage(args),
	})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(res.Structured, out); err != nil {
		t.Fatal(err)
	}
	return nil
}

// measured are the gauges and counters, by name and vault.
func measured(t *testing.T, a *app.App, vaults []string, args string) (map[string]int64, error) {
	t.Helper()
	var out struct {
		Metrics []struct {
			Name, Type string
			Value      int64
			Labels     map[string]string
		}
	}
	err := as(t, a, auth.All, vaults, "get_metrics", args, &out)
	all := map[string]int64{}
	for _, m := range out.Metrics {
		all[strings.TrimSpace(m.Name+" "+m.Labels["vault"])] = m.Value
	}
	return all, err
}

// An index is measured as far as its caller may see it: the numbers are those of
// the vault without what is hidden, and so is whether there are any.
func TestMetricsCountNothingHidden(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{
		"a.md": "[[b]] [[Private/x]]\n", "b.md": "b\n", "pic.png": "p", "Private/x.md": "[[a]]\n", "Private/p.png": "p", "Asked/y.md": "[[a]]\n", "Locked/z.md": "[[a]]\n",
	})
	rules := `rules: [{glob: "Private/**", verbs: {read: hide}}, {glob: "Asked/**", verbs: {read: ask}}, {glob: "Locked/**", verbs: {read: deny}}]`
	yaml := fmt.Sprintf("vaults: [{path: %q, %s}]\n", dir, rules)
	a := begun(t, start(t, home, yaml))
	hidden, err := measured(t, a, nil, `{"vault":"main"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{
		"index_ready main": 1, "index_notes main": 2, "index_texts main": 2, "index_links main": 2, "index_files main": 1, "index_removed_paths main": 0,
	}
	if d := cmp.Diff(want, hidden); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// Memory grows with what is hidden.
	all, err := measured(t, a, nil, `{}`)
	if _, ok := all["heap_bytes"]; ok || err != nil || all["calls_total"] == 0 {
		t.Errorf("%v, %v", all, err)
	}
	a.Close()
	a = begun(t, start(t, home, fmt.Sprintf("vaults: [{path: %q}]\n", dir)))
	all, err = measured(t, a, nil, `{}`)
	if err != nil || all["index_notes main"] != 5 || all["index_links main"] != 5 || all["heap_bytes"] <= 0 || all["memory_bytes"] < all["heap_bytes"] {
		t.Errorf("without rules: %v, %v", all, err)
	}
}

// A caller is told of its own vaults, and one that does not exist costs the budget
// of all others.
func TestMetricsOfSeveralVaults(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"one/a.md": "a\n", "two/b.md": "b\n"})
	a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{id: one, path: %q}, {id: two, path: %q}]\nthrottle: {admin: {per_minute: 1, burst: 4}}\n", filepath.Join(dir, "one"), filepath.Join(dir, "two")))
	all, err := measured(t, a, nil, `{}`)
	if _, ok := all["index_ready two"]; !ok || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	all, err = measured(t, a, []string{"one"}, `{}`)
	if _, ok := all["index_ready two"]; ok || err != nil {
		t.Errorf("another's vault: %v, %v", all, err)
	}
	for i, want := range []fault.Code{fault.VaultNotFound, fault.VaultNotFound, fault.Throttled} {
		id := []string{"two", "nowhere", "elsewhere"}[i]
		if _, err := measured(t, a, []string{"one"}, fmt.Sprintf(`{"vault":%q}`, id)); fault.Of(err) == nil || fault.Of(err).Code != want {
			t.Errorf("%s: %v, not %s", id, err, want)
		}
	}
	for tool, args := range map[string]string{"get_metrics": `{}`, "get_server_config": `{}`, "inspect_acl": `{"vault":"one","path":"a.md"}`, "reset_vault_cache": `{"vault":"one"}`} {
		if err := as(t, a, auth.All&^auth.Admin, nil, tool, args, nil); fault.Of(err) == nil || fault.Of(err).Code != fault.Forbidden {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

// The config is told without a path of this machine, a rule, or what would help an
// agent to approve its own calls.
func TestTheConfigIsToldWithoutWhatIsNotForClients(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{"vault/a.md": "a\n", "vault/Diary/d.md": "d\n", "bin/pdftotext": ""})
	vault := filepath.Join(dir, "vault")
	yaml := fmt.Sprintf("vaults: [{path: %q, rules: [{glob: 'Diary/**', verbs: {read: hide}}]}]\nstate_dir: %q\nprograms: {pdftotext: %q}\n"+
		"governor: {max_response_bytes: 23456}\nelicit: {unattended: true, ttl: 77s}\n", vault, filepath.Join(home, "state"), filepath.Join(dir, "bin/pdftotext"))
	a := start(t, home, yaml)
	res, err := do(t.Context(), a, "get_server_config", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{dir, home, "Diary", "rules", "state_dir", "programs", "pdftotext", "unattended", "allow_client_shell"} {
		if strings.Contains(res.Text+string(res.Structured), secret) {
			t.Errorf("it tells %s", secret)
		}
	}
	var out struct {
		Version string
		Vaults  []struct {
			ID       string
			ReadOnly bool `json:"read_only"`
		} `json:"vaults_summary"`
		Config struct {
			Governor struct {
				Max int `json:"max_response_bytes"`
			}
			Elicit   struct{ TTL string }
			Throttle struct{ Admin struct{ Burst int } }
		}
	}
	told := func() {
		t.Helper()
		if err := call(t, a, "get_server_config", args{}, &out); err != nil {
			t.Fatal(err)
		}
	}
	if told(); out.Version != "test" || len(out.Vaults) != 1 || out.Vaults[0].ReadOnly || out.Config.Governor.Max != 23456 || out.Config.Elicit.TTL != "77s" || out.Config.Throttle.Admin.Burst != 10 {
		t.Errorf("%+v", out)
	}
	a.Close()
	a = start(t, home, strings.Replace(yaml, "rules:", "read_only: true, rules:", 1))
	if told(); !out.Vaults[0].ReadOnly {
		t.Errorf("%+v", out)
	}
}

// inspected is what inspect_acl says, in short.
func inspected(t *testing.T, a *app.App, scopes auth.Scope, path string) string {
	t.Helper()
	var out struct {
		Path       string
		KillSwitch bool `json:"kill_switch"`
		Operations []struct {
			Op, Verb string
			By       string `json:"decided_by"`
			Rule     int
			Glob     string `json:"matched_rule"`
		}
	}
	raw, _ := json.Marshal(args{"path": path})
	if err := as(t, a, scopes, nil, "inspect_acl", string(raw), &out); err != nil {
		return string(fault.Of(err).Code)
	}
	s := out.Path
	for _, o := range out.Operations {
		s += fmt.Sprintf("; %s %s %s", o.Op, o.Verb, o.By)
		if o.Rule > 0 {
			s += fmt.Sprintf(" %d %s", o.Rule, o.Glob)
		}
	}
	return s
}

func TestInspectACL(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"a.md": "a\n", "Work/w.md": "w\n", "Locked/l.md": "l\n", "Asked/q.md": "q\n", "Private/p.md": "p\n", "Private/Shared/s.md": "s\n",
	})
	for name, target := range map[string]string{"to work.md": "Work/w.md", "to private.md": "Private/p.md", "to locked.md": "Locked/l.md", "to nothing.md": "Private/none.md", "to asked.md": "Asked/q.md"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	yaml := fmt.Sprintf(`vaults: [{path: %q, rules: [
		{glob: "{Work,Private}/**", verbs: {write: deny}},
		{glob: "Private/**", verbs: {read: hide}},
		{glob: "Private/Shared/**", verbs: {read: allow}},
		{glob: "Work/*.md", verbs: {delete: ask}},
		{glob: "Locked/**", verbs: {read: deny}},
		{glob: "Asked/**", verbs: {read: ask}},
		{glob: "Asked/Q.md", verbs: {delete: allow}},
	]}]
throttle: {admin: {per_minute: 1000, burst: 1000}}`, dir)
	a := start(t, t.TempDir(), yaml)
	for path, want := range map[string]string{
		"a.md": "a.md; read allow default; write allow default; delete allow default",
		"a":    "a.md; read allow default; write allow default; delete allow default",
		// A pattern with alternatives may name what is hidden.
		"Work/w.md":           "Work/w.md; read allow default; write deny rule 1 ; delete ask rule 4 Work/*.md",
		"to work.md":          "Work/w.md; read allow default; write deny rule 1 ; delete ask rule 4 Work/*.md",
		"Locked/l.md":         "Locked/l.md; read deny rule 5 Locked/**; write allow default; delete allow default",
		"to locked.md":        "Locked/l.md; read deny rule 5 Locked/**; write allow default; delete allow default",
		"Locked/none.md":      "Locked/none.md; read deny rule 5 Locked/**; write allow default; delete allow default",
		"Asked/q.md":          "Asked/q.md; read ask rule 6 Asked/**; write ask rule 6 Asked/**; delete ask rule 6 Asked/**",
		"asked/Q.md":          "asked/Q.md; read ask rule 6 Asked/**; write ask rule 6 Asked/**; delete ask rule 6 Asked/**",
		"Asked/none.md":       "Asked/none.md; read ask rule 6 Asked/**; write ask rule 6 Asked/**; delete ask rule 6 Asked/**",
		"to asked.md":         "Asked/q.md; read ask rule 6 Asked/**; write ask rule 6 Asked/**; delete ask rule 6 Asked/**",
		"Private/Shared/s.md": "Private/Shared/s.md; read allow rule 3 Private/Shared/**; write deny rule 1 ; delete allow default",
		"Private/p.md":        "note_not_found", "Private/none.md": "note_not_found", "Private": "note_not_found", "to private.md": "note_not_found",
		"to nothing.md": "note_not_found", "none.md": "note_not_found", ".": "path_invalid", "../x": "path_invalid", ".obsidian": "path_invalid",
	} {
		if got := inspected(t, a, auth.All, path); got != want {
			t.Errorf("%s:\n got %s\nwant %s", path, got, want)
		}
	}
	if got, want := inspected(t, a, auth.Read|auth.Admin, "a.md"), "a.md; read allow default; write deny scope; delete deny scope"; got != want {
		t.Errorf("who may only read: %s", got)
	}
	a.Close()
	a = start(t, t.TempDir(), strings.Replace(yaml, "rules:", "read_only: true, rules:", 1))
	if got, want := inspected(t, a, auth.All, "a.md"), "a.md; read allow default; write deny read_only; delete deny read_only"; got != want {
		t.Errorf("in a read-only vault: %s", got)
	}
	var out struct{ Operations []struct{ Op string } }
	if err := call(t, a, "inspect_acl", args{"path": "a.md", "op": "write"}, &out); err != nil || len(out.Operations) != 1 || out.Operations[0].Op != "write" {
		t.Errorf("%+v, %v", out, err)
	}
}
