package app_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
	"vault-mcp/vault/change"
)

func resets() request {
	return request{tool: "reset_vault_cache", args: `{"vault":"main"}`, reach: hitl.Reach{Modern: true, Forms: true}}
}

// indexed is a gated vault whose index is ready.
func indexed(t *testing.T, more ...string) *gated {
	t.Helper()
	g := newGated(t, more...)
	begun(t, g.app)
	return g
}

// point is a point of the index's life, and lives tells whether it still lives it.
func (g *gated) point() string {
	g.t.Helper()
	var out struct {
		Next string `json:"next_cursor"`
	}
	if err := call(g.t, g.app, "changes_since", args{}, &out); err != nil {
		g.t.Fatal(err)
	}
	return out.Next
}

func (g *gated) lives(point string) bool {
	g.t.Helper()
	var out struct{}
	err := call(g.t, g.app, "changes_since", args{"cursor": point}, &out)
	if e := fault.Of(err); e != nil && e.Details["reason"] != "expired" {
		g.t.Fatal(err)
	}
	return err == nil
}

// add writes a note, and has a server index it.
func (g *gated) add(a *app.App, path string) {
	g.t.Helper()
	g.write(path, "see [[a]]\n")
	if err := call(g.t, a, "index_vault", args{}, &struct{}{}); err != nil {
		g.t.Fatal(err)
	}
}

// An approval of the counts that the index had is not used on others, by whatever
// route it came.
func TestAResetOfOneIndexIsNotDoneToAnother(t *testing.T) {
	for way, approve := range ways {
		t.Run(way, func(t *testing.T) {
			g := indexed(t)
			before := g.point()
			err := approve(g, resets(), func() { g.add(g.app, "late.md") })
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Code != fault.ReplayDrift {
				t.Fatalf("%v (%v)", err, errors.Unwrap(err))
			}
			if named := fmt.Sprint(e.Details["changed"]); named != "[index]" {
				t.Errorf("named are %s", named)
			}
			if !g.lives(before) {
				t.Error("the index was thrown away")
			}
			if n := g.query("SELECT count(*) FROM grants WHERE uses > 0"); n != "0" {
				t.Errorf("%s grants are spent", n)
			}
		})
	}
}

// What the flow itself writes is no drift: events, keys, the audit, changes of this
// and other calls. Nothing of it is thrown away.
func TestAResetIsDoneOnceAndKeepsTheState(t *testing.T) {
	for way, approve := range ways {
		t.Run(way, func(t *testing.T) {
			g := indexed(t, "events: {spool: true}\n")
			if got := g.do(request{tool: "append_note", args: `{"path":"b.md","content":"x","idempotency_key":"k1"}`}); got != "ran" {
				t.Fatal(got)
			}
			before := g.point()
			r := resets()
			r.args = `{"vault":"main","idempotency_key":"k2"}`
			err := approve(g, r, func() {
				g.do(request{tool: "append_note", args: `{"path":"absent.md","content":"x","idempotency_key":"k3"}`})
				g.do(request{tool: "snapshot_note", args: `{"path":"a.md"}`})
			})
			if err != nil {
				t.Fatalf("%v (%v)", err, errors.Unwrap(err))
			}
			begun(t, g.app)
			if g.lives(before) {
				t.Error("the index is the same")
			}
			if n := g.query("SELECT count(*) FROM executions WHERE outcome = 'applied' AND grant_id IS NOT NULL"); n != "1" {
				t.Errorf("%s resets", n)
			}
			// By the same key it is answered again, and not made again.
			now := g.point()
			if got := g.do(r); got != "ran" || !g.lives(now) {
				t.Errorf("the same key: %s", got)
			}
			if got := g.do(request{tool: "append_note", args: `{"path":"b.md","content":"x","idempotency_key":"k1"}`}); got != "ran" || content(t, g.dir, "b.md") != "other\nx\n" {
				t.Errorf("a key of before: %s, %q", got, content(t, g.dir, "b.md"))
			}
			id := g.query("SELECT id FROM changes WHERE tool = 'append_note' LIMIT 1")
			if got := g.do(request{tool: "undo_change", args: fmt.Sprintf(`{"change_id":%q}`, id)}); got != "ran" || content(t, g.dir, "b.md") != "other\n" {
				t.Errorf("undone: %s, %q", got, content(t, g.dir, "b.md"))
			}
		})
	}
}

