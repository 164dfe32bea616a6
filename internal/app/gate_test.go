package app_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/racing"
	"vault-mcp/internal/secrets"
	"vault-mcp/tools"
)

// clock is a wall clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// gated is a vault behind a gate, with a client of the era since 2026-07-28.
type gated struct {
	t     *testing.T
	app   *app.App
	dir   string
	home  string
	clock *clock
}

// original is the note that the calls of a gated vault replace.
const original = "one\ntwo\nthree\n"

func newGated(t *testing.T, more ...string) *gated {
	t.Helper()
	g := &gated{t: t, dir: filepath.Join(t.TempDir(), "vault"), home: t.TempDir(), clock: &clock{now: time.Now()}}
	plant(t, g.dir, map[string]string{"a.md": original, "b.md": "other\n"})
	g.app = g.server(more...)
	return g
}

// server is one more server on the same vault and state.
func (g *gated) server(more ...string) *app.App {
	g.t.Helper()
	return start(g.t, g.home, fmt.Sprintf("vaults: [{path: %q}]\n%s", g.dir, strings.Join(more, "")), func(o *app.Options) {
		o.Clock, o.Patience = g.clock.Now, 2*time.Second
	})
}

// request is a call with what a client can do and sends back.
type request struct {
	tool, args, caller string
	reach              hitl.Reach
}

// replace is a call that a person has to approve.
func replace() request {
	return request{tool: "write_note", args: `{"path":"a.md","mode":"overwrite","content":"new\n"}`, reach: hitl.Reach{Modern: true, Forms: true}}
}

// with is the call once more, with a state and what a person answered; "" is
// nothing.
func (r request) with(state, answer string) request {
	r.reach.State, r.reach.Answers = state, nil
	if answer != "" {
		r.reach.Answers = map[string]json.RawMessage{"confirm": json.RawMessage(answer)}
	}
	return r
}

const (
	yes    = `{"action":"accept","content":{"approve":true}}`
	no     = `{"action":"decline"}`
	cancel = `{"action":"cancel"}`
)

func do1(ctx context.Context, a *app.App, r request) (*tools.Result, error) {
	caller := r.caller
	if caller == "" {
		caller = "stdio"
	}
	return a.Dispatcher.Do(ctx, dispatch.Request{
		Caller: auth.Caller{ID: caller, Scopes: auth.All}, Tool: r.tool, Args: json.RawMessage(r.args), Reach: r.reach,
	})
}

// do makes a call and says what came of it: "ran", "asked", or a code with its
// reason.
func (g *gated) do(r request) string {
	g.t.Helper()
	_, err := do1(g.t.Context(), g.app, r)
	return g.what(err)
}

func (g *gated) what(err error) string {
	if err == nil {
		return "ran"
	}
	if _, ok := errors.AsType[*hitl.NeedsInput](err); ok {
		return "asked"
	}
	if p, ok := errors.AsType[*hitl.ProtocolError](err); ok {
		return fmt.Sprintf("%d %v", p.Code, p.Data["reason"])
	}
	e := fault.Of(err)
	if e.Code == fault.Internal {
		g.t.Errorf("%v: %v", e, errors.Unwrap(e))
	}
	return fmt.Sprintf("%s %v", e.Code, e.Details["reason"])
}

// ask makes a call that a person has to approve, and is the state that comes with
// the form.
func (g *gated) ask(r request) string {
	g.t.Helper()
	_, err := do1(g.t.Context(), g.app, r)
	n, ok := errors.AsType[*hitl.NeedsInput](err)
	if !ok {
		g.t.Fatalf("no form, but %v", err)
	}
	g.clock.pass(time.Second) // a person needs that
	return n.State
}

// store is the state as another process sees it.
func (g *gated) store() *state.Store {
	g.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(g.home, ".local/state/vault-mcp/*/state.db"))
	if err != nil || len(dirs) != 1 {
		g.t.Fatalf("%q, %v", dirs, err)
	}
	ring, err := secrets.Open(filepath.Dir(dirs[0]))
	if err != nil {
		g.t.Fatal(err)
	}
	s, err := state.Open(g.t.Context(), filepath.Dir(dirs[0]), ring)
	if err != nil {
		g.t.Fatal(err)
	}
	s.At(g.clock.Now)
	g.t.Cleanup(func() { s.Close() })
	return s
}

