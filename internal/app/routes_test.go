package app_test

import (
	"strings"
	"testing"
	"time"

	"vault-mcp/hitl"
)

// left leaves the newest request approved and unused, as by a way that counted
// then: a process that has died between the yes and the run does the same.
func (g *gated) left(route hitl.Route, choice string) {
	g.t.Helper()
	a := hitl.Approval{Route: route, By: "ana", TokenHash: hitl.TokenHash(token), Choice: choice, Life: 300 * time.Second}
	if !route.Person() {
		a.By = hitl.Client
	}
	if _, err := g.store().Requests().Approve(g.t.Context(), g.latest(), a); err != nil {
		g.t.Fatal(err)
	}
}

// redemptions are how the call comes again for an approval that is there.
var redemptions = map[string]func(r request, state string) request{
	"repeated":                     func(r request, _ string) request { return r },
	"repeated by an older client":  func(r request, _ string) request { r.reach = form(yes, slowly); return r },
	"repeated without forms":       func(r request, _ string) request { r.reach = hitl.Reach{}; return r },
	"with its state":               func(r request, s string) request { return r.with(s, "") },
	"with its state and a yes":     func(r request, s string) request { return r.with(s, yes) },
	"with its state and a cancel":  func(r request, s string) request { return r.with(s, cancel) },
	"with its token":               func(r request, _ string) request { return carrying(r) },
	"with its token, older client": func(r request, _ string) request { r.reach = form(yes, slowly); return carrying(r) },
}

func carrying(r request) request {
	r.args = strings.Replace(r.args, "{", `{"elicit_token":"`+token+`",`, 1)
	return r
}

// without are the settings that take all ways of approving but one.
var without = map[hitl.Route]string{
	hitl.RouteCommand: "[form, console, page]", hitl.RouteConsole: "[form, cli, page]", hitl.RoutePage: "[form, console, cli]",
	hitl.RouteState: "[console, cli, page]", hitl.RouteShim: "[console, cli, page]",
}

// An approval by a way that no longer counts lets nothing run, however it is
// redeemed. It is not spent either: the person is asked anew, by what counts.
func TestAnApprovalByAWayThatNoLongerCounts(t *testing.T) {
	for route, routes := range without {
		for way, again := range redemptions {
			t.Run(string(route)+" "+way, func(t *testing.T) {
				g := newGated(t)
				state := g.ask(replace())
				g.left(route, "")
				g.app = g.server("elicit: {routes: " + routes + "}\n")
				if got := g.do(again(replace(), state)); got != "elicit_required approval_not_obtained" {
					t.Errorf("%q", got)
				}
				if got := g.statuses(); got != "superseded open" {
					t.Errorf("the requests are %s", got)
				}
				if got := g.query("SELECT uses, revoked_at > 0, (SELECT count(*) FROM executions) FROM grants"); got != "0 1 0" {
					t.Errorf("grant: %s", got)
				}
				if got := content(t, g.dir, "a.md"); got != original {
					t.Errorf("the note is %q", got)
				}
				// That the way counts again does not bring the approval back.
				g.app = g.server()
				if got := g.do(carrying(replace())); got != "elicit_invalid superseded" {
					t.Errorf("the old token: %q", got)
				}
				if got := g.do(replace().with(g.ask(replace()), yes)); got != "ran" {
					t.Errorf("the fresh request: %q", got)
				}
			})
		}
	}
}

// A way that still counts is not touched by what was taken out beside it.
func TestAnApprovalByAWayThatStillCounts(t *testing.T) {
	for route := range without {
		for way, again := range redemptions {
			t.Run(string(route)+" "+way, func(t *testing.T) {
				g := newGated(t)
				state := g.ask(replace())
				g.left(route, "")
				routes := "[" + string(route) + "]"
				if !route.Person() {
					routes = "[form]"
				}
				g.app = g.server("elicit: {routes: " + routes + "}\n")
				if got := g.do(again(replace(), state)); got != "ran" {
					t.Errorf("%q", got)
				}
				if got := g.statuses(); got != "used" {
					t.Errorf("the requests are %s", got)
				}
			})
		}
	}
}

// A call that waits is not let go by an approval that does not count.
func TestAWaitingCallIsNotApprovedByAWayThatDoesNotCount(t *testing.T) {
	g := newGated(t)
	g.app = g.server("elicit: {routes: [form, cli]}\n")
	r := replace()
	r.reach = form(yes, time.Hour)
	g.do(request{tool: "snapshot_note", args: `{"path":"b.md"}`})
	s := g.store()
	got := make(chan string, 1)
	go func() { got <- g.do(r) }()
	for range 400 {
		if list, err := s.List(t.Context()); err == nil && len(list) > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	g.left(hitl.RouteConsole, "")
	if got := <-got; got != "elicit_required approval_not_obtained" || g.statuses() != "superseded open" {
		t.Errorf("%q, %s", got, g.statuses())
	}
}

// What a person has chosen by a form is worth as much as their yes.
func TestAChoiceByAWayThatNoLongerCounts(t *testing.T) {
	for way, again := range redemptions {
		if strings.Contains(way, "token") {
			continue // a choice has no token
		}
		t.Run(way, func(t *testing.T) {
			g := questions(t, "")
			r := byTitle("delete_note", "Plan")
			state := g.ask(r)
			g.left(hitl.RouteState, "Q/plan.md")
			g.app = g.server("elicit: {routes: [console, cli, page]}\n")
			r = again(r, state)
			if strings.HasSuffix(way, "a yes") {
				r = r.with(state, chooses("Q/plan.md", true))
			}
			before := bytesOf(t, g.dir)
			got := g.do(r)
			if got != "elicit_required approval_not_obtained" {
				t.Errorf("%q", got)
			}
			if len(bytesOf(t, g.dir)) != len(before) || g.query("SELECT sum(uses) FROM grants") != "0" || g.query("SELECT count(*) FROM executions") != "0" {
				t.Error("something was done")
			}
		})
	}
}
