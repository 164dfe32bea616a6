package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/fault"
)

// asking is a gated vault under folder rules.
func asking(t *testing.T, rules string, files map[string]string) *gated {
	t.Helper()
	g := &gated{t: t, dir: filepath.Join(t.TempDir(), "vault"), home: t.TempDir(), clock: &clock{now: time.Now()}}
	plant(t, g.dir, files)
	g.app = g.ruled(rules)
	return g
}

const (
	askToRead   = `[{glob: "Private/**", verbs: {read: ask}}]`
	askToChange = `[{glob: "Work/**", verbs: {write: ask, delete: ask}}]`
)

var private = map[string]string{
	"a.md": "open, see [[secret]]\n", "Private/secret.md": "# Plan\nneedle here\n", "Private/Deep/other.md": "needle too\n", "Work/w.md": "one\ntwo\n",
}

func reads(args string) request {
	return request{tool: "read_note", args: args, reach: hitl.Reach{Modern: true, Forms: true}}
}

// A note under ask is read once for one approval, and the answer is what the
// person was asked about.
func TestAnApprovalToReadIsGoodForOneRead(t *testing.T) {
	g := asking(t, askToRead, private)
	r := reads(`{"path":"Private/secret.md"}`)
	s := g.ask(r)
	res, err := do1(t.Context(), g.app, r.with(s, yes))
	if err != nil || !strings.Contains(res.Text, "needle here") {
		t.Fatalf("%v, %v", res, err)
	}
	if got := g.do(r.with(s, yes)); got != "elicit_invalid used" {
		t.Errorf("the second read: %s", got)
	}
	if got := g.query("SELECT outcome, tool FROM executions WHERE grant_id IS NOT NULL"); got != "applied read_note" {
		t.Errorf("executions %q", got)
	}
	if got := g.query("SELECT sum(uses) FROM grants"); got != "1" {
		t.Errorf("%s uses", got)
	}
}