// query is what a statement finds in the state, one row a line.
func (g *gated) query(q string, args ...any) string {
	g.t.Helper()
	files, _ := filepath.Glob(filepath.Join(g.home, ".local/state/vault-mcp/*/state.db"))
	if len(files) == 0 {
		return ""
	}
	db, err := sql.Open("sqlite", "file:"+files[0]+"?_pragma=busy_timeout(10000)")
	if err != nil {
		g.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(q, args...)
	if err != nil {
		g.t.Fatal(err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var lines []string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			g.t.Fatal(err)
		}
		line := make([]string, len(columns))
		for i, v := range values {
			line[i] = v.String
		}
		lines = append(lines, strings.Join(line, " "))
	}
	return strings.Join(lines, "\n")
}

// latest is the id of the newest request.
func (g *gated) latest() string {
	g.t.Helper()
	return g.query("SELECT request_id FROM requests ORDER BY seq DESC LIMIT 1")
}

// statuses are those of all requests, oldest first.
func (g *gated) statuses() string {
	g.t.Helper()
	return strings.ReplaceAll(g.query("SELECT status FROM requests ORDER BY seq"), "\n", " ")
}

func (g *gated) write(path, text string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, path), []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// approve is what the command does.
func (g *gated) approve(token string) error {
	g.t.Helper()
	a := hitl.Approval{Route: hitl.RouteCommand, By: "ana", Life: 300 * time.Second}
	if token != "" {
		a.TokenHash = hitl.TokenHash(token)
	}
	_, err := g.store().Requests().Approve(g.t.Context(), g.latest(), a)
	return err
}

const token = "00112233445566778899aabbccddeeff"

// The table of statuses, cell by cell: what each answer does to a request in each
// status.
func TestWhatAnAnswerDoesInEachStatus(t *testing.T) {
	// Each brings a fresh request into a status, and keeps the note as it was.
	reach := map[string]func(*gated, string){
		"open": func(*gated, string) {},
		"approved": func(g *gated, _ string) {
			if err := g.approve(""); err != nil {
				g.t.Fatal(err)
			}
		},
		"declined": func(g *gated, s string) { g.do(replace().with(s, no)) },
		"used": func(g *gated, s string) {
			if got := g.do(replace().with(s, yes)); got != "ran" {
				g.t.Fatal(got)
			}
			g.write("a.md", original)
		},
		"superseded": func(g *gated, _ string) {
			g.write("a.md", "changed\n")
			g.ask(replace())
			g.write("a.md", original)
		},
		"abandoned": func(g *gated, _ string) {
			if err := g.store().Requests().End(g.t.Context(), g.latest(), hitl.Abandoned, hitl.RouteConsole, "ana", hitl.Open); err != nil {
				g.t.Fatal(err)
			}
		},
		"expired": func(g *gated, _ string) { g.clock.pass(hitl.RequestLife) },
	}
	command := func(g *gated, _ string) string {
		// The request itself, not what came after it.
		id := g.query("SELECT request_id FROM requests ORDER BY seq LIMIT 1")
		_, err := g.store().Requests().Approve(g.t.Context(), id, hitl.Approval{Route: hitl.RouteCommand, By: "ana", Life: time.Minute})
		if errors.Is(err, hitl.ErrStatus) {
			return "refused"
		}
		if err != nil {
			g.t.Fatal(err)
		}
		return "approved"
	}
	columns := map[string]func(*gated, string) string{
		"accept":  func(g *gated, s string) string { return g.do(replace().with(s, yes)) },
		"decline": func(g *gated, s string) string { return g.do(replace().with(s, no)) },
		"cancel":  func(g *gated, s string) string { return g.do(replace().with(s, cancel)) },
		"command": command,
		"drift": func(g *gated, s string) string {
			g.write("a.md", "one\ntwo\nthree\nfour\n")
			return g.do(replace().with(s, yes))
		},
		"repeat": func(g *gated, _ string) string { return g.do(replace()) },
	}
	for i, tt := range []struct{ status, column, want, after, note string }{
		{"open", "accept", "ran", "used", "new\n"},
		{"open", "decline", "elicit_required approval_declined", "declined", original},
		{"open", "cancel", "elicit_required approval_not_obtained", "open", original},
		{"open", "command", "approved", "approved", original},
		{"open", "drift", "replay_drift drift", "superseded open", "one\ntwo\nthree\nfour\n"},
		{"open", "repeat", "asked", "open", original},
		{"approved", "accept", "ran", "used", "new\n"},
		{"approved", "decline", "elicit_required approval_declined", "declined", original},
		{"approved", "cancel", "ran", "used", "new\n"},
		{"approved", "command", "approved", "approved", original},
		{"approved", "drift", "replay_drift drift", "superseded open", "one\ntwo\nthree\nfour\n"},
		{"approved", "repeat", "ran", "used", "new\n"},
		{"declined", "accept", "elicit_required approval_declined", "declined", original},
		{"declined", "decline", "elicit_required approval_declined", "declined", original},
		{"declined", "cancel", "elicit_required approval_declined", "declined", original},
		{"declined", "command", "approved", "approved", original},
		{"declined", "repeat", "elicit_required approval_declined", "declined", original},
		{"used", "accept", "elicit_invalid used", "used", original},
		{"used", "decline", "elicit_invalid used", "used", original},
		{"used", "cancel", "elicit_invalid used", "used", original},
		{"used", "command", "refused", "used", original},
		{"used", "repeat", "asked", "used open", original},
		{"superseded", "accept", "elicit_invalid superseded", "superseded open", original},
		{"superseded", "decline", "elicit_invalid superseded", "superseded open", original},
		{"superseded", "cancel", "elicit_invalid superseded", "superseded open", original},
		{"superseded", "command", "refused", "superseded open", original},
		{"superseded", "repeat", "asked", "superseded superseded open", original},
		{"abandoned", "accept", "elicit_invalid abandoned", "abandoned", original},
		{"abandoned", "decline", "elicit_invalid abandoned", "abandoned", original},
		{"abandoned", "cancel", "elicit_invalid abandoned", "abandoned", original},
		{"abandoned", "command", "refused", "abandoned", original},
		{"abandoned", "repeat", "asked", "abandoned open", original},
		{"expired", "accept", "elicit_required expired", "open", original},
		{"expired", "decline", "elicit_required expired", "open", original},
		{"expired", "cancel", "elicit_required expired", "open", original},
		{"expired", "command", "refused", "open", original},
		{"expired", "repeat", "asked", "expired open", original},
	} {
		if racing.Thins(i) {
			continue
		}
		t.Run(tt.status+" "+tt.column, func(t *testing.T) {
			g := newGated(t)
			s := g.ask(replace())
			reach[tt.status](g, s)
			got := columns[tt.column](g, s)
			if got != tt.want {
				t.Errorf("%q, not %q", got, tt.want)
			}
			if after := g.statuses(); after != tt.after {
				t.Errorf("the requests are %q, not %q", after, tt.after)
			}
			if text := content(t, g.dir, "a.md"); text != tt.note {
				t.Errorf("the note is %q, not %q", text, tt.note)
			}
			// Nothing was done that no grant was spent for, and no grant was spent in vain.
			ran := g.query("SELECT count(*) FROM executions WHERE outcome = 'applied'")
			if spent := g.query("SELECT count(*) FROM grants g JOIN requests r ON r.request_id = g.request_id JOIN executions e ON e.grant_id = g.grant_id WHERE g.uses = 1 AND r.status = 'used'"); spent != ran {
				t.Errorf("%s changes, %s grants", ran, spent)
			}
		})
	}
}

// A used approval names the change that it was used for.
func TestWhatWasDoneIsFoundAgain(t *testing.T) {
	g := newGated(t)
	r := request{tool: "delete_note", args: `{"path":"a.md"}`, reach: hitl.Reach{Modern: true, Forms: true}}
	s := g.ask(r)
	if got := g.do(r.with(s, yes)); got != "ran" {
		t.Fatal(got)
	}
	_, err := do1(t.Context(), g.app, r.with(s, yes)) // the note is gone, so it could not even be planned
	e := fault.Of(err)
	if e.Code != fault.ElicitInvalid || e.Details["reason"] != "used" || e.Details["change_id"] != g.query("SELECT execution_id FROM executions") {
		t.Errorf("%v %v", e, e.Details)
	}
}
