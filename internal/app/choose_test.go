package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
)

// twins are two notes with one name, and others that are no third.
var twins = map[string]string{
	"P/Plan.md": "of p\n", "Q/plan.md": "of q\n", "Alias.md": "---\naliases: [Plan, Only]\n---\n", "Hidden/Plan.md": "onlysecret\n", "Asked/Plan.md": "onlyasked\n",
	"Denied/Plan.md": "onlydenied\n", "Fixed/Twin.md": "fixed\n", "P/Twin.md": "twin\n", "Q/Plan.canvas": "{}",
}

const closed = `, rules: [{glob: "Hidden/**", verbs: {read: hide}}, {glob: "Asked/**", verbs: {read: ask}}, {glob: "Denied/**", verbs: {read: deny}}, {glob: "Fixed/**", verbs: {delete: deny}}]`

// questions serves a vault with twins.
func questions(t *testing.T, rules string) *gated {
	t.Helper()
	g := newGated(t)
	plant(t, g.dir, twins)
	g.app = g.under(rules)
	return g
}

// under is one more server, under folder rules.
func (g *gated) under(rules string) *app.App {
	g.t.Helper()
	return start(g.t, g.home, fmt.Sprintf("vaults: [{path: %q%s}]\n", g.dir, rules), func(o *app.Options) {
		o.Clock, o.Patience = g.clock.Now, 2*time.Second
	})
}

var screen = hitl.Reach{Modern: true, Forms: true}

func byTitle(tool, title string) request {
	return request{tool: tool, args: fmt.Sprintf(`{"title":%q}`, title), reach: screen}
}

// chooses is what a person fills in; with a yes or a no where that is asked for.
func chooses(note string, approve ...bool) string {
	yes := ""
	if len(approve) > 0 {
		yes = fmt.Sprintf(`,"approve":%t`, approve[0])
	}
	return fmt.Sprintf(`{"action":"accept","content":{"note_id":%q%s}}`, note, yes)
}

// steps are what may go wrong with a choice, in the order in which it is looked at.
var steps = []struct {
	name   string
	change func(g *gated, r *request)
	chosen string
	want   string // "" where the call runs
	reads  string // the same for a query, if it differs
}{
	{name: "nothing", chosen: "Q/plan.md"},
	{name: "the state is altered", chosen: "Q/plan.md", want: "-32602 altered", change: func(_ *gated, r *request) { r.reach.State = "x" + r.reach.State }},
	{name: "the state is of another call", chosen: "Q/plan.md", want: "-32602 foreign", change: func(_ *gated, r *request) { r.args = `{"title":"plan"}` }},
	{name: "the content is malformed", chosen: "Q/plan.md", want: "-32602 malformed", change: func(_ *gated, r *request) {
		r.reach.Answers["confirm"] = json.RawMessage(`{"action":"accept","content":{"note_id":1,"approve":true}}`)
	}},
	{name: "nothing is chosen", chosen: "Q/plan.md", want: "-32602 malformed", change: func(_ *gated, r *request) {
		r.reach.Answers["confirm"] = json.RawMessage(`{"action":"accept","content":{"approve":true}}`)
	}},
	{name: "a note that was not offered", chosen: "a.md", want: "-32602 malformed"},
	{name: "a hidden note", chosen: "Hidden/Plan.md", want: "-32602 malformed"},
	{name: "another spelling", chosen: "Q/Plan.md", want: "-32602 malformed"},
	{name: "it became hidden", chosen: "Q/plan.md", want: "replay_drift drift", change: func(g *gated, _ *request) {
		g.app = g.under(`, rules: [{glob: "Q/**", verbs: {read: hide}}]`)
	}},
	{name: "it became denied", chosen: "Q/plan.md", want: "acl_denied <nil>", change: func(g *gated, _ *request) {
		g.app = g.under(`, rules: [{glob: "Q/**", verbs: {read: deny}}]`)
	}},
	{name: "it may no longer be deleted", chosen: "Q/plan.md", want: "acl_denied <nil>", reads: "ran", change: func(g *gated, _ *request) {
		g.app = g.under(`, rules: [{glob: "Q/**", verbs: {delete: deny}}]`)
	}},
	{name: "it was deleted", chosen: "Q/plan.md", want: "replay_drift drift", change: func(g *gated, _ *request) { g.remove("Q/plan.md") }},
	{name: "it was edited", chosen: "Q/plan.md", want: "replay_drift drift", change: func(g *gated, _ *request) { g.write("Q/plan.md", "else\n") }},
	{name: "what would be done is another thing", chosen: "Q/plan.md", want: "replay_drift drift", reads: "ran", change: func(g *gated, _ *request) {
		plant(g.t, g.dir, map[string]string{".obsidian/app.json": `{"trashOption":"none"}`})
	}},
	{name: "the other one was edited", chosen: "Q/plan.md", change: func(g *gated, _ *request) { g.write("P/Plan.md", "else\n") }},
	{name: "the other one was deleted", chosen: "Q/plan.md", change: func(g *gated, _ *request) { g.remove("P/Plan.md") }},
	{name: "a third one was made", chosen: "Q/plan.md", change: func(g *gated, _ *request) { plant(g.t, g.dir, map[string]string{"R/Plan.md": "of r\n"}) }},
	{name: "too late", chosen: "Q/plan.md", want: "elicit_required expired", change: func(g *gated, _ *request) { g.clock.pass(301 * time.Second) }},
}

