package app_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/app"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/change"
)

// Whatever of a call is not as the person saw it, the state of its form is refused
// and nothing is spent.
func TestAStateHoldsForOneCallAlone(t *testing.T) {
	other := func(yaml string) func(*gated) *app.App {
		return func(g *gated) *app.App {
			return start(g.t, g.home, yaml, func(o *app.Options) { o.Clock = g.clock.Now })
		}
	}
	for _, tt := range []struct {
		what, want string
		alter      func(*gated, *request)
		server     func(*gated) *app.App
	}{
		{what: "another tool", want: "-32602 foreign", alter: func(_ *gated, r *request) { r.tool, r.args = "delete_note", `{"path":"a.md"}` }},
		{what: "another argument", want: "-32602 foreign", alter: func(_ *gated, r *request) { r.args = strings.Replace(r.args, "new", "newer", 1) }},
		{what: "one argument more", want: "-32602 foreign", alter: func(_ *gated, r *request) {
			r.args = strings.Replace(r.args, "{", `{"prev_hash":"`+strings.Repeat("a", 64)+`",`, 1)
		}},
		{what: "another caller", want: "-32602 foreign", alter: func(_ *gated, r *request) { r.caller = "cli" }},
		{what: "another vault", want: "-32602 foreign", server: func(g *gated) *app.App {
			return other(fmt.Sprintf("vaults: [{path: %q, id: other}]\n", g.dir))(g)
		}},
		{what: "another state folder", want: "elicit_required expired", server: func(g *gated) *app.App {
			return start(g.t, g.t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", g.dir), func(o *app.Options) { o.Clock = g.clock.Now })
		}},
		{what: "another content before", want: "replay_drift drift", alter: func(g *gated, _ *request) { g.write("a.md", "else\n") }},
		{what: "no note before", want: "replay_drift drift", alter: func(g *gated, _ *request) { g.remove("a.md") }},
		{what: "after its time", want: "elicit_required expired", alter: func(g *gated, _ *request) { g.clock.pass(301 * time.Second) }},
		{what: "a clock that is set back later", want: "elicit_required expired", alter: func(g *gated, _ *request) {
			g.clock.pass(301 * time.Second)
			g.do(request{tool: "delete_note", args: `{"path":"b.md"}`, reach: hitl.Reach{Modern: true, Forms: true}}) // keeps the time
			g.clock.pass(-300 * time.Second)
		}},
		{what: "an older protocol", want: "elicit_required approval_required", alter: func(_ *gated, r *request) { r.reach.Modern, r.reach.Forms = false, false }},
		{what: "the same call, its keys in another order", want: "ran", alter: func(_ *gated, r *request) {
			r.args = `{"mode":"overwrite","content":"new\n","path":"a.md","idempotency_key":"k"}`
		}},
		{what: "another server of the state folder", want: "ran", server: func(g *gated) *app.App { return g.server() }},
	} {
		t.Run(tt.what, func(t *testing.T) {
			g := newGated(t)
			r := replace()
			r = r.with(g.ask(r), yes)
			if tt.alter != nil {
				tt.alter(g, &r)
			}
			if tt.server != nil {
				g.app = tt.server(g)
			}
			if got := g.do(r); got != tt.want {
				t.Errorf("%q, not %q", got, tt.want)
			}
			want := "0"
			if tt.want == "ran" {
				want = "1"
			}
			if got := g.query("SELECT count(*) FROM grants WHERE uses > 0"); got != want {
				t.Errorf("%s grants are spent", got)
			}
			if want == "0" && g.query("SELECT count(*) FROM executions") != "0" {
				t.Error("something was done")
			}
		})
	}
}

// A state with one bit flipped, wherever, is no state.
func TestAStateWithOneBitFlippedIsRefused(t *testing.T) {
	g := newGated(t)
	s := g.ask(replace())
	for i := range len(s) {
		for bit := range 8 {
			b := []byte(s)
			b[i] ^= 1 << bit
			got := g.do(replace().with(string(b), yes))
			if got != "-32602 altered" && got != "-32602 foreign" {
				t.Fatalf("byte %d, bit %d: %q", i, bit, got)
			}
		}
	}
	for _, altered := range []string{".", "x", s + "x", s[:len(s)-1], "." + s, s + "." + s, strings.Repeat("a", 10_000)} {
		if got := g.do(replace().with(altered, yes)); got != "-32602 altered" {
			t.Errorf("%.40q: %q", altered, got)
		}
	}
	if got := g.query("SELECT count(*) FROM grants"); got != "0" {
		t.Errorf("%s grants", got)
	}
	if got := g.do(replace().with(s, yes)); got != "ran" {
		t.Errorf("the state itself: %q", got)
	}
}

// What a state says of itself is signed: the phase, the era and the key too.
func TestAStateThatSaysSomethingElseIsRefused(t *testing.T) {
	g := newGated(t)
	s := g.ask(replace())
	body, sig, _ := strings.Cut(s, ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	if len(fields) < 14 {
		t.Errorf("only %d fields", len(fields))
	}
	for name, value := range fields {
		forged := map[string]any{}
		for k, v := range fields {
			forged[k] = v
		}
		switch v := value.(type) {
		case string:
			forged[name] = v + "x"
		case float64:
			forged[name] = v + 1
		}
		raw, _ := json.Marshal(forged)
		if got := g.do(replace().with(base64.RawURLEncoding.EncodeToString(raw)+"."+sig, yes)); got != "-32602 altered" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if strings.Contains(string(raw), "three") || strings.Contains(string(raw), string(fingerprint.OfContent([]byte(original)).String())) {
		t.Errorf("the state tells what is in the note: %s", raw)
	}
}

// Every fault of a token has its reason, and spends nothing.
func TestATokenHoldsForOneCallAlone(t *testing.T) {
	with := func(args string) request {
		return request{tool: "write_note", args: strings.Replace(args, "{", `{"elicit_token":"`+token+`",`, 1)}
	}
	call := with(replace().args)
	for _, tt := range []struct {
		what, want string
		alter      func(*gated, *request)
	}{
		{"the call itself", "ran", nil},
		{"unknown", "elicit_invalid unknown", func(_ *gated, r *request) { r.args = strings.Replace(r.args, "0011", "0012", 1) }},
		{"in capitals", "elicit_invalid unknown", func(_ *gated, r *request) { r.args = strings.Replace(r.args, token, strings.ToUpper(token), 1) }},
		{"another tool", "elicit_invalid foreign", func(_ *gated, r *request) {
			r.tool, r.args = "delete_note", `{"path":"a.md","elicit_token":"`+token+`"}`
		}},
		{"another argument", "elicit_invalid foreign", func(_ *gated, r *request) { r.args = strings.Replace(r.args, "new", "newer", 1) }},
		{"another caller", "elicit_invalid foreign", func(_ *gated, r *request) { r.caller = "cli" }},
		{"expired", "elicit_invalid expired", func(g *gated, _ *request) { g.clock.pass(300 * time.Second) }},
		{"used", "elicit_invalid used", func(g *gated, _ *request) { g.do(call); g.write("a.md", original) }},
		{"another state", "replay_drift drift", func(g *gated, _ *request) { g.write("a.md", "else\n") }},
		{"superseded", "elicit_invalid superseded", func(g *gated, _ *request) {
			g.write("a.md", "else\n")
			g.do(call)
			g.write("a.md", original)
		}},
		{"declined since", "elicit_required approval_declined", func(g *gated, _ *request) {
			if err := g.store().Requests().End(g.t.Context(), g.latest(), hitl.Declined, hitl.RouteConsole, "ana", hitl.Approved); err != nil {
				g.t.Fatal(err)
			}
		}},
		{"replaced by another", "elicit_invalid unknown", func(g *gated, _ *request) {
			if err := g.approve(strings.Repeat("f", 32)); err != nil {
				g.t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			g := newGated(t)
			g.do(replace())
			if err := g.approve(token); err != nil {
				t.Fatal(err)
			}
			r := call
			if tt.alter != nil {
				tt.alter(g, &r)
			}
			before := g.query("SELECT grant_id, uses FROM grants")
			ran := g.query("SELECT count(*) FROM executions")
			if got := g.do(r); got != tt.want {
				t.Errorf("%q, not %q", got, tt.want)
			}
			if after := g.query("SELECT grant_id, uses FROM grants"); tt.want != "ran" && after != before {
				t.Errorf("grants: %s, then %s", before, after)
			}
			if now := g.query("SELECT count(*) FROM executions"); (tt.want == "ran") != (now != ran) {
				t.Errorf("%s executions, then %s", ran, now)
			}
			if strings.Contains(g.query("SELECT * FROM grants"), token) {
				t.Error("the token itself is kept")
			}
		})
	}
}

// A grant is spent by a record that equals it in every field, and by no other.
func TestAGrantIsSpentByWhatItIsBoundToAlone(t *testing.T) {
	for _, tt := range []struct {
		what  string
		alter func(*change.Record)
	}{
		{"vault", func(r *change.Record) { r.Permit.Vault = "other" }},
		{"tool", func(r *change.Record) { r.Tool = "delete_note" }},
		{"caller", func(r *change.Record) { r.Caller = "cli" }},
		{"call", func(r *change.Record) { r.Call = "0" }},
		{"state", func(r *change.Record) { r.Permit.State += "x" }},
		{"choice", func(r *change.Record) { r.Permit.Choice = "a.md" }},
		{"grant", func(r *change.Record) { r.Permit.Grant = "0" }},
		{"nothing", func(*change.Record) {}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			g := newGated(t)
			g.do(replace())
			if err := g.approve(""); err != nil {
				t.Fatal(err)
			}
			s := g.store()
			req, gr, err := s.Requests().Find(t.Context(), g.latest())
			if err != nil {
				t.Fatal(err)
			}
			r := &change.Record{
				ID: change.NewID(), Tool: req.Tool, Caller: req.Caller, Call: req.Call, Began: g.clock.Now(),
				Permit: &change.Permit{Grant: gr.ID, Vault: req.Vault, State: req.State},
			}
			tt.alter(r)
			if err := s.Journal().Begin(t.Context(), r); (tt.what == "nothing") != (err == nil) || err != nil && !errors.Is(err, change.ErrNoGrant) {
				t.Errorf("%v", err)
			}
			want := "0 approved 0"
			if tt.what == "nothing" {
				want = "1 used 1"
			}
			if got := g.query("SELECT g.uses, r.status, (SELECT count(*) FROM executions) FROM grants g JOIN requests r USING (request_id)"); got != want {
				t.Errorf("%q, not %q", got, want)
			}
		})
	}
}

// remove takes a file of the vault away.
func (g *gated) remove(path string) {
	g.t.Helper()
	if err := os.RemoveAll(filepath.Join(g.dir, path)); err != nil {
		g.t.Fatal(err)
	}
}

// A call that found no request while the same call was approved beside it takes
// that approval for its own, and does not take it back.
func TestAnApprovalIsNotTakenBackByTheSameCall(t *testing.T) {
	g := newGated(t)
	g.do(replace())
	if err := g.approve(""); err != nil {
		t.Fatal(err)
	}
	q := g.store().Requests()
	r, _, err := q.Find(t.Context(), g.latest())
	if err != nil {
		t.Fatal(err)
	}
	again := &hitl.Request{Bound: r.Bound, Summary: r.Summary}
	if err := q.Raise(t.Context(), again); err != nil || again.ID != r.ID || again.Status != hitl.Approved {
		t.Errorf("%+v, %v", again, err)
	}
	if got := g.do(replace()); got != "ran" {
		t.Errorf("%q", got)
	}
	// One whose time is over is not taken.
	g.write("a.md", original)
	g.do(replace())
	if err := g.approve(""); err != nil {
		t.Fatal(err)
	}
	g.clock.pass(301 * time.Second)
	if got := g.do(replace()); got != "asked" || g.statuses() != "used expired open" {
		t.Errorf("%q, %q", got, g.statuses())
	}
}
