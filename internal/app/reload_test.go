package app_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vault-mcp/internal/app"
)

// ruled is a server on the vault of g under folder rules.
func (g *gated) ruled(rules string, set ...func(*app.Options)) *app.App {
	g.t.Helper()
	return start(g.t, g.home, g.config(rules), append(set, func(o *app.Options) { o.Clock, o.Patience = g.clock.Now, 2*time.Second })...)
}

func (g *gated) config(rules string) string {
	return fmt.Sprintf("vaults: [{path: %q, rules: %s}]\n", g.dir, rules)
}

// configure writes another config, and lets the time pass until it is looked at.
func (g *gated) configure(text string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.home, "vault.yaml"), []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	g.clock.pass(time.Second)
}

// log is what a server says.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) count(s string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), s)
}

func reloading(t *testing.T, rules string) (*gated, *log) {
	t.Helper()
	g, l := asking(t, "[]", private), &log{}
	g.app = g.ruled(rules, func(o *app.Options) { o.Log = slog.New(slog.NewTextHandler(l, nil)) })
	return g, l
}

// A folder that its owner hides is hidden from the next call on, also from what
// the index remembers; and open again when they open it.
func TestRulesOfARunningServerFollowTheConfigFile(t *testing.T) {
	g, _ := reloading(t, "[]")
	g.app.Begin(t.Context())
	found := func() bool {
		g.t.Helper()
		seen := map[bool]bool{}
		for _, c := range [][2]string{{"search_text", `{"query":"needle"}`}, {"list_notes", `{}`}, {"read_notes", `{"paths":["Private/secret.md"]}`}} {
			res, err := do(t.Context(), g.app, c[0], c[1])
			if err != nil {
				t.Fatal(err)
			}
			seen[strings.Contains(string(res.Structured), "needle here") || c[0] == "list_notes" && strings.Contains(res.Text, "secret.md")] = true
		}
		if len(seen) != 1 {
			t.Errorf("the tools do not agree: %v", seen)
		}
		return seen[true]
	}
	if !found() {
		t.Fatal("not there from the beginning")
	}
	g.configure(g.config(`[{glob: "Private/**", verbs: {read: hide}}]`))
	if found() {
		t.Error("found after it was hidden")
	}
	g.configure(g.config(`[]`))
	if !found() {
		t.Error("not found after it was opened")
	}
	g.configure(strings.Replace(g.config(`[]`), "rules:", "read_only: true, rules:", 1))
	if got := g.do(request{tool: "append_note", args: `{"path":"a.md","content":"x"}`}); !strings.HasPrefix(got, "read_only") {
		t.Errorf("a change in a vault that became read-only: %s", got)
	}
	res, err := do(t.Context(), g.app, "list_vaults", `{}`)
	if err != nil || !strings.Contains(string(res.Structured), `"read_only":true`) {
		t.Errorf("%s, %v", res.Structured, err)
	}
}

// A config that is half written, broken or gone opens nothing, and is said once.
func TestABrokenConfigFileKeepsTheRules(t *testing.T) {
	g, l := reloading(t, `[{glob: "Private/**", verbs: {read: deny}}]`)
	denied := func(when string) {
		t.Helper()
		if got := g.do(reads(`{"path":"Private/secret.md"}`)); !strings.HasPrefix(got, "acl_denied") {
			t.Errorf("%s: %s", when, got)
		}
	}
	denied("at first")
	for name, text := range map[string]string{"empty": "", "with a mistake": "vaults: [{pth: x}]\n", "half": "vaults: [{path: "} {
		before := l.count("cannot be used any more")
		g.configure(text)
		for range 3 {
			g.clock.pass(2 * time.Second)
			denied(name)
		}
		if n := l.count("cannot be used any more") - before; n != 1 {
			t.Errorf("%s: said %d times", name, n)
		}
	}
	if err := os.Remove(filepath.Join(g.home, "vault.yaml")); err != nil {
		t.Fatal(err)
	}
	g.clock.pass(time.Second)
	denied("gone")
	g.configure(fmt.Sprintf("vaults: [{path: %q}]\n", t.TempDir()))
	denied("rules of another folder")
	g.configure(g.config(`[]`))
	if got := g.do(reads(`{"path":"Private/secret.md"}`)); got != "ran" {
		t.Errorf("corrected: %s", got)
	}
}

// A key that needs a restart is not taken up in silence.
func TestWhatNeedsARestartIsSaid(t *testing.T) {
	g, l := reloading(t, "[]")
	g.do(reads(`{"path":"a.md"}`))
	g.configure(g.config("[]") + "governor: {max_response_bytes: 20000}\n")
	g.do(reads(`{"path":"a.md"}`))
	g.clock.pass(time.Second)
	g.do(reads(`{"path":"a.md"}`))
	if n := l.count("counts after a restart"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// A call that waits for a person keeps the rules that it began with.
func TestACallKeepsTheRulesThatItBeganWith(t *testing.T) {
	g, _ := reloading(t, askToRead)
	person(g.app, func() bool {
		g.configure(g.config(`[{glob: "Private/**", verbs: {read: deny}}]`))
		if got := g.do(request{tool: "read_note", args: `{"path":"Private/secret.md"}`}); !strings.HasPrefix(got, "acl_denied") {
			t.Errorf("a call that begins now: %s", got)
		}
		return true
	})
	res, err := do(t.Context(), g.app, "read_note", `{"path":"Private/secret.md"}`)
	if err != nil || !strings.Contains(res.Text, "needle here") {
		t.Errorf("%v, %v", res, err)
	}
}

// Rules change while many calls run: each answers by the one or the other.
func TestRulesChangeWhileCallsRun(t *testing.T) {
	g, _ := reloading(t, "[]")
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				res, err := do(t.Context(), g.app, "search_text", `{"query":"needle"}`)
				if err != nil || strings.Contains(res.Text, "secret.md") != strings.Contains(res.Text, "other.md") {
					t.Errorf("%v, %v", res, err)
					return
				}
			}
		})
	}
	for i := range 20 {
		g.configure(g.config([]string{`[{glob: "Private/**", verbs: {read: hide}}]`, `[]`}[i%2]))
		if _, err := do(t.Context(), g.app, "list_vaults", `{}`); err != nil {
			t.Error(err)
		}
	}
	stop()
	wg.Wait()
}

// A file that is written twice within what its time can tell is read twice.
func TestARuleThatIsWrittenInTheSameInstantCounts(t *testing.T) {
	g, _ := reloading(t, "[]")
	file := filepath.Join(g.home, "vault.yaml")
	g.configure(g.config(`[{glob: "Private/**", verbs: {read: hide}}]`))
	if got := g.do(reads(`{"path":"Private/secret.md"}`)); !strings.HasPrefix(got, "note_not_found") {
		t.Fatal(got)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	g.configure(g.config(`[{glob: "Private/**", verbs: {read: deny}}]`))
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := g.do(reads(`{"path":"Private/secret.md"}`)); !strings.HasPrefix(got, "acl_denied") {
		t.Error(got)
	}
}