func TestAChoiceIsCheckedStepByStep(t *testing.T) {
	for _, tool := range []string{"delete_note", "read_note"} {
		for _, tt := range steps {
			t.Run(tool+", "+tt.name, func(t *testing.T) {
				g := questions(t, closed)
				r := byTitle(tool, "Plan")
				answer := chooses(tt.chosen)
				if tool == "delete_note" {
					answer = chooses(tt.chosen, true)
				}
				r = r.with(g.ask(r), answer)
				if tt.change != nil {
					tt.change(g, &r)
				}
				before := bytesOf(t, g.dir)
				want := tt.want
				if tool == "read_note" && tt.reads != "" {
					want = tt.reads
				}
				if want == "" {
					want = "ran"
				}
				got := g.do(r)
				if got != want {
					t.Fatalf("%q, not %q", got, want)
				}
				if want != "ran" || tool == "read_note" {
					if after := bytesOf(t, g.dir); fmt.Sprint(after) != fmt.Sprint(before) {
						t.Errorf("the vault is %q, not %q", after, before)
					}
				}
				if want != "ran" {
					if n := g.query("SELECT count(*) FROM grants"); n != "0" {
						t.Errorf("%s grants", n)
					}
					if status := g.statuses(); (status == "superseded") != (want == "replay_drift drift") || strings.Contains(status, "used") {
						t.Errorf("the request is %s", status)
					}
					return
				}
				if g.statuses() != "used" {
					t.Errorf("the request is %s", g.statuses())
				}
				if tool == "delete_note" {
					delete(before, "Q/plan.md")
					after := bytesOf(t, g.dir)
					for p := range after {
						if strings.HasPrefix(p, ".trash") {
							delete(after, p)
						}
					}
					if _, gone := after["Q/plan.md"]; gone || after["P/Plan.md"] != before["P/Plan.md"] {
						t.Errorf("the vault is %q", after)
					}
				}
				// It is good for one run, with no other choice either.
				for _, c := range []string{answer, strings.Replace(answer, "Q/plan.md", "P/Plan.md", 1)} {
					if got := g.do(r.with(r.reach.State, c)); got != "elicit_invalid used" {
						t.Errorf("once more: %q", got)
					}
				}
			})
		}
	}
}

