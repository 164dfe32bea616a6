package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/app"
	"vault-mcp/vault/change"
)

// event is a line of events.jsonl.
type event struct {
	SpecVersion, ID, Source, Type, Time string
	Data                                map[string]any
}

// events are those that were kept, and the text that they were kept as.
func (g *gated) events() (list []event, text string) {
	g.t.Helper()
	files, _ := filepath.Glob(filepath.Join(g.home, ".local/state/vault-mcp/*/events.jsonl"))
	if len(files) != 1 {
		g.t.Fatalf("%q", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		g.t.Errorf("%v, %v", info, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		g.t.Fatal(err)
	}
	ids := map[string]bool{}
	for line := range bytes.Lines(raw) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			g.t.Fatalf("%s: %v", line, err)
		}
		if _, err := time.Parse(time.RFC3339Nano, e.Time); err != nil || e.SpecVersion != "1.0" || e.Source == "" || e.ID == "" || ids[e.ID] {
			g.t.Errorf("no CloudEvents 1.0: %s", line)
		}
		ids[e.ID] = true
		list = append(list, e)
	}
	return list, string(raw)
}

// Everything that can happen at the gate is told apart, and none of it shows what
// a note, a form or a person says.
func TestEventsTellWhatHappenedAndNothingElse(t *testing.T) {
	g := newGated(t, "events: {spool: true}\ngovernor: {max_response_bytes: 10000}\n")
	const (
		inNote, inForm, inArgs = "PLANTED-NOTE", "PLANTED-FORM", "PLANTED-ARGUMENT"
		token                  = "PLANTED-TOKEN"
	)
	secretYes := `{"action":"accept","content":{"approve":true,"why":"` + inForm + `","url":"https://x/?q=` + inForm + `"}}`
	plant(t, g.dir, map[string]string{"a.md": original + inNote + "\n", "large.md": strings.Repeat(inNote, 4000)})
	call := replace()
	call.args = `{"path":"a.md","mode":"overwrite","content":"` + inArgs + `\n"}`
	expect := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	// Drift, and then a yes whose state is used twice.
	s := g.ask(call)
	plant(t, g.dir, map[string]string{"a.md": original + inNote + " again\n"})
	expect(g.do(call.with(s, secretYes)), "replay_drift")
	s = g.ask(call)
	expect(g.do(call.with(s, secretYes)), "ran")
	expect(g.do(call.with(s, secretYes)), "used")
	// No; nothing; nothing at once; too late.
	plant(t, g.dir, map[string]string{"a.md": original + "1\n"})
	expect(g.do(call.with(g.ask(call), cancel)), "approval_not_obtained")
	_, state := g.asked(call)
	expect(g.do(call.with(state, cancel)), "approval_not_obtained") // no time has passed
	s = g.ask(call)
	g.clock.pass(time.Hour)
	expect(g.do(call.with(s, secretYes)), "expired")
	expect(g.do(call.with(g.ask(call), no)), "approval_declined")
	// A person at a console, and a token.
	store := g.store()
	list, err := store.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%d, %v", len(list), err)
	}
	_, err = store.Requests().Approve(t.Context(), list[0].ID, hitl.Approval{
		Route: hitl.RouteConsole, By: "kim", TokenHash: hitl.TokenHash(token), Life: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	with := call
	with.args = `{"path":"a.md","mode":"overwrite","content":"` + inArgs + `\n","elicit_token":"` + token + `"}`
	expect(g.do(with), "ran")
	expect(g.do(request{tool: "read_note", args: `{"path":"large.md"}`}), "overflow")

	events, text := g.events()
	for _, planted := range []string{inNote, inForm, inArgs, token, "https:", "a.md", "large.md"} {
		if i := strings.Index(text, planted); i >= 0 {
			t.Errorf("%s is in the events: %s", planted, text[max(0, i-200):i+20])
		}
	}
	got := counted(events)
	for name, want := range map[string]int{
		"vault.elicit.drift": 1, "vault.elicit.consumed": 2, "vault.elicit.answered accept": 1, "vault.elicit.answered replayed": 1,
		"vault.elicit.answered cancel": 1, "vault.elicit.answered unattended": 1, "vault.elicit.answered expired": 1,
		"vault.elicit.answered decline": 1, "vault.governor.overflow": 1,
	} {
		if got[name] != want {
			t.Errorf("%s: %d times, want %d", name, got[name], want)
		}
	}
	if got["vault.elicit.requested"] == 0 {
		t.Error("no request")
	}
	for _, e := range events {
		switch e.Data["outcome"] {
		case "accept", "decline", "cancel", "unattended":
			if e.Data["route"] != "state" || e.Data["request_id"] == nil {
				t.Errorf("%+v", e.Data)
			}
		}
	}
	var health struct{ Counters map[string]int }
	if err := call1(t, g, request{tool: "server_health", args: `{}`}, &health); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"accept", "decline", "cancel", "unattended", "drift", "expired", "replayed"} {
		if n := health.Counters["elicit_"+name+"_total"]; n != 1 {
			t.Errorf("%s: %d", name, n)
		}
	}
	if health.Counters["elicit_consumed_total"] != 2 {
		t.Errorf("%v", health.Counters)
	}
}

// counted are how often there is each event, by its type and outcome.
func counted(events []event) map[string]int {
	n := map[string]int{}
	for _, e := range events {
		outcome, _ := e.Data["outcome"].(string)
		n[strings.TrimSpace(e.Type+" "+outcome)]++
	}
	return n
}

