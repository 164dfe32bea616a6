package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/fault"
)

// form is what a client of an older protocol answers, after a time.
func form(answer string, after time.Duration) hitl.Reach {
	return hitl.Reach{Forms: true, Ask: func(ctx context.Context, _ hitl.Form) (json.RawMessage, error) {
		select {
		case <-time.After(after):
			return json.RawMessage(answer), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
}

// slowly is longer than the quickest answer that a person can give.
const slowly = 200 * time.Millisecond

// What was declined is not asked again in other words.
func TestANoIsNotAskedAgainWithAnotherArgument(t *testing.T) {
	g := newGated(t)
	asked := atomic.Int32{}
	r := request{tool: "delete_note", args: `{"path":"a.md"}`, reach: form(no, slowly)}
	inner := r.reach.Ask
	r.reach.Ask = func(ctx context.Context, f hitl.Form) (json.RawMessage, error) { asked.Add(1); return inner(ctx, f) }
	if got := g.do(r); got != "elicit_required approval_declined" || g.statuses() != "declined" {
		t.Fatalf("%q, %q", got, g.statuses())
	}
	for _, args := range []string{`{"path":"a.md"}`, `{"path":"a"}`, `{"path":"a.md","idempotency_key":"k"}`, `{"path":"a","elicit_token":""}`} {
		r.args = args
		if got := g.do(r); got != "elicit_required approval_declined" || asked.Load() != 1 {
			t.Errorf("%s: %q, asked %d times", args, got, asked.Load())
		}
	}
	// Another note is another question.
	r.args = `{"path":"b.md"}`
	if g.do(r); asked.Load() != 2 {
		t.Error("another note was not asked about")
	}
	// A person can still change their mind.
	r.args = `{"path":"a"}`
	id := g.query("SELECT request_id FROM requests WHERE call_hash = (SELECT call_hash FROM requests WHERE status = 'open' AND tool = 'delete_note' ORDER BY seq LIMIT 1) ORDER BY seq DESC LIMIT 1")
	if _, err := g.store().Requests().Approve(t.Context(), id, hitl.Approval{Route: hitl.RouteConsole, By: "ana", Life: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if got := g.do(r); got != "ran" {
		t.Errorf("after a person approved: %q", got)
	}
}

// After some minutes the same may be asked again.
func TestANoIsForgottenAfterAWhile(t *testing.T) {
	g := newGated(t)
	s := g.ask(replace())
	g.do(replace().with(s, no))
	if got := g.do(replace()); got != "elicit_required approval_declined" {
		t.Fatal(got)
	}
	g.app = g.server() // which has not heard it
	if got := g.do(replace()); got != "elicit_required approval_declined" {
		t.Fatalf("another process: %q", got)
	}
	g.clock.pass(301 * time.Second)
	if got := g.do(replace()); got != "asked" {
		t.Errorf("%q", got)
	}
}

// Clients without a screen answer for a person who is not there: that is no no, and
// no reason to ask them for ever.
func TestAnAnswerThatNobodyCanHaveGiven(t *testing.T) {
	for answer, want := range map[string]string{no: "elicit_required approval_declined", cancel: "elicit_required approval_not_obtained",
		`{"action":"accept","content":{"approve":false}}`: "elicit_required approval_declined"} {
		g := newGated(t)
		asked := atomic.Int32{}
		r := request{tool: "delete_note", args: `{"path":"a.md"}`, reach: hitl.Reach{Forms: true, Ask: func(context.Context, hitl.Form) (json.RawMessage, error) {
			asked.Add(1)
			return json.RawMessage(answer), nil
		}}}
		for range 2 {
			if got := g.do(r); got != want || g.statuses() != "open" {
				t.Errorf("%s: %q, %q", answer, got, g.statuses())
			}
		}
		if got := g.do(r); got != "elicit_required approval_required" || asked.Load() != 2 {
			t.Errorf("%s: %q, asked %d times", answer, got, asked.Load())
		}
		if err := g.approve(""); err != nil {
			t.Fatal(err)
		}
		if got := g.do(r); got != "ran" {
			t.Errorf("%s: %q", answer, got)
		}
		// Somebody is there after all.
		r.args = `{"path":"b.md"}`
		if g.do(r); asked.Load() != 3 {
			t.Errorf("%s: asked %d times", answer, asked.Load())
		}
	}
}

// While a person watches, what a client answers by itself does not end the call:
// it waits for the person, in both eras.
func TestACallWaitsForAPersonWhoWatches(t *testing.T) {
	for name, r := range map[string]request{
		"no form":                  {reach: hitl.Reach{}},
		"a client that cancels":    {reach: form(cancel, 0)},
		"a client that declines":   {reach: form(no, 0)},
		"a client that fails":      {reach: hitl.Reach{Forms: true, Ask: func(context.Context, hitl.Form) (json.RawMessage, error) { return nil, errors.New("no") }}},
		"a client that is silent":  {reach: form(yes, time.Hour)},
		"a modern one, no form":    {reach: hitl.Reach{Modern: true}},
		"a modern one, by a form ": {reach: hitl.Reach{Modern: true, Forms: true}},
	} {
		for _, approve := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s %t", name, approve), func(t *testing.T) {
				g := newGated(t)
				r := r
				r.tool, r.args = replace().tool, replace().args
				if r.reach.Modern && r.reach.Forms {
					_, err := do1(t.Context(), g.app, r)
					n, ok := errors.AsType[*hitl.NeedsInput](err)
					if !ok {
						t.Fatal(err)
					}
					r = r.with(n.State, no) // at once
				} else {
					g.do(request{tool: "snapshot_note", args: `{"path":"b.md"}`})
				}
				s := g.store()
				release, err := s.Watch()
				if err != nil {
					t.Fatal(err)
				}
				defer release()
				got := make(chan string, 1)
				go func() { got <- g.do(r) }()
				for range 400 {
					if list, err := s.List(t.Context()); err == nil && len(list) > 0 {
						break
					}
					time.Sleep(5 * time.Millisecond)
				}
				time.Sleep(50 * time.Millisecond) // what the client answers is in by now
				want := "ran"
				if approve {
					err = g.approve("")
				} else {
					want = "elicit_required approval_declined"
					err = s.Requests().End(t.Context(), g.latest(), hitl.Declined, hitl.RouteConsole, "ana", hitl.Open)
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := <-got; got != want {
					t.Errorf("%q, not %q", got, want)
				}
			})
		}
	}
}

// A call ends at its deadline when nobody answers, and says how to go on.
func TestNobodyAnswers(t *testing.T) {
	g := newGated(t)
	r := replace()
	r.reach = form(yes, time.Hour)
	_, err := do1(t.Context(), g.app, r)
	e := fault.Of(err)
	if e.Code != fault.ElicitRequired || e.Details["reason"] != "approval_not_obtained" {
		t.Fatalf("%v %v", e, e.Details)
	}
	shown, _ := e.Details["state_fp"].(string)
	hash, _ := e.Details["call_hash"].(string)
	if want := fmt.Sprintf("vault-mcp elicit --hash %s --tool write_note --vault main --caller stdio --state-fp %s", hash, shown); e.Recovery != want || len(shown) != 32 {
		t.Errorf("%q, not %q", e.Recovery, want)
	}
	if !strings.HasPrefix(e.Message, "Ask the person first") {
		t.Errorf("%q", e.Message)
	}
	if g.statuses() != "open" {
		t.Error(g.statuses())
	}
}

// A call that is cancelled while it waits asks nobody any more, and is no no.
func TestACancelledCallLeavesTheRequestOpen(t *testing.T) {
	g := newGated(t)
	ctx, cancelCall := context.WithCancel(t.Context())
	asked := make(chan struct{})
	r := replace()
	r.reach = hitl.Reach{Forms: true, Ask: func(ctx context.Context, _ hitl.Form) (json.RawMessage, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	go func() { <-asked; cancelCall() }()
	_, err := do1(ctx, g.app, r)
	if fault.Of(err).Code != fault.Aborted || g.statuses() != "open" || content(t, g.dir, "a.md") != original {
		t.Errorf("%v, %q", err, g.statuses())
	}
}

// One call is offered a form twice at most.
func TestAFormIsOfferedTwiceAtMost(t *testing.T) {
	g := newGated(t)
	first := g.ask(replace())
	_, err := do1(t.Context(), g.app, replace().with(first, ""))
	n, ok := errors.AsType[*hitl.NeedsInput](err)
	if !ok {
		t.Fatal(err)
	}
	if got := g.do(replace().with(n.State, "")); got != "elicit_required approval_not_obtained" {
		t.Errorf("%q", got)
	}
	if g.statuses() != "open" {
		t.Error(g.statuses())
	}
	if got := g.do(replace().with(first, yes)); got != "ran" {
		t.Errorf("the first state is still good: %q", got)
	}
}

// Malformed answers claim nothing, and what comes with a no is not read.
func TestMalformedAnswersClaimNothing(t *testing.T) {
	g := newGated(t)
	s := g.ask(replace())
	for _, answer := range []string{`{}`, `null`, `[]`, `"accept"`, `{"action":"wat"}`, `{"action":5}`, `{"action":"accept"}`, `{"action":"accept","content":[]}`,
		`{"action":"accept","content":{}}`, `{"action":"accept","content":{"approve":"true"}}`, `{"action":"accept","content":{"approve":1}}`,
		`{"action":"accept","content":{"approve":null}}`, `{"action":"decline","action":"accept","content":{"approve":true}}`, `{"action":"accept","content":{"approve":false,"approve":true}}`} {
		if got := g.do(replace().with(s, answer)); got != "-32602 malformed" {
			t.Errorf("%s: %q", answer, got)
		}
	}
	if g.statuses() != "open" || content(t, g.dir, "a.md") != original {
		t.Error(g.statuses())
	}
	if got := g.do(replace().with(s, `{"action":"decline","content":{"approve":true}}`)); got != "elicit_required approval_declined" {
		t.Errorf("%q", got)
	}
}

// A caller has so many open requests at most, and repeating one call is one
// request.
func TestOpenRequestsAreBounded(t *testing.T) {
	g := newGated(t)
	g.app = g.server("throttle: {write: {per_minute: 100000, burst: 10000}}\n")
	r := func(i int) request {
		return request{tool: "write_note", args: fmt.Sprintf(`{"path":"a.md","mode":"overwrite","content":"%d\n"}`, i)}
	}
	for i := range hitl.MaxOpen {
		for range 2 {
			if got := g.do(r(i)); got != "elicit_required approval_required" {
				t.Fatal(got)
			}
		}
	}
	if got := g.do(r(hitl.MaxOpen)); got != "throttled <nil>" {
		t.Errorf("%q", got)
	}
	if got := g.query("SELECT count(*) FROM requests"); got != fmt.Sprint(hitl.MaxOpen) {
		t.Errorf("%s requests", got)
	}
	r2 := r(hitl.MaxOpen)
	r2.caller = "other"
	if got := g.do(r2); got != "elicit_required approval_required" {
		t.Errorf("another caller: %q", got)
	}
}

// Where forms do not count, no client's word is taken, whatever it sends.
func TestFormsThatDoNotCount(t *testing.T) {
	g := newGated(t)
	s := g.ask(replace())
	g.app = g.server("elicit: {routes: [console, cli]}\n")
	for _, r := range []request{replace(), replace().with(s, yes), {tool: replace().tool, args: replace().args, reach: form(yes, slowly)}} {
		if got := g.do(r); !strings.HasPrefix(got, "elicit_required approval_") {
			t.Errorf("%q", got)
		}
	}
	if content(t, g.dir, "a.md") != original {
		t.Error("the note was changed")
	}
}

// Whether a form might be sent, and why not, stands with the request.
func TestTheDecisionToSendAFormIsKept(t *testing.T) {
	for want, r := range map[string]hitl.Reach{
		"form form none ":     {Modern: true, Forms: true},
		"form form,url none ": {Forms: true, URLs: true},
		"form none none the client declares no form mode for this request": {},
		"form url none the client declares no form mode for this request":  {Modern: true, URLs: true},
	} {
		g := newGated(t)
		call := replace()
		call.reach = r
		g.do(call)
		if got := g.query("SELECT mode, negotiated, fallback, reason FROM requests"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// The form and the request tell the person what would happen; nothing in them
// hides or reorders text.
func TestWhatThePersonSees(t *testing.T) {
	g := newGated(t)
	long := strings.Repeat("a line that goes away\n", 300)
	g.write("a.md", long)
	r := request{tool: "write_note", args: `{"path":"a.md","mode":"overwrite","content":"new \u202e\u200b text\u0007\n"}`, reach: hitl.Reach{Modern: true, Forms: true}}
	_, err := do1(t.Context(), g.app, r)
	n, ok := errors.AsType[*hitl.NeedsInput](err)
	if !ok {
		t.Fatal(err)
	}
	for _, want := range []string{"a.md", "write_note", "main", "stdio", "whole", "undo_change", "-a line that goes away", "cut;"} {
		if !strings.Contains(n.Form.Message, want) {
			t.Errorf("%q is not in %s", want, n.Form.Message)
		}
	}
	if strings.ContainsAny(n.Form.Message, "\u202e\u200b\u0007") || len(n.Form.Message) > 2500 {
		t.Errorf("%d bytes: %q", len(n.Form.Message), n.Form.Message)
	}
	if p := g.query("SELECT preview FROM requests"); strings.Count(p, "-a line") != 300 || !strings.Contains(p, "+new") {
		t.Errorf("%.200q", p)
	}
}

// What goes to the trash is shown before it goes, and no path of the machine is in
// what a request keeps or an error names.
func TestWhatGoesToTheTrashIsShown(t *testing.T) {
	g := newGated(t)
	r := request{tool: "delete_note", args: `{"path":"a.md"}`, reach: hitl.Reach{Modern: true, Forms: true}}
	_, err := do1(t.Context(), g.app, r)
	n, ok := errors.AsType[*hitl.NeedsInput](err)
	if !ok {
		t.Fatal(err)
	}
	if !strings.Contains(n.Form.Message, "-one\n-two\n-three\n") {
		t.Errorf("%s", n.Form.Message)
	}
	if kept := g.query("SELECT preview, marks, summary FROM requests"); !strings.Contains(kept, "-three") || strings.Contains(kept, g.home) || strings.Contains(kept, g.dir) {
		t.Errorf("%s", kept)
	}
	plant(t, g.dir, map[string]string{".obsidian/app.json": `{"trashOption":"local"}`})
	_, err = do1(t.Context(), g.app, r.with(n.State, yes))
	e := fault.Of(err)
	if text := fmt.Sprint(e.Message, e.Details); e.Code != fault.ReplayDrift || strings.Contains(text, g.home) || strings.Contains(text, "/Trash") {
		t.Errorf("%v", text)
	}
}

// A folder that has to be made is no file of the person's: one note is one file.
func TestTheTrashIsNotCountedAmongTheFiles(t *testing.T) {
	g := newGated(t)
	plant(t, g.dir, map[string]string{".obsidian/app.json": `{"trashOption":"local"}`})
	_, err := do1(t.Context(), g.app, request{tool: "delete_note", args: `{"path":"a.md"}`, reach: hitl.Reach{Modern: true, Forms: true}})
	n, ok := errors.AsType[*hitl.NeedsInput](err)
	if !ok {
		t.Fatal(err)
	}
	if strings.Contains(n.Form.Message, " files") || !strings.Contains(n.Form.Message, "-three") {
		t.Errorf("%s", n.Form.Message)
	}
}

// The text that a person was shown is kept as long as they can answer.
func TestAPreviewIsDroppedWithItsTime(t *testing.T) {
	g := newGated(t)
	g.ask(replace())
	s := g.store()
	for _, tt := range []struct {
		after time.Duration
		kept  bool
	}{{time.Hour, true}, {hitl.RequestLife, false}} {
		if err := s.Prune(t.Context(), state.Retention{Versions: 50, Age: 90 * 24 * time.Hour, Bytes: 1 << 30}, g.clock.Now().Add(tt.after)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(g.query("SELECT preview FROM requests"), "-three"); got != tt.kept {
			t.Errorf("after %v: kept is %t", tt.after, got)
		}
	}
}

// One approval is used once, however many take it at the same moment, in however
// many servers.
func TestOneApprovalIsUsedOnce(t *testing.T) {
	for way, prepare := range map[string]func(*gated) request{
		"state": func(g *gated) request { return replace().with(g.ask(replace()), yes) },
		"console": func(g *gated) request {
			r := replace()
			r.reach = hitl.Reach{}
			g.do(r)
			if err := g.approve(""); err != nil {
				g.t.Fatal(err)
			}
			return r
		},
		"token": func(g *gated) request {
			r := replace()
			r.reach = hitl.Reach{}
			g.do(r)
			if err := g.approve(token); err != nil {
				g.t.Fatal(err)
			}
			r.args = strings.Replace(r.args, "{", `{"elicit_token":"`+token+`",`, 1)
			return r
		},
	} {
		t.Run(way, func(t *testing.T) {
			g := newGated(t)
			servers := []*gated{g, {t: t, app: g.server(), dir: g.dir, home: g.home, clock: g.clock}}
			r := prepare(g)
			var wg sync.WaitGroup
			var ran atomic.Int32
			barrier := make(chan struct{})
			for i := range 40 {
				wg.Go(func() {
					<-barrier
					if servers[i%2].do(r) == "ran" {
						ran.Add(1)
					}
				})
			}
			close(barrier)
			wg.Wait()
			if n := g.query("SELECT count(*) FROM executions WHERE outcome = 'applied'"); n != "1" {
				t.Errorf("%s executions", n)
			}
			if n := g.query("SELECT count(*), sum(uses) FROM grants"); n != "1 1" {
				t.Errorf("grants: %s", n)
			}
			if content(t, g.dir, "a.md") != "new\n" {
				t.Error("nothing was done")
			}
			if n := g.query("SELECT count(*) FROM requests r JOIN grants g USING (request_id) JOIN executions e ON e.grant_id = g.grant_id WHERE r.status = 'used'"); n != "1" {
				t.Errorf("%s joins", n)
			}
		})
	}
}