// What a person answers besides a choice.
func TestAQuestionThatIsNotAnswered(t *testing.T) {
	refused := "elicit_required approval_declined"
	for _, tt := range []struct {
		tool, answer, want, status string
		again                      string
	}{
		{"delete_note", no, "declined", "declined", refused},
		{"read_note", no, "declined", "declined", "declined"},
		{"delete_note", chooses("P/Plan.md", false), refused, "declined", refused},
		{"delete_note", `{"action":"accept","content":{"approve":false}}`, refused, "declined", refused},
		{"delete_note", cancel, "elicit_required approval_not_obtained", "open", "asked"},
		{"read_note", cancel, "path_ambiguous <nil>", "open", "asked"},
		{"delete_note", chooses("P/Plan.md"), "-32602 malformed", "open", "asked"},
		{"read_note", "", "asked", "open", "asked"},
		{"delete_note", "", "asked", "open", "asked"},
	} {
		for _, modern := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s %s modern %t", tt.tool, tt.answer, modern), func(t *testing.T) {
				if !modern && tt.answer == "" {
					t.Skip("older protocols have no answer without one")
				}
				g := questions(t, closed)
				before := bytesOf(t, g.dir)
				r, plain := byTitle(tt.tool, "Plan"), byTitle(tt.tool, "Plan")
				if modern {
					r = r.with(g.ask(r), tt.answer)
				} else {
					r.reach = form(tt.answer, slowly)
				}
				res, err := do1(t.Context(), g.app, r)
				got := ""
				if err == nil {
					var out struct{ Outcome string }
					if err := json.Unmarshal(res.Structured, &out); err != nil {
						t.Fatal(err)
					}
					got = out.Outcome
				} else {
					got = g.what(err)
				}
				if got != tt.want || g.statuses() != tt.status {
					t.Errorf("%q and %s, not %q and %s", got, g.statuses(), tt.want, tt.status)
				}
				if e := fault.Of(err); e != nil && (e.Code == fault.PathAmbiguous || tt.answer == cancel) && fmt.Sprint(e.Details["candidates"]) != "[P/Plan.md Q/plan.md]" {
					t.Errorf("%v", e.Details)
				}
				res, err = do1(t.Context(), g.app, plain)
				again := g.what(err)
				if err == nil && strings.Contains(string(res.Structured), `"outcome":"declined"`) {
					again = "declined"
				}
				if again != tt.again {
					t.Errorf("once more: %q, not %q", again, tt.again)
				}
				if after := bytesOf(t, g.dir); fmt.Sprint(after) != fmt.Sprint(before) {
					t.Errorf("the vault is %q", after)
				}
			})
		}
	}
}

// A question is put twice at most.
func TestAQuestionIsNotPutForEver(t *testing.T) {
	g := questions(t, closed)
	r := byTitle("read_note", "Plan")
	r = r.with(g.ask(r), "")
	if got := g.do(r.with(g.ask(r), "")); got != "path_ambiguous <nil>" {
		t.Error(got)
	}
}

// In older protocols the server asks by itself, and runs the call that waits.
func TestAChoiceInOlderProtocols(t *testing.T) {
	g := questions(t, closed)
	r := byTitle("read_note", "Plan")
	r.reach = form(chooses("Q/plan.md"), 0)
	if path, text, err := read(t, g.app, r); err != nil || path != "Q/plan.md" || text != "of q\n" {
		t.Errorf("%q %q %v", path, text, err)
	}
	r = byTitle("delete_note", "Plan")
	r.reach = form(chooses("P/Plan.md", true), 0)
	if got := g.do(r); got != "ran" || g.statuses() != "used used" {
		t.Fatal(got, g.statuses())
	}
	holds(t, g.dir, map[string]string{"Q/plan.md": "of q\n"})
	if got := g.query("SELECT choice, uses, route FROM grants"); got != "P/Plan.md 1 shim" {
		t.Errorf("%q", got)
	}
	// While the form was open, something has changed.
	g = questions(t, closed)
	r.reach = hitl.Reach{Forms: true, Ask: func(context.Context, hitl.Form) (json.RawMessage, error) {
		g.write("P/Plan.md", "else\n")
		return json.RawMessage(chooses("P/Plan.md", true)), nil
	}}
	if got := g.do(r); got != "replay_drift drift" || g.statuses() != "superseded" || content(t, g.dir, "P/Plan.md") != "else\n" {
		t.Error(got, g.statuses())
	}
	for name, reach := range map[string]hitl.Reach{
		"silent": form("", time.Hour),
		"fails":  {Forms: true, Ask: func(context.Context, hitl.Form) (json.RawMessage, error) { return nil, errors.New("no") }},
	} {
		for tool, want := range map[string]string{"read_note": "path_ambiguous <nil>", "delete_note": "elicit_required approval_not_obtained"} {
			g = questions(t, closed)
			r = byTitle(tool, "Plan")
			r.reach = reach
			if got := g.do(r); got != want || g.statuses() != "open" {
				t.Errorf("%s, %s: %q %s", name, tool, got, g.statuses())
			}
		}
	}
}

