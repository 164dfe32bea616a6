package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// choosing is a desk with two notes of one name.
func choosing(t *testing.T, elicit string) *desk {
	d := newDesk(t, elicit)
	d.put(map[string]string{"P/Plan.md": "of p\n", "Q/Plan.md": "of q\n"})
	return d
}

const titled = `{"title":"Plan"}`

// question is a call of the era since 2026-07-28 by a client that shows forms; it
// is answered with a question.
func (d *desk) question(tool, args string) {
	d.t.Helper()
	if m := d.modern(tool, args); m["requestState"] == nil {
		d.t.Fatalf("%v", m)
	}
}

// modern is such a call, with more of its parameters.
func (d *desk) modern(tool, args string, more ...string) map[string]any {
	d.t.Helper()
	d.id++
	m := d.agent.ask(d.t, d.id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,%s%s}`, tool, args, strings.Join(more, ""), meta))
	return m["result"].(map[string]any)
}

// notes checks which of the two notes are there, and with what.
func (d *desk) notes(p, q string) {
	d.t.Helper()
	for path, want := range map[string]string{"P/Plan.md": p, "Q/Plan.md": q} {
		got, _ := os.ReadFile(filepath.Join(d.dir, path)) // "": it is gone
		if string(got) != want {
			d.t.Errorf("%s is %q, not %q", path, got, want)
		}
	}
}

// Each way by which a person chooses, and what they press: the call that is made
// again runs on the note that was chosen, once.
func TestAPersonChoosesTheNote(t *testing.T) {
	t.Parallel()
	for name, choose := range map[string]func(d *desk, gated bool){
		"the list": func(d *desk, gated bool) {
			s := onScreen(d.t, d.person(), "elicit")
			s.expect("  1  ")
			s.expect("> ")
			s.answer("y 1", "which note is meant", "  1  P/Plan.md", "  2  Q/Plan.md", "Which note? [1-2]")
			for _, wrong := range []string{"0", "3", "y", "Q/Plan.md"} {
				s.answer(wrong, "Which note? [1-2]")
			}
			if gated {
				s.answer("2", "Q/Plan.md", "Approve 1? ")
				s.answer("y", "1: approved")
			} else {
				s.answer("2", "1: chosen")
			}
			s.expect("Nothing waits")
			s.end(exitOK)
		},
		"watch": func(d *desk, gated bool) {
			s := onScreen(d.t, d.person(), "elicit", "watch")
			s.expect("  2  Q/Plan.md")
			s.expect("1-2 choose")
			if s.press("2"); gated {
				s.expect("y approve with 2")
				s.press("y")
			}
			s.expect("chosen: Q/Plan.md")
			s.press("q")
			s.end(exitOK)
		},
		"the command": func(d *desk, gated bool) {
			s := onScreen(d.t, d.person(), "elicit", "--hash", d.row("SELECT call_hash FROM requests"), "--tool", d.row("SELECT tool FROM requests"))
			s.expect("  2  Q/Plan.md")
			s.expect("Which note? [1-2]")
			s.answer("9", "Which note? [1-2]")
			if s.press("2\n"); gated {
				s.expect("Approve? [y/N]")
				s.press("y\n")
			}
			s.end(exitOK)
			if !token.MatchString(s.stdout.String()) {
				d.t.Errorf("stdout %q", s.stdout.String())
			}
		},
	} {
		for tool, want := range map[string]string{"delete_note": "", "append_note": "of q\nmore\n", "read_note": "of q\n"} {
			t.Run(name+", "+tool, func(t *testing.T) {
				d := choosing(t, "")
				d.serve()
				args := titled
				if tool == "append_note" {
					args = `{"title":"Plan","content":"more"}`
				}
				d.question(tool, args)
				choose(d, tool == "delete_note")
				d.notes("of p\n", "of q\n")
				a := d.call(tool, args) // without a form
				if a.failed || tool == "read_note" && !strings.Contains(a.text, "of q") {
					t.Errorf("%+v", a)
				}
				d.notes("of p\n", want)
				if got := d.row("SELECT r.status || ' ' || g.choice || ' ' || g.uses FROM requests r JOIN grants g USING (request_id)"); got != "used Q/Plan.md 1" {
					t.Error(got)
				}
			})
		}
	}
}

// What a person does not choose stays open, and what they decline is declined, also
// where they were asked which note is meant.
func TestAPersonChoosesNoNote(t *testing.T) {
	d := choosing(t, "unattended: true")
	d.serve()
	d.question("delete_note", titled)
	hash := d.row("SELECT call_hash FROM requests")
	cmd := []string{"elicit", "--hash", hash, "--tool", "delete_note"}
	if got := d.without(cmd...); got.code != exitRefused || got.stdout != "" || !strings.Contains(got.stderr, "which note is meant") {
		t.Errorf("without a terminal: %+v", got)
	}
	for _, keys := range [][]string{{""}, {"n"}, {"q"}, {"\x04"}, {"2", "n"}, {"2", ""}} {
		s := onScreen(t, d.person(), cmd...)
		for i, k := range keys {
			s.expect([]string{"Which note?", "Approve?"}[i])
			s.press(k + "\n")
		}
		s.end(exitRefused)
		if s.stdout.Len() > 0 || !strings.Contains(s.stderr.String(), "stays as it is") {
			t.Errorf("%q: %q", keys, s.stderr.String())
		}
	}
	s := onScreen(t, d.person(), "elicit")
	s.expect("> ")
	s.answer("y", "Which note?")
	s.answer("", "1: left open", "> ")
	s.answer("y", "Which note?")
	s.answer("1", "Approve 1? ")
	s.answer("", "Nothing was approved", "> ")
	d.unspent()
	if got := d.statuses(); got != "open" {
		t.Fatal(got)
	}
	s.answer("y", "Which note?")
	s.answer("d", "1: declined", "> ")
	s.press("q\n")
	s.end(exitOK)
	if a := d.call("delete_note", titled); a.reason != "approval_declined" || !strings.Contains(a.text, "A person has declined") {
		t.Errorf("%+v", a)
	}
	// They change their mind, by the command of that refusal.
	s = onScreen(t, d.person(), cmd...)
	s.expect("Which note?")
	s.answer("1", "Approve?")
	s.press("y\n")
	s.end(exitOK)
	with := fmt.Sprintf(`{"title":"Plan","elicit_token":%q}`, strings.TrimSpace(s.stdout.String()))
	d.put(map[string]string{"P/Plan.md": "drifted\n"})
	if a := d.call("delete_note", with); a.reason != "drift" {
		t.Errorf("the note has changed since: %+v", a)
	}
	d.notes("drifted\n", "of q\n")
}

// Several of the list at once, with and without notes to choose from.
func TestTheListChoosesAmongOthers(t *testing.T) {
	d := choosing(t, "")
	d.put(map[string]string{".trash/old.md": "old\n"})
	d.serve()
	d.question("delete_note", titled)
	d.call("delete_note", deleteA)
	d.question("append_note", `{"title":"Plan","content":"more"}`)
	s := onScreen(t, d.person(), "elicit")
	s.expect("  3  append_note")
	s.expect("> ")
	s.answer("y all", "Which note?")
	s.answer("1", "-two", "Which note?")
	s.answer("2", "3: chosen", "Approve 2? ")
	s.answer("y", "1: approved", "2: approved", "Nothing waits")
	s.end(exitOK)
	if a := d.call("append_note", `{"title":"Plan","content":"more"}`); a.failed {
		t.Errorf("%+v", a)
	}
	d.notes("of p\n", "of q\nmore\n")
	d.call("delete_note", deleteA)
	if d.has("a.md") {
		t.Error("a.md is still there")
	}
	// One of the notes from which they chose has another text by now.
	if a := d.call("delete_note", titled); a.reason != "drift" {
		t.Errorf("%+v", a)
	}
	d.notes("of p\n", "of q\nmore\n")
}

// While a client of an older protocol shows a form, or has answered it without a
// person, the choice of who watches is what the call runs on.
func TestWatchChoosesForACallThatWaits(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"", `{"action":"cancel"}`} {
		d := choosing(t, "")
		s := onScreen(t, d.person(), "elicit", "watch")
		s.expect("Nothing waits")
		d.can = `"elicitation":{}`
		d.serve()
		form := d.agent.ask(t, 2, "tools/call", `{"name":"delete_note","arguments":`+titled+`}`)
		if form["method"] != "elicitation/create" {
			t.Fatalf("%v", form)
		}
		if reply != "" {
			fmt.Fprintf(d.agent.in, `{"jsonrpc":"2.0","id":%v,"result":%s}`+"\n", jsonOf(t, form["id"]), reply)
		}
		s.expect("1-2 choose")
		s.press("2")
		s.expect("y approve with 2")
		s.press("y")
		s.expect("chosen: Q/Plan.md")
		var m map[string]any
		for m["id"] != 2.0 || m["method"] != nil { // the form may be cancelled first
			line, err := d.agent.out.ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			m = nil
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatal(err)
			}
		}
		if a := answerOf(t, m["result"]); a.failed {
			t.Errorf("%+v", a)
		}
		d.notes("of p\n", "")
		s.press("q")
		s.end(exitOK)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The prompt of a call asks which note is meant.
func TestACallAtTheTerminalChooses(t *testing.T) {
	d := choosing(t, "")
	call := func(tool, args string, code int, keys ...string) *screen {
		t.Helper()
		s := onScreen(t, d.person(), "call", "--vault", d.config, tool, args)
		s.expect("  1  P/Plan.md")
		s.expect("  2  Q/Plan.md")
		for i, k := range keys {
			s.expect([]string{"Which note? [1-2]", "Approve? [y/N]"}[i])
			s.press(k + "\n")
		}
		s.end(code)
		return s
	}
	if s := call("read_note", titled, exitOK, "2"); !strings.Contains(s.stdout.String(), "of q") || strings.Contains(s.shown(), "Approve?") {
		t.Errorf("%q, %q", s.stdout.String(), s.shown())
	}
	if s := call("read_note", titled, exitRefused, ""); !strings.Contains(s.stderr.String(), "path_ambiguous") {
		t.Errorf("%q", s.stderr.String())
	}
	if s := call("read_note", titled, exitOK, "d"); !strings.Contains(s.stdout.String(), "declined") {
		t.Errorf("%q", s.stdout.String())
	}
	call("append_note", `{"title":"Plan","content":"more"}`, exitOK, "1")
	d.notes("of p\nmore\n", "of q\n")
	if s := call("delete_note", titled, exitRefused, "2", "n"); !strings.Contains(s.stderr.String(), "nor approved the call") || !strings.Contains(s.stderr.String(), "vault-mcp elicit --hash") {
		t.Errorf("%q", s.stderr.String())
	}
	d.notes("of p\nmore\n", "of q\n")
	call("delete_note", titled, exitOK, "2", "y")
	d.notes("of p\nmore\n", "")
	if got := d.row("SELECT group_concat(choice || ' ' || route || ' ' || uses) FROM grants"); got != "Q/Plan.md cli 1" {
		t.Error(got)
	}
}

// A person who approves after the key that signs was changed approves what they were
// asked before: by the state of a form, by a token and at a console.
func TestAPendingRequestSurvivesARotation(t *testing.T) {
	approve := `"requestState":%q,"inputResponses":{"confirm":{"action":"accept","content":{"approve":true}}},`
	for name, run := range map[string]func(d *desk, state string, a callAnswer) callAnswer{
		"state": func(d *desk, state string, _ callAnswer) callAnswer {
			return answerOf(d.t, d.modern("delete_note", deleteA, fmt.Sprintf(approve, state)))
		},
		"state, at another server": func(d *desk, state string, _ callAnswer) callAnswer {
			d.serve()
			return answerOf(d.t, d.modern("delete_note", deleteA, fmt.Sprintf(approve, state)))
		},
		"token": func(d *desk, _ string, a callAnswer) callAnswer {
			got := d.without(words(d.t, a.recovery)...)
			if got.code != exitOK {
				d.t.Fatalf("%+v", got)
			}
			return d.call("delete_note", fmt.Sprintf(`{"path":"a.md","elicit_token":%q}`, strings.TrimSpace(got.stdout)))
		},
		"console": func(d *desk, _ string, _ callAnswer) callAnswer {
			s := onScreen(d.t, d.person(), "elicit")
			s.expect("> ")
			s.answer("y 1", "Approve 1? ")
			s.answer("y", "1: approved")
			s.end(exitOK)
			return d.call("delete_note", deleteA)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "unattended: true")
			d.serve()
			state, _ := d.modern("delete_note", deleteA)["requestState"].(string)
			a := d.call("delete_note", deleteA)
			if state == "" || a.reason != "approval_required" || d.statuses() != "open" {
				t.Fatalf("%q, %+v, %s", state, a, d.statuses())
			}
			for range 2 {
				if got := d.without("secrets", "rotate", d.config); got.code != exitOK {
					t.Fatalf("%+v", got)
				}
			}
			if got := run(d, state, a); got.failed || d.has("a.md") {
				t.Errorf("%+v", got)
			}
			if got := d.row("SELECT group_concat(r.status || ' ' || g.uses) FROM requests r JOIN grants g USING (request_id)"); got != "used 1" || d.statuses() != "used" {
				t.Errorf("%q, %s", got, d.statuses())
			}
		})
	}
}