// While the index is being built its counts move: then nobody is asked about
// them, and an approval that was given stays good.
func TestAnIndexThatIsNotReadyIsNotReset(t *testing.T) {
	g := newGated(t)
	if got := g.do(resets()); got != "vault_busy index_not_ready" {
		t.Error(got)
	}
	begun(t, g.app)
	s := g.ask(resets())
	g.app.Close()
	g.app = g.server()
	if got := g.do(resets().with(s, yes)); got != "vault_busy index_not_ready" {
		t.Error(got)
	}
	begun(t, g.app)
	if got := g.do(resets().with(s, yes)); got != "ran" {
		t.Error(got)
	}
}

// A dry run asks nobody; without a person nothing is done; a read-only vault has
// an index like others.
func TestWhatAResetNeeds(t *testing.T) {
	g := indexed(t)
	g.app.Close()
	g.app = begun(t, start(t, g.home, fmt.Sprintf("vaults: [{path: %q, read_only: true}]\n", g.dir)))
	g.clock.now = time.Now()
	before := g.point()
	var out struct {
		Dropped    map[string]int `json:"rows_dropped"`
		DryRun     bool           `json:"dry_run"`
		Rebuilding bool
	}
	if err := call(t, g.app, "reset_vault_cache", args{"dry_run": true}, &out); err != nil || !out.DryRun || out.Rebuilding || out.Dropped["notes"] != 2 {
		t.Errorf("%+v, %v", out, err)
	}
	if got := g.do(request{tool: "reset_vault_cache", args: `{}`}); got != "elicit_required approval_required" {
		t.Error(got)
	}
	if !g.lives(before) {
		t.Fatal("the index was thrown away")
	}
	person(g.app, agrees)
	if err := call(t, g.app, "reset_vault_cache", args{}, &out); err != nil || !out.Rebuilding || out.Dropped["notes"] != 2 {
		t.Errorf("%+v, %v", out, err)
	}
	begun(t, g.app)
	if g.lives(before) {
		t.Error("the index is the same")
	}
}

// The client is told the counts of what its caller may see, the person all of
// them; and a note that the caller may not see is drift all the same.
func TestAResetCountsNothingHiddenForItsCaller(t *testing.T) {
	g := asking(t, `[{glob: "Private/**", verbs: {read: hide}}]`, private)
	begun(t, g.app)
	_, err := do1(t.Context(), g.app, resets())
	n, ok := errors.AsType[*hitl.NeedsInput](err)
	if !ok {
		t.Fatal(err)
	}
	if m := n.Form.Message; !strings.Contains(m, "2 notes") || strings.Contains(m, "4 notes") {
		t.Error(m)
	}
	if p := g.query("SELECT preview FROM requests"); !strings.Contains(p, "4 notes") {
		t.Errorf("the person sees %q", p)
	}
	g.clock.pass(time.Second)
	g.add(g.app, "Private/late.md")
	_, err = do1(t.Context(), g.app, resets().with(n.State, yes))
	e := fault.Of(err)
	if text, _ := json.Marshal(e); e.Code != fault.ReplayDrift || strings.Contains(string(text), "Private") || strings.Contains(string(text), "5 notes") {
		t.Errorf("%v %v", e, e.Details)
	}
	person(g.app, agrees)
	var out struct {
		Dropped map[string]int `json:"rows_dropped"`
	}
	if err := call(t, g.app, "reset_vault_cache", args{"vault": "main"}, &out); err != nil || out.Dropped["notes"] != 2 {
		t.Errorf("%+v, %v", out, err)
	}
}

// resetVault and resetHome are the folders of the other process on the vault.
const resetVault, resetHome = "APP_TEST_RESET_VAULT", "APP_TEST_RESET_HOME"