// A choice carries an effect that needs no approval exactly once, whoever redeems
// it.
func TestAChoiceIsGoodOnce(t *testing.T) {
	for _, tool := range []string{"append_note", "delete_note"} {
		g := questions(t, "")
		r := request{tool: tool, args: `{"title":"Plan","content":"more"}`, reach: screen}
		choices := []string{chooses("P/Plan.md"), chooses("Q/plan.md")}
		if tool == "delete_note" {
			r.args = `{"title":"Plan"}`
			choices = []string{chooses("P/Plan.md", true), chooses("Q/plan.md", true)}
		}
		state := g.ask(r)
		servers := []*app.App{g.app, g.under("")}
		var wg sync.WaitGroup
		got := make([]string, 24)
		begin := make(chan struct{})
		for i := range got {
			wg.Go(func() {
				<-begin
				_, err := do1(t.Context(), servers[i%2], r.with(state, choices[i/2%2]))
				got[i] = g.what(err)
			})
		}
		close(begin)
		wg.Wait()
		ran := 0
		for _, s := range got {
			switch {
			case s == "ran":
				ran++
			case !strings.HasPrefix(s, "elicit_invalid"):
				t.Errorf("%s: %s", tool, s)
			}
		}
		n := g.query("SELECT count(*) FROM changes")
		if ran != 1 || n != "1" || g.statuses() != "used" {
			t.Errorf("%s: %d ran, %s changes, %s", tool, ran, n, g.statuses())
		}
	}
}

// A state of one server is answered at another of the same state folder.
func TestAChoiceIsMadeAtAnotherServer(t *testing.T) {
	g := questions(t, closed)
	r := byTitle("delete_note", "Plan")
	r = r.with(g.ask(r), chooses("P/Plan.md", true))
	g.app = g.under(closed)
	if got := g.do(r); got != "ran" {
		t.Error(got)
	}
}

// A title that has become ambiguous since a person approved is drift, by every
// route; and so is one that no longer is.
func TestAnApprovalOfOneNoteIsNotUsedForTwo(t *testing.T) {
	for way, approve := range ways {
		if strings.HasPrefix(way, "console, ") || way == "shim" {
			continue // they end with the call that waits
		}
		g := questions(t, "")
		err := approve(g, byTitle("delete_note", "B"), func() { plant(t, g.dir, map[string]string{"Q/b.md": "late\n"}) })
		if code(err) != fault.ReplayDrift || g.query("SELECT count(*) FROM grants WHERE uses > 0") != "0" {
			t.Errorf("%s: %v", way, err)
		}
		holds(t, g.dir, map[string]string{"b.md": "other\n", "Q/b.md": "late\n"})
	}
	g := questions(t, "")
	r := byTitle("delete_note", "Plan")
	state := g.ask(r)
	g.remove("P/Plan.md")
	if got := g.do(r.with(state, "")); got != "replay_drift drift" {
		t.Error(got)
	}
}

