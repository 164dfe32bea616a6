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
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/racing"
	"vault-mcp/internal/secrets"
	"vault-mcp/vault/change"
)

// Whatever of a call is not as the person saw it, the state of its form is refused
// and nothing is spent.
func TestAStateHoldsForOneCallAlone(t *testing.T) {
	racing.Skips(t)
	other := func(yaml string) func(*gated) *app.App {
		return func(g *gated) *app.App {
			return start(g.t, g.home, yaml, func(o *app.Options) { o.Clock = g.clock.Now })
		}
	}
	for _, tt := range []struct {
		what, want string
		call       request // replace() where it is not set
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
		{what: "another result", want: "replay_drift drift", call: request{tool: "delete_note", args: `{"path":"a.md"}`, reach: replace().reach}, alter: func(g *gated, _ *request) {
			plant(g.t, g.dir, map[string]string{".obsidian/app.json": `{"trashOption":"none"}`})
		}},
		{what: "a request that says another state", want: "-32602 foreign", alter: func(g *gated, _ *request) {
			g.query("UPDATE requests SET state_fp = state_fp || 'x' RETURNING 1")
		}},
		{what: "a request with a candidate", want: "-32602 foreign", alter: func(g *gated, _ *request) {
			g.query(`UPDATE requests SET candidates = '[{"path":"b.md","state":"x"}]' RETURNING 1`)
		}},
		{what: "a request that is gone", want: "elicit_required expired", alter: func(g *gated, _ *request) { g.query("DELETE FROM requests RETURNING 1") }},
		{what: "after its key was rotated away", want: "elicit_required expired", alter: func(g *gated, _ *request) { g.rotate(17) }},
		{what: "after a rotation of the keys", want: "ran", alter: func(g *gated, _ *request) { g.rotate(1) }},
		{what: "at the last moment", want: "ran", alter: func(g *gated, _ *request) { g.clock.pass(299*time.Second - time.Millisecond) }},
		{what: "a moment later", want: "elicit_required expired", alter: func(g *gated, _ *request) { g.clock.pass(299 * time.Second) }},
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
			r := tt.call
			if r.tool == "" {
				r = replace()
			}
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
			if racing.Thins(i + bit) {
				continue
			}
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

// ring is the key ring of the state folder.
func (g *gated) ring() (*secrets.Ring, string) {
	g.t.Helper()
	files, _ := filepath.Glob(filepath.Join(g.home, ".local/state/vault-mcp/*/state.db"))
	if len(files) != 1 {
		g.t.Fatalf("%q", files)
	}
	dir := filepath.Dir(files[0])
	ring, err := secrets.Open(dir)
	if err != nil {
		g.t.Fatal(err)
	}
	return ring, dir
}

// rotate gives the ring so many new keys, as vault-mcp secrets rotate does, and
// takes a server that knows them.
func (g *gated) rotate(times int) {
	g.t.Helper()
	_, dir := g.ring()
	for range times {
		if _, _, err := secrets.Rotate(dir); err != nil {
			g.t.Fatal(err)
		}
	}
	g.app = g.server()
}

// A state that is rightly signed, and says something else than the request or the
// call, is none of this call: the signature alone is not what binds it.
func TestARightlySignedStateOfSomethingElseIsRefused(t *testing.T) {
	for _, tt := range []struct {
		field string
		value any
		want  string
	}{
		{"v", 2, "elicit_required expired"},
		{"kid", "00000000", "-32602 altered"},
		{"rid", strings.Repeat("0", 32), "elicit_required expired"},
		{"caller", "cli", "-32602 foreign"},
		{"vault", "other", "-32602 foreign"},
		{"method", "tools/list", "-32602 foreign"},
		{"tool", "delete_note", "-32602 foreign"},
		{"call", strings.Repeat("0", 32), "-32602 foreign"},
		{"state", "x", "-32602 foreign"},
		{"candidates", strings.Repeat("0", 32), "-32602 foreign"},
		{"phase", "choose", "-32602 foreign"},
		{"phase", "else", "-32602 foreign"},
		{"era", "2025-11-25", "-32602 foreign"},
		{"exp", 1, "elicit_required expired"},
		{"", nil, "ran"},
	} {
		t.Run(fmt.Sprint(tt.field, " ", tt.value), func(t *testing.T) {
			g := newGated(t)
			body, _, _ := strings.Cut(g.ask(replace()), ".")
			raw, err := base64.RawURLEncoding.DecodeString(body)
			fields := map[string]any{}
			if err != nil || json.Unmarshal(raw, &fields) != nil {
				t.Fatal(err, string(raw))
			}
			if _, there := fields[tt.field]; !there && tt.field != "" {
				t.Fatalf("no such field in %s", raw)
			}
			if tt.field != "" {
				fields[tt.field] = tt.value
			}
			if raw, err = json.Marshal(fields); err != nil {
				t.Fatal(err)
			}
			body = base64.RawURLEncoding.EncodeToString(raw)
			ring, _ := g.ring()
			if got := g.do(replace().with(body+"."+ring.Sign("request state", []byte(body)), yes)); got != tt.want {
				t.Errorf("%q, not %q", got, tt.want)
			}
			if left := g.statuses() + " " + g.query("SELECT count(*) FROM executions"); tt.want != "ran" && left != "open 0" {
				t.Errorf("what is left: %s", left)
			}
		})
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
		{"another vault", "elicit_invalid foreign", func(g *gated, _ *request) {
			g.app = start(g.t, g.home, fmt.Sprintf("vaults: [{path: %q, id: other}]\n", g.dir), func(o *app.Options) { o.Clock = g.clock.Now })
		}},
		{"another result", "replay_drift drift", func(g *gated, r *request) {
			*r = request{tool: "delete_note", args: `{"path":"a.md","elicit_token":"` + strings.Repeat("e", 32) + `"}`}
			g.do(request{tool: r.tool, args: `{"path":"a.md"}`})
			if err := g.approve(strings.Repeat("e", 32)); err != nil {
				g.t.Fatal(err)
			}
			plant(g.t, g.dir, map[string]string{".obsidian/app.json": `{"trashOption":"none"}`})
		}},
		{"abandoned", "elicit_invalid abandoned", func(g *gated, _ *request) {
			if err := g.store().Requests().End(g.t.Context(), g.latest(), hitl.Abandoned, hitl.RouteConsole, "ana", hitl.Approved); err != nil {
				g.t.Fatal(err)
			}
		}},
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
			before := g.query("SELECT grant_id, uses FROM grants ORDER BY 1")
			ran := g.query("SELECT count(*) FROM executions")
			if got := g.do(r); got != tt.want {
				t.Errorf("%q, not %q", got, tt.want)
			}
			if after := g.query("SELECT grant_id, uses FROM grants ORDER BY 1"); tt.want != "ran" && after != before {
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
		{"time", func(*change.Record) {}},
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
			if tt.alter(r); tt.what == "time" {
				g.clock.pass(300 * time.Second)
			}
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

// A call whose approval is used by another one while it is on its way, so that it
// finds its note gone, is told what was done by it.
func TestACallThatIsOvertakenIsToldSo(t *testing.T) {
	for way, redeem := range map[string]func(*gated, request) request{
		"state": func(g *gated, r request) request { return r.with(g.ask(r), yes) },
		"token": func(g *gated, r request) request {
			g.do(r)
			if err := g.approve(token); err != nil {
				g.t.Fatal(err)
			}
			return carrying(r)
		},
	} {
		t.Run(way, func(t *testing.T) {
			g := newGated(t)
			r := redeem(g, request{tool: "delete_note", args: `{"path":"a.md"}`, reach: hitl.Reach{Modern: true, Forms: true}})
			c, _, err := g.app.Dispatcher.Explain(t.Context(), dispatch.Request{
				Caller: auth.Caller{ID: "stdio", Scopes: auth.All}, Tool: r.tool, Args: json.RawMessage(r.args), Reach: r.reach,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := g.app.Answered(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if got := g.do(r); got != "ran" {
				t.Fatal(got)
			}
			e := fault.Of(g.app.Lost(t.Context(), c, fault.New(fault.NoteNotFound, "There is no note.")))
			if e.Code != fault.ElicitInvalid || e.Details["reason"] != "used" || e.Details["change_id"] != g.query("SELECT execution_id FROM executions") {
				t.Errorf("%v %v", e, e.Details)
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