// Two processes on one vault: what the other one indexes is drift, and what one
// throws away both have anew, whichever of them is the indexer.
func TestAResetWithAnotherProcess(t *testing.T) {
	if dir := os.Getenv(resetVault); dir != "" {
		other(t, dir, os.Getenv(resetHome))
		return
	}
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprintf("the other indexes: %t", first), func(t *testing.T) {
			g := newGated(t)
			if !first {
				begun(t, g.app)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAResetWithAnotherProcess$")
			cmd.Env = append(os.Environ(), resetVault+"="+g.dir, resetHome+"="+g.home)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			answer := func(what string) string {
				fmt.Fprintln(in, what)
				if !lines.Scan() {
					t.Fatalf("no answer to %q", what)
				}
				return lines.Text()
			}
			t.Cleanup(func() {
				in.Close()
				_ = cmd.Wait()
			})
			if got := answer("ready"); got != fmt.Sprint(first) {
				t.Fatalf("the other indexes: %s", got)
			}
			begun(t, g.app)
			before := g.point()
			s := g.ask(resets())
			g.write("late.md", "see [[a]]\n")
			if got := answer("index"); got != "done" {
				t.Fatal(got)
			}
			if got := g.do(resets().with(s, yes)); got != "replay_drift drift" || !g.lives(before) {
				t.Fatalf("after the other one indexed a note: %s", got)
			}
			s = g.ask(resets())
			if got := g.do(resets().with(s, yes)); got != "ran" {
				t.Fatal(got)
			}
			begun(t, g.app)
			if g.lives(before) {
				t.Error("the index is the same")
			}
			if got := answer("find"); got != "late.md" {
				t.Errorf("the other finds %q", got)
			}
			if got := g.do(resets().with(s, yes)); got != "elicit_invalid used" {
				t.Errorf("once more: %s", got)
			}
		})
	}
}

// other is the other process. It answers lines.
func other(t *testing.T, dir, home string) {
	a := start(t, home, fmt.Sprintf("vaults: [{path: %q}]\n", dir))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch lines.Text() {
		case "ready":
			var s struct{ Indexer bool }
			if err := call(t, begun(t, a), "get_index_status", args{}, &s); err != nil {
				t.Fatal(err)
			}
			fmt.Println(s.Indexer)
		case "index":
			if err := call(t, a, "index_vault", args{}, &struct{}{}); err != nil {
				t.Fatal(err)
			}
			fmt.Println("done")
		case "find":
			var s struct {
				Backlinks []struct {
					Source string `json:"source_path"`
				}
			}
			if err := call(t, begun(t, a), "get_backlinks", args{"path": "a.md"}, &s); err != nil || len(s.Backlinks) != 1 {
				t.Fatal(s, err)
			}
			fmt.Println(s.Backlinks[0].Source)
		}
	}
	os.Exit(0) // without the words of a test
}

// Of a reset whose process has died it is found out by looking whether it was
// done, and it is not done again.
func TestAResetOfADeadProcessIsSettled(t *testing.T) {
	g := indexed(t)
	g.app.Close()
	files := filepath.Join(g.home, ".local/state/vault-mcp/*/index-*.db*")
	old := map[string]string{}
	for _, p := range globbed(t, files) {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		old[p] = string(b)
	}
	g.app = begun(t, g.server())
	person(g.app, agrees)
	if _, err := do(t.Context(), g.app, "reset_vault_cache", `{}`); err != nil {
		t.Fatal(err)
	}
	done := g.query("SELECT intent FROM changes")
	g.app.Close()
	for _, settled := range []change.Outcome{change.Applied, change.Failed, change.NotApplied} {
		if settled == change.Failed { // the index is the one of before the reset
			for _, p := range globbed(t, files) {
				if err := os.Remove(p); err != nil {
					t.Fatal(err)
				}
			}
			for p, text := range old {
				if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		r := &change.Record{ID: change.NewID(), Tool: "reset_vault_cache", Caller: "stdio", Vault: "main", Call: "0", Began: time.Now(), Intent: []byte(done)}
		if settled == change.NotApplied {
			r.Intent = []byte("{}")
		}
		if err := g.store().Spend(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		g.app = begun(t, g.server())
		before := g.point()
		// The next effect settles it; this one itself comes to nothing.
		person(g.app, func() bool { g.add(g.app, string(settled)+".md"); return true })
		if _, err := do(t.Context(), g.app, "reset_vault_cache", `{"vault":"main"}`); fault.Of(err).Code != fault.ReplayDrift {
			t.Fatal(err)
		}
		if got := g.query("SELECT outcome FROM changes WHERE id = ?", r.ID); got != string(settled) {
			t.Errorf("%q, not %q: %s", got, settled, r.Intent)
		}
		if !g.lives(before) {
			t.Error("it was done again")
		}
		g.app.Close()
	}
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) == 0 {
		t.Fatalf("%q, %v", all, err)
	}
	return all
}