// An approval that does not say which note is meant is none.
func TestAQuestionIsNotApprovedWithoutAChoice(t *testing.T) {
	g := questions(t, "")
	g.ask(byTitle("delete_note", "Plan"))
	if err := g.approve(token); !errors.Is(err, hitl.ErrChoice) || g.statuses() != "open" {
		t.Errorf("%v, %s", err, g.statuses())
	}
}

// A note for which the call makes no sense can be chosen, and is answered with
// why; that is no drift.
func TestAChoiceThatCannotBeDone(t *testing.T) {
	g := questions(t, "")
	g.write("P/Plan.md", "# Here\n")
	r := request{tool: "patch_note", args: `{"title":"Plan","operation":"append","target_heading":"Here","content":"x"}`, reach: screen}
	if got := g.do(r.with(g.ask(r), chooses("Q/plan.md"))); got != "not_found <nil>" || g.statuses() != "used" {
		t.Errorf("%q %s", got, g.statuses())
	}
	if got := g.do(r.with(g.ask(r), chooses("P/Plan.md"))); got != "ran" {
		t.Errorf("%q", got)
	}
	holds(t, g.dir, map[string]string{"P/Plan.md": "# Here\nx\n", "Q/plan.md": "of q\n"})
}

// A dry run asks which note is meant, and for no approval; what is chosen for it
// approves nothing.
func TestADryRunIsAskedWhichNoteIsMeant(t *testing.T) {
	g := questions(t, "")
	r := request{tool: "delete_note", args: `{"title":"Plan","dry_run":true}`, reach: screen}
	state := g.ask(r)
	real := byTitle("delete_note", "Plan")
	if got := g.do(real.with(state, chooses("P/Plan.md"))); got != "replay_drift drift" {
		t.Errorf("the call itself: %q", got)
	}
	if got := g.do(r.with(g.ask(r), chooses("P/Plan.md"))); got != "ran" {
		t.Errorf("%q", got)
	}
	holds(t, g.dir, twins)
	// What a person approves of the call itself is not used up by a dry run.
	real = real.with(g.ask(real), chooses("P/Plan.md", true))
	dry := r.with(real.reach.State, chooses("P/Plan.md", true))
	if got := g.do(dry); got != "ran" || content(t, g.dir, "P/Plan.md") != "of p\n" {
		t.Errorf("%q", got)
	}
	if got := g.do(real); got != "ran" {
		t.Errorf("%q", got)
	}
}

// A repeated call is answered from the first, though its note is gone, and asks
// nobody.
func TestARepeatedKeyAsksNothing(t *testing.T) {
	g := questions(t, "")
	r := request{tool: "delete_note", args: `{"title":"Plan","idempotency_key":"k"}`, reach: screen}
	if got := g.do(r.with(g.ask(r), chooses("P/Plan.md", true))); got != "ran" {
		t.Fatal(got)
	}
	g.remove("Q/plan.md")
	if got := g.do(r); got != "ran" {
		t.Error(got)
	}
}

// A process that has died after the person chose leaves the choice, and no other.
func TestAChoiceBindsTheApproval(t *testing.T) {
	for _, again := range []bool{true, false} {
		g := questions(t, "")
		r := byTitle("delete_note", "Plan")
		state := g.ask(r)
		_, err := g.store().Requests().Approve(t.Context(), g.latest(), hitl.Approval{Route: hitl.RouteState, By: hitl.Client, Choice: "P/Plan.md", Life: 300 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.do(r.with(state, chooses("Q/plan.md", true))); got != "elicit_invalid foreign" || g.statuses() != "approved" {
			t.Errorf("%q %s", got, g.statuses())
		}
		holds(t, g.dir, twins)
		if !again {
			r = r.with(state, chooses("P/Plan.md", true))
		}
		if got := g.do(r); got != "ran" || g.statuses() != "used" {
			t.Errorf("again %t: %q %s", again, got, g.statuses())
		}
		holds(t, g.dir, map[string]string{"Q/plan.md": "of q\n"})
	}
}