// A call that nobody answers, and an approval that is given back because a process
// has died before the first byte, are told as what they are.
func TestEventsTellATimeoutAndARelease(t *testing.T) {
	g := newGated(t)
	g.app = start(t, g.home, fmt.Sprintf("vaults: [{path: %q}]\nevents: {spool: true}\n", g.dir), func(o *app.Options) {
		o.Clock, o.Patience = g.clock.Now, 50*time.Millisecond
	})
	call := replace()
	call.reach = form(yes, time.Hour)
	if got := g.do(call); got != "elicit_required approval_not_obtained" {
		t.Fatal(got)
	}
	title := byTitle("read_note", "Twin")
	title.reach = form(yes, time.Hour)
	plant(t, g.dir, map[string]string{"P/Twin.md": "p\n", "Q/Twin.md": "q\n"})
	if got := g.do(title); got != "path_ambiguous <nil>" {
		t.Fatal(got)
	}
	id := g.query("SELECT request_id FROM requests WHERE tool = 'write_note'")
	s := g.store()
	gr, err := s.Requests().Approve(t.Context(), id, hitl.Approval{Route: hitl.RouteConsole, By: "ana", Life: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := s.Requests().Find(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	died := &change.Record{
		ID: change.NewID(), Tool: r.Tool, Caller: r.Caller, Vault: r.Vault, Call: r.Call, Began: g.clock.Now(),
		Permit: &change.Permit{Grant: gr.ID, Vault: r.Vault, State: r.State},
		Edits:  []change.Edit{change.NewPut("a.md", []byte(original), []byte("new\n"))},
	}
	if err := s.Journal().Begin(t.Context(), died); err != nil {
		t.Fatal(err)
	}
	if got := g.do(request{tool: "append_note", args: `{"path":"b.md","content":"more\n"}`}); got != "ran" {
		t.Fatal(got)
	}
	call.reach = hitl.Reach{}
	if got := g.do(call); got != "ran" { // by the approval that was given back
		t.Fatal(got)
	}
	if got := g.query("SELECT attempt, outcome FROM executions WHERE grant_id = ? ORDER BY attempt", gr.ID); got != "1 not_applied\n2 applied" {
		t.Errorf("executions: %q", got)
	}
	events, _ := g.events()
	got := counted(events)
	for name, want := range map[string]int{"vault.elicit.requested": 2, "vault.elicit.answered timeout": 2, "vault.elicit.released": 1, "vault.elicit.consumed": 1} {
		if got[name] != want {
			t.Errorf("%s: %d times, want %d", name, got[name], want)
		}
	}
	for _, e := range events {
		switch {
		case e.Type == "vault.elicit.released" && (e.Data["change_id"] != died.ID || e.Data["vault"] != "main"):
			t.Errorf("%+v", e.Data)
		case e.Data["outcome"] == "timeout" && (e.Data["request_id"] == nil || e.Data["route"] != nil):
			t.Errorf("%+v", e.Data) // nothing has come by any route
		}
	}
}

// asked makes a call that is asked about, with no time passing.
func (g *gated) asked(r request) (what, state string) {
	g.t.Helper()
	_, err := do1(g.t.Context(), g.app, r)
	n, ok := err.(*hitl.NeedsInput)
	if !ok {
		g.t.Fatal(err)
	}
	return "asked", n.State
}

func call1(t *testing.T, g *gated, r request, out any) error {
	t.Helper()
	res, err := do1(t.Context(), g.app, r)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(res.Structured)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

// One query tells who approved a write, for an agent as for the person.
func TestAWriteTellsWhoApprovedIt(t *testing.T) {
	g := newGated(t)
	call := replace()
	if got := g.do(call.with(g.ask(call), yes)); got != "ran" {
		t.Fatal(got)
	}
	if got := g.do(request{tool: "append_note", args: `{"path":"b.md","content":"more\n"}`}); got != "ran" {
		t.Fatal(got)
	}
	rows, err := g.store().Audit(t.Context(), state.AuditFilter{Path: "a.md", Outcome: "applied"})
	if err != nil || len(rows) != 1 || rows[0].Approval == nil || rows[0].Approval.By != hitl.Client || rows[0].Vault != "main" {
		t.Fatalf("%+v, %v", rows, err)
	}
	var list struct {
		Changes []struct {
			ID, Tool string
			Approval *struct {
				Request string `json:"request_id"`
				Route   string
				By      string `json:"attested_by"`
				At      string
			}
		}
	}
	if err := call1(t, g, request{tool: "list_changes", args: `{}`}, &list); err != nil || len(list.Changes) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list.Changes[0].Approval != nil {
		t.Errorf("nobody had to approve %+v", list.Changes[0])
	}
	a := list.Changes[1].Approval
	if a == nil || a.Request != rows[0].Approval.Request || a.Route != "state" || a.By != "client" || a.At == "" {
		t.Errorf("%+v", a)
	}
	if r, err := g.store().Verify(t.Context()); err != nil || len(r.Faults) > 0 || r.Rows != 6 {
		t.Errorf("%+v, %v", r, err)
	}
}

// What the gate has refused is told with its reason.
func TestRefusalsOfTheGateAreAudited(t *testing.T) {
	g := newGated(t)
	call := replace()
	s := g.ask(call)
	g.do(call.with(s, no))
	g.do(call.with(s+"x", yes))
	bad := replace()
	bad.args = `{"path":"a.md","mode":"overwrite","content":"new\n","elicit_token":"none of ours"}`
	g.do(bad)
	rows, err := g.store().Audit(t.Context(), state.AuditFilter{Outcome: "refused"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		if r.Call == "" || r.Tool != "write_note" || r.Caller != "stdio" {
			t.Errorf("%+v", r)
		}
		got = append(got, r.Code+" "+r.Reason)
	}
	want := "elicit_invalid unknown, invalid_params altered, elicit_required approval_declined"
	if strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
