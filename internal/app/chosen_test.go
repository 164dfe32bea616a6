package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/racing"
)

// pick is what a person does at a console, or with a token by the command.
func (g *gated) pick(path, token string) {
	g.t.Helper()
	a := hitl.Approval{Route: hitl.RouteConsole, By: "ana", Choice: path, Life: 300 * time.Second}
	if token != "" {
		a.Route, a.TokenHash = hitl.RouteCommand, hitl.TokenHash(token)
	}
	if _, err := g.store().Requests().Approve(g.t.Context(), g.latest(), a); err != nil {
		g.t.Fatal(err)
	}
}

// whileItWaits makes a call, and picks once it waits.
func (g *gated) whileItWaits(r request, meanwhile func()) error {
	g.t.Helper()
	waits, done := make(chan struct{}), make(chan error, 1)
	r.reach.Idle = func() func() { close(waits); return func() {} }
	go func() { _, err := do1(g.t.Context(), g.app, r); done <- err }()
	select {
	case <-waits:
		meanwhile()
		g.pick("Q/plan.md", "")
		return <-done
	case err := <-done:
		g.t.Errorf("it does not wait: %v", err)
		return err
	}
}

// watch makes the calls wait for a console.
func (g *gated) watch() {
	g.t.Helper()
	g.do(request{tool: "snapshot_note", args: `{"path":"b.md"}`}) // makes the state folder
	release, err := g.store().Watch()
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(release)
}