// One approval, redeemed by many calls at the same time, is one read.
func TestAnApprovalToReadIsNotSharedByCallsAtOnce(t *testing.T) {
	g := asking(t, askToRead, private)
	r := reads(`{"path":"Private/secret"}`)
	s := g.ask(r)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ran := 0
	for range 20 {
		wg.Go(func() {
			if _, err := do1(t.Context(), g.app, r.with(s, yes)); err == nil {
				mu.Lock()
				ran++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if ran != 1 {
		t.Errorf("%d reads", ran)
	}
}

// What a note became after the person was asked is not read by the approval.
func TestAnApprovalToReadIsForTheContentThatItWasAbout(t *testing.T) {
	for name, change := range map[string]func(g *gated){
		"other content": func(g *gated) { g.write("Private/secret.md", "changed\n") },
		"gone": func(g *gated) {
			if err := os.Remove(filepath.Join(g.dir, "Private/secret.md")); err != nil {
				g.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := asking(t, askToRead, private)
			r := reads(`{"path":"Private/secret.md"}`)
			s := g.ask(r)
			change(g)
			if got := g.do(r.with(s, yes)); got != "replay_drift drift" {
				t.Error(got)
			}
			if got := g.query("SELECT coalesce(sum(uses), 0) FROM grants"); got != "0" {
				t.Errorf("%s uses", got)
			}
		})
	}
	t.Run("a folder with another note", func(t *testing.T) {
		g := asking(t, askToRead, private)
		r := request{tool: "list_notes", args: `{"folder":"Private"}`, reach: hitl.Reach{Modern: true, Forms: true}}
		s := g.ask(r)
		g.write("Private/new.md", "new\n")
		if got := g.do(r.with(s, yes)); got != "replay_drift drift" {
			t.Error(got)
		}
	})
}

// An approved folder opens what is in it, for that call alone.
func TestAnApprovedFolderIsListedAndSearchedOnce(t *testing.T) {
	g := asking(t, askToRead, private)
	for _, r := range []request{
		{tool: "list_notes", args: `{"folder":"Private"}`},
		{tool: "search_text", args: `{"query":"needle","root":"Private"}`},
		{tool: "search_vault", args: `{"query":"needle","root":"Private"}`},
		{tool: "bundle_folder", args: `{"root":"Private"}`},
	} {
		r.reach = hitl.Reach{Modern: true, Forms: true}
		res, err := do1(t.Context(), g.app, r.with(g.ask(r), yes))
		if err != nil || !strings.Contains(res.Text, "secret.md") || !strings.Contains(res.Text, "other.md") {
			t.Errorf("%s: %v, %v", r.tool, res, err)
		}
	}
	res, err := do(t.Context(), g.app, "search_text", `{"query":"needle"}`)
	if err != nil || strings.Contains(res.Text, "secret") {
		t.Errorf("in a call over the whole vault: %v, %v", res, err)
	}
}

// ids are what differs between any two requests.
var ids = regexp.MustCompile(`[0-9a-f]{16,}|[0-9a-f-]{36}|"state_fp":"[^"]*"|--state-fp \S+`)

// Before a person has approved, nothing tells whether a path under ask exists, nor
// what is in it: not the error, not the form, for reads and changes and dry runs.
func TestNothingTellsWhatIsUnderAskBeforeItIsApproved(t *testing.T) {
	empty := map[string]string{}
	for p, text := range private {
		if !strings.HasPrefix(p, "Private/") {
			empty[p] = text
		}
	}
	empty["Private/else.md"] = "x\n"
	full, without := asking(t, askToRead, private), asking(t, askToRead, empty)
	answer := func(g *gated, tool, args string, forms bool) string {
		_, err := do1(t.Context(), g.app, request{tool: tool, args: args, reach: hitl.Reach{Modern: forms, Forms: forms}})
		if n, ok := errors.AsType[*hitl.NeedsInput](err); ok {
			return n.Form.Message
		}
		if err == nil {
			t.Errorf("%s %s: answered", tool, args)
			return ""
		}
		e := fault.Of(err)
		b, _ := json.Marshal(e.Details)
		return ids.ReplaceAllString(fmt.Sprint(e.Code, e.Message, string(b), e.Recovery), "ID")
	}
	for _, c := range [][2]string{
		{"read_note", `{"path":"Private/secret.md"}`}, {"read_note", `{"path":"private/SECRET"}`}, {"read_notes", `{"paths":["Private/secret.md","a.md","Private/absent"]}`},
		{"note_exists", `{"path":"Private/secret"}`}, {"read_section", `{"path":"Private/secret.md","heading":["Plan"]}`}, {"get_outgoing_links", `{"path":"Private/secret.md"}`},
		{"get_backlinks", `{"path":"Private/secret.md"}`}, {"list_notes", `{"folder":"Private/Deep"}`}, {"read_frontmatter", `{"path":"Private/secret.md"}`},
		{"patch_note", `{"path":"Private/secret.md","operation":"append","target_heading":["Plan"],"content":"x"}`}, {"patch_note", `{"path":"Private/secret.md","operation":"append","target_heading":["Plan"],"content":"x","dry_run":true}`},
		{"delete_note", `{"path":"Private/secret.md"}`}, {"move_note", `{"from":"Private/secret.md","to":"b.md"}`}, {"copy_note", `{"from":"Private/secret.md","to":"b.md"}`},
		{"add_tag", `{"path":"Private/secret.md","tag":"x"}`}, {"snapshot_note", `{"path":"Private/secret.md"}`}, {"list_snapshots", `{"path":"Private/secret.md"}`},
		{"get_attachment", `{"path":"Private/secret.md"}`},
	} {
		for _, forms := range []bool{true, false} {
			a, b := answer(full, c[0], c[1], forms), answer(without, c[0], c[1], forms)
			if a != b {
				t.Errorf("%s %s tells them apart:\n%s\n%s", c[0], c[1], a, b)
			}
			if strings.Contains(a, "needle") || !strings.Contains(a, "folder rules want a person") {
				t.Errorf("%s %s: %s", c[0], c[1], a)
			}
		}
	}
}

// A missing note under ask is missing for the caller once a person let it look.
func TestAMissingNoteUnderAskIsToldAfterTheApproval(t *testing.T) {
	g := asking(t, askToRead, private)
	r := reads(`{"path":"Private/absent.md"}`)
	s := g.ask(r)
	if got := g.do(r.with(s, yes)); !strings.HasPrefix(got, "note_not_found") {
		t.Error(got)
	}
	if got := g.query("SELECT outcome FROM executions"); got != "failed" {
		t.Errorf("outcome %q", got)
	}
}

// A change under ask comes to the gate with the reason, and is made by what the
// person approves; a dry run that reads nothing under ask needs nobody.
func TestAChangeUnderAskIsAskedFor(t *testing.T) {
	for _, c := range []struct{ tool, args, reason, path, want string }{
		{"append_note", `{"path":"Work/w.md","content":"more"}`, `approve the write of "Work/w.md"`, "Work/w.md", "one\ntwo\nmore\n"},
		{"write_note", `{"path":"Work/new.md","content":"new\n"}`, `approve the write of "Work/new.md"`, "Work/new.md", "new\n"},
		{"move_note", `{"from":"a.md","to":"Work/a.md"}`, `approve the write of "Work/a.md"`, "Work/a.md", private["a.md"]},
		{"move_note", `{"from":"Work/w.md","to":"Work/v.md"}`, `approve the delete of "Work/w.md"`, "Work/v.md", "one\ntwo\n"},
	} {
		g := asking(t, askToChange, private)
		dry := strings.TrimSuffix(c.args, "}") + `,"dry_run":true}`
		if got := g.do(request{tool: c.tool, args: dry}); got != "ran" {
			t.Errorf("%s as a dry run: %s", c.tool, got)
		}
		_, err := do1(t.Context(), g.app, request{tool: c.tool, args: c.args})
		if e := fault.Of(err); e.Code != fault.ElicitRequired || !strings.Contains(fmt.Sprint(e.Details["floor_reason"]), c.reason) {
			t.Errorf("%s: %v %v", c.tool, e, e.Details)
		}
		r := request{tool: c.tool, args: c.args, reach: hitl.Reach{Modern: true, Forms: true}}
		if got := g.do(r.with(g.ask(r), yes)); got != "ran" {
			t.Fatalf("%s: %s", c.tool, got)
		}
		if got, _ := os.ReadFile(filepath.Join(g.dir, c.path)); string(got) != c.want {
			t.Errorf("%s left %q", c.tool, got)
		}
	}
}

// An edit of a plan asks as well if the call does not name its path, and its name
// is not told where it may not be read.
func TestAPlannedEditUnderAskIsAskedForWithoutItsName(t *testing.T) {
	g := asking(t, `[{glob: "Box/Closed/**", verbs: {read: ask, write: ask, delete: ask}}]`, map[string]string{"Box/a.md": "a\n", "Box/Closed/secret.md": "s\n"})
	_, err := do1(t.Context(), g.app, request{tool: "move_folder", args: `{"from":"Box","to":"Crate"}`})
	e := fault.Of(err)
	b, _ := json.Marshal(e.Details)
	if e.Code != fault.ElicitRequired || !strings.Contains(string(b), "the folder rules want a person") || strings.Contains(e.Message+string(b), "secret") {
		t.Errorf("%v %s", e, b)
	}
}

// The diff of a note under ask passes through no client before it is approved,
// and the person at a console sees all of it.
func TestThePersonSeesTheDiffThatTheClientDoesNot(t *testing.T) {
	g := asking(t, askToRead, private)
	r := request{tool: "append_note", args: `{"path":"Private/secret.md","content":"more"}`, reach: hitl.Reach{Modern: true, Forms: true}}
	_, err := do1(t.Context(), g.app, r)
	n, ok := errors.AsType[*hitl.NeedsInput](err)
	if !ok || strings.Contains(n.Form.Message, "needle") {
		t.Fatalf("%v, %v", n, err)
	}
	if got := g.query("SELECT preview FROM requests"); !strings.Contains(got, "+more") {
		t.Errorf("preview %q", got)
	}
	g.clock.pass(time.Second)
	res, err := do1(t.Context(), g.app, r.with(n.State, yes))
	if err != nil || !strings.Contains(res.Text, "Private/secret.md") {
		t.Errorf("%v, %v", res, err)
	}
}

// What a person let a caller read is no change: it is not listed, not told, and
// cannot be taken back.
func TestAReadIsNoChange(t *testing.T) {
	g := asking(t, askToRead, private)
	r := reads(`{"path":"Private/secret.md"}`)
	g.do(r.with(g.ask(r), yes))
	id := g.query("SELECT execution_id FROM executions")
	res, err := do(t.Context(), g.app, "list_changes", `{}`)
	if err != nil || strings.Contains(res.Text, id) {
		t.Errorf("%v, %v", res, err)
	}
	for _, tool := range []string{"read_change", "undo_change"} {
		if got := g.do(request{tool: tool, args: fmt.Sprintf(`{"change_id":%q}`, id)}); !strings.HasPrefix(got, "not_found") {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

// A dry run shows text, so under read: ask it is asked for, and what was approved
// for it is no approval of the change.
func TestADryRunUnderAskIsARead(t *testing.T) {
	g := asking(t, askToRead, private)
	args := `{"path":"Private/secret.md","content":"more"`
	dry := request{tool: "append_note", args: args + `,"dry_run":true}`, reach: hitl.Reach{Modern: true, Forms: true}}
	s := g.ask(dry)
	real := dry
	real.args = args + "}"
	if got := g.do(real.with(s, yes)); got != "replay_drift drift" {
		t.Errorf("the change with the approval of a dry run: %s", got)
	}
	res, err := do1(t.Context(), g.app, dry.with(g.ask(dry), yes))
	if err != nil || !strings.Contains(res.Text, "+more") {
		t.Errorf("%v, %v", res, err)
	}
	if got, _ := os.ReadFile(filepath.Join(g.dir, "Private/secret.md")); string(got) != private["Private/secret.md"] {
		t.Errorf("written: %q", got)
	}
}

// Repeated with its idempotency key, an approved change under ask is answered
// again and nobody is asked.
func TestAnApprovedChangeUnderAskIsReplayed(t *testing.T) {
	g := asking(t, askToRead, private)
	r := request{tool: "append_note", args: `{"path":"Private/secret.md","content":"more","idempotency_key":"k-1"}`, reach: hitl.Reach{Modern: true, Forms: true}}
	first, err := do1(t.Context(), g.app, r.with(g.ask(r), yes))
	if err != nil {
		t.Fatal(err)
	}
	again, err := do1(t.Context(), g.app, r)
	if err != nil || again.Text != first.Text {
		t.Errorf("%v, %v", again, err)
	}
}

// Whose versions are listed is a read as well, also if the note is gone.
func TestTheVersionsOfANoteUnderAskAreListedAfterTheApproval(t *testing.T) {
	g := asking(t, askToRead, private)
	r := request{tool: "append_note", args: `{"path":"Private/secret.md","content":"more"}`, reach: hitl.Reach{Modern: true, Forms: true}}
	g.do(r.with(g.ask(r), yes))
	if err := os.Remove(filepath.Join(g.dir, "Private/secret.md")); err != nil {
		t.Fatal(err)
	}
	r.tool, r.args = "list_snapshots", `{"path":"Private/secret"}`
	res, err := do1(t.Context(), g.app, r.with(g.ask(r), yes))
	if err != nil || !strings.Contains(res.Text, "Private/secret.md") {
		t.Errorf("%v, %v", res, err)
	}
}

// What the system's trash notes beside a file is no part of what is shown: a path
// of the machine is in it.
func TestAFormShowsNoPathOfTheMachine(t *testing.T) {
	g := asking(t, "[]", private)
	_, err := do1(t.Context(), g.app, request{tool: "delete_note", args: `{"path":"a.md"}`, reach: hitl.Reach{Modern: true, Forms: true}})
	n, ok := errors.AsType[*hitl.NeedsInput](err)
	if !ok || strings.Contains(n.Form.Message, g.dir) {
		t.Errorf("%v", n.Form.Message)
	}
}

// A note that changes while the person looks at the question is not what they let
// be read.
func TestANoteThatChangesWhileThePersonLooksIsNotRead(t *testing.T) {
	g := asking(t, askToRead, private)
	person(g.app, func() bool {
		g.write("Private/secret.md", "much worse\n")
		return true
	})
	for _, c := range [][2]string{{"read_note", `{"path":"Private/secret.md"}`}, {"list_notes", `{"folder":"Private"}`}} {
		res, err := do(t.Context(), g.app, c[0], c[1])
		if e := fault.Of(err); e == nil || e.Code != fault.ReplayDrift {
			t.Errorf("%s: %v, %v", c[0], res, err)
		}
		g.write("Private/secret.md", private["Private/secret.md"])
	}
	if got := g.query("SELECT coalesce(sum(uses), 0) FROM grants"); got != "0" {
		t.Errorf("%s uses", got)
	}
}