// picking are the ways by which a choice that is not the client's reaches a call.
// meanwhile is what happens before the call goes on; once more is the same again,
// where that is another call than the first.
var picking = map[string]func(g *gated, r request, meanwhile func()) (once func() string, err error){
	"the call is repeated": func(g *gated, r request, meanwhile func()) (func() string, error) {
		g.ask(r)
		g.pick("Q/plan.md", "")
		meanwhile()
		_, err := do1(g.t.Context(), g.app, r)
		return nil, err
	},
	"by a client that shows no forms now": func(g *gated, r request, meanwhile func()) (func() string, error) {
		g.ask(r)
		g.pick("Q/plan.md", "")
		meanwhile()
		r.reach = hitl.Reach{}
		_, err := do1(g.t.Context(), g.app, r)
		return nil, err
	},
	"the state comes back": func(g *gated, r request, meanwhile func()) (func() string, error) {
		state := g.ask(r)
		g.pick("Q/plan.md", "")
		meanwhile()
		_, err := do1(g.t.Context(), g.app, r.with(state, ""))
		return func() string { return g.do(r.with(state, "")) }, err
	},
	"the state comes back with a cancel": func(g *gated, r request, meanwhile func()) (func() string, error) {
		state := g.ask(r)
		g.pick("Q/plan.md", "")
		meanwhile()
		_, err := do1(g.t.Context(), g.app, r.with(state, cancel))
		return func() string { return g.do(r.with(state, cancel)) }, err
	},
	"forms do not count": func(g *gated, r request, meanwhile func()) (func() string, error) {
		g.ask(r)
		g.app = g.server("elicit: {routes: [console, cli]}\n")
		g.pick("Q/plan.md", "")
		meanwhile()
		_, err := do1(g.t.Context(), g.app, r)
		return nil, err
	},
	"by token": func(g *gated, r request, meanwhile func()) (func() string, error) {
		g.ask(r)
		g.pick("Q/plan.md", token)
		meanwhile()
		r.args = strings.Replace(r.args, "{", `{"elicit_token":"`+token+`",`, 1)
		_, err := do1(g.t.Context(), g.app, r)
		return func() string { return g.do(r) }, err
	},
	"while a form of an older protocol is open": func(g *gated, r request, meanwhile func()) (func() string, error) {
		r.reach = hitl.Reach{Forms: true, Ask: func(ctx context.Context, _ hitl.Form) (json.RawMessage, error) {
			meanwhile()
			g.pick("Q/plan.md", "")
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		_, err := do1(g.t.Context(), g.app, r)
		return nil, err
	},
	"a client without a screen answers at once": func(g *gated, r request, meanwhile func()) (func() string, error) {
		g.watch()
		r.reach = form(cancel, 0)
		return nil, g.whileItWaits(r, meanwhile)
	},
	"a modern client without a screen answers at once": func(g *gated, r request, meanwhile func()) (func() string, error) {
		g.watch()
		_, err := do1(g.t.Context(), g.app, r)
		asked, ok := errors.AsType[*hitl.NeedsInput](err)
		if !ok {
			g.t.Fatal(err)
		}
		r = r.with(asked.State, cancel)
		return nil, g.whileItWaits(r, meanwhile)
	},
}

var pickers = map[string]string{"read_note": `{"title":"Plan"}`, "append_note": `{"title":"Plan","content":"more"}`, "delete_note": `{"title":"Plan"}`}

// What a person chooses at a console, or by the command, is what the call runs on,
// once, whether it waits or is made again.
func TestAChoiceThatIsNotTheClients(t *testing.T) {
	n := 0
	for way, run := range picking {
		for tool, args := range pickers {
			if n++; racing.Thins(n) {
				continue
			}
			t.Run(way+", "+tool, func(t *testing.T) {
				g := questions(t, "")
				once, err := run(g, request{tool: tool, args: args, reach: screen}, func() {})
				if err != nil {
					t.Fatalf("%v %v", err, fault.Of(err).Details)
				}
				want := map[string]string{"P/Plan.md": "of p\n", "Q/plan.md": "of q\n"}
				switch tool {
				case "append_note":
					want["Q/plan.md"] = "of q\nmore\n"
				case "delete_note":
					delete(want, "Q/plan.md")
				}
				holds(t, g.dir, want)
				if tool == "delete_note" && bytesOf(t, g.dir)["Q/plan.md"] != "" {
					t.Error("the note is still there")
				}
				if got := g.query("SELECT g.choice, g.uses, r.status, e.outcome, e.tool FROM requests r JOIN grants g USING (request_id) JOIN executions e USING (grant_id)"); got != "Q/plan.md 1 used applied "+tool {
					t.Errorf("%q", got)
				}
				if once != nil {
					if got := once(); got != "elicit_invalid used" {
						t.Errorf("once more: %q", got)
					}
				}
			})
		}
	}
}

// A choice is for the note as it was shown.
func TestAChoiceThatIsNotTheClientsDrifts(t *testing.T) {
	n := 0
	for way, run := range picking {
		for _, tool := range []string{"read_note", "delete_note"} {
			if n++; racing.Thins(n) {
				continue
			}
			args := pickers[tool]
			t.Run(way+", "+tool, func(t *testing.T) {
				g := questions(t, "")
				_, err := run(g, request{tool: tool, args: args, reach: screen}, func() { g.write("Q/plan.md", "else\n") })
				if code(err) != fault.ReplayDrift || g.query("SELECT count(*) FROM grants WHERE uses > 0") != "0" {
					t.Errorf("%v", err)
				}
				if e := fault.Of(err); e != nil && fmt.Sprint(e.Details["changed"]) != "[Q/plan.md]" {
					t.Errorf("changed: %v", e.Details)
				}
				holds(t, g.dir, map[string]string{"P/Plan.md": "of p\n", "Q/plan.md": "else\n"})
				if got := g.statuses(); got != "superseded" {
					t.Error(got)
				}
			})
		}
	}
}

// A choice that a person has made elsewhere is not the client's to change, and a no
// to a question that waits ends it.
func TestAnotherChoiceThanThePersons(t *testing.T) {
	for tool, answer := range map[string]string{"read_note": chooses("P/Plan.md"), "append_note": chooses("P/Plan.md"), "delete_note": chooses("P/Plan.md", true)} {
		g := questions(t, "")
		r := request{tool: tool, args: pickers[tool], reach: screen}
		state := g.ask(r)
		g.pick("Q/plan.md", "")
		if got := g.do(r.with(state, answer)); got != "elicit_invalid foreign" || g.statuses() != "approved" {
			t.Errorf("%s: %q, %s", tool, got, g.statuses())
		}
		holds(t, g.dir, map[string]string{"P/Plan.md": "of p\n", "Q/plan.md": "of q\n"})
	}
	// Where the word of a client does not count, its choice does not either.
	for tool, answer := range map[string]string{"read_note": chooses("Q/plan.md"), "delete_note": chooses("Q/plan.md", true)} {
		g := questions(t, "")
		r := request{tool: tool, args: pickers[tool], reach: screen}
		state := g.ask(r)
		g.app = g.server("elicit: {routes: [console, cli]}\n")
		if got := g.do(r.with(state, answer)); got != "elicit_required approval_not_obtained" || g.statuses() != "open" {
			t.Errorf("%s: %q, %s", tool, got, g.statuses())
		}
	}
	for tool, want := range map[string]string{"read_note": "ran", "delete_note": "elicit_required approval_declined"} {
		g := questions(t, "")
		r := request{tool: tool, args: pickers[tool]}
		r.reach = hitl.Reach{Forms: true, Ask: func(ctx context.Context, _ hitl.Form) (json.RawMessage, error) {
			if err := g.store().Requests().End(ctx, g.latest(), hitl.Declined, hitl.RouteConsole, "ana", hitl.Open); err != nil {
				g.t.Error(err)
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		res, err := do1(t.Context(), g.app, r)
		if got := g.what(err); got != want || err == nil && !strings.Contains(string(res.Structured), `"outcome":"declined"`) {
			t.Errorf("%s: %q %v", tool, got, res)
		}
	}
}

// A person who makes the call themselves chooses at their terminal, whatever the
// routes of clients.
func TestAChoiceAtTheTerminalOfTheCall(t *testing.T) {
	for tool, args := range pickers {
		g := questions(t, "")
		g.app = g.server("elicit: {routes: [cli]}\n") // the same vault, without the rules
		var shown hitl.Form
		r := request{tool: tool, args: args, caller: "cli", reach: hitl.Reach{Forms: true, Terminal: "ana", Ask: func(_ context.Context, f hitl.Form) (json.RawMessage, error) {
			shown = f
			return json.RawMessage(chooses("Q/plan.md", true)), nil
		}}}
		if got := g.do(r); got != "ran" || g.statuses() != "used" {
			t.Errorf("%s: %q %s", tool, got, g.statuses())
		}
		offered := slices.ContainsFunc(shown.Candidates, func(k hitl.Candidate) bool {
			return k.Path == "Q/plan.md" && (k.About == "") == (tool == "read_note")
		})
		if !offered || shown.Approve != (tool == "delete_note") || strings.Contains(shown.Message, "\nQ/plan.md") {
			t.Errorf("%s: %+v", tool, shown)
		}
	}
}
