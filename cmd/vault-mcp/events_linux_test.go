package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// events are those in the event file of a home, as "type outcome route", in their
// order.
func events(t *testing.T, home string) (list []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(home, ".local/state/vault-mcp/*/events.jsonl"))
	if len(files) != 1 {
		t.Fatalf("%q", files)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		var e struct {
			Type string
			Data struct {
				Outcome, Route, Tool, Caller, Vault string
				Request                             string `json:"request_id"`
			}
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if e.Data.Tool != "delete_note" || e.Data.Caller != "stdio" || e.Data.Vault != "main" {
			t.Errorf("%s", line)
		}
		if e.Data.Outcome != "" && e.Data.Request == "" {
			t.Errorf("no request: %s", line)
		}
		list = append(list, strings.TrimSpace(strings.TrimPrefix(e.Type, "vault.elicit.")+" "+e.Data.Outcome+" "+e.Data.Route))
	}
	return list
}

// What a person answers in a terminal is one event in the file of the server, as
// what comes through a client is.
func TestAnswersInATerminalAreEvents(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "unattended: true")
	if err := os.WriteFile(filepath.Join(d.dir, "c.md"), []byte("more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(d.config, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintln(f, "events: {spool: true}")
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	var agents []*client
	for range 2 { // of two servers on the vault, too, an answer is one event
		d.serve()
		agents = append(agents, d.agent)
		d.call("note_exists", deleteA)
	}
	a := d.call("delete_note", deleteA)
	answer := func(keys string, code int) {
		t.Helper()
		s := onScreen(t, d.person(), words(t, a.recovery)...)
		s.expect("[y/N]")
		s.press(keys)
		s.end(code)
	}
	answer("n\n", exitRefused) // says nothing
	answer("d\n", exitRefused)
	answer("y\n", 0)
	answer("y\n", 0) // the token was lost
	if a := d.call("delete_note", deleteA); a.failed {
		t.Fatalf("%+v", a)
	}
	s := onScreen(t, d.person(), "elicit", "watch")
	s.expect("Nothing waits")
	waits := d.later("delete_note", `{"path":"b.md"}`)
	s.expect("y approve")
	s.press("n")
	s.expect("declined")
	if a := <-waits; a.reason != "approval_declined" {
		t.Errorf("%+v", a)
	}
	s.press("q")
	s.end(0)
	s = onScreen(t, d.person(), "elicit")
	s.expect("b.md")
	s.expect("> ")
	s.press("y 1\n")
	s.expect("[y/N]")
	s.press("y\n")
	s.expect("Nothing waits")
	s.end(0)
	if a := d.call("delete_note", `{"path":"b.md"}`); a.failed {
		t.Errorf("%+v", a)
	}
	// Where no server runs any more, the config says that events are kept.
	last := d.call("delete_note", `{"path":"c.md"}`)
	for _, agent := range agents {
		agent.in.Close()
		_ = agent.cmd.Wait() // its input has ended
	}
	if got := d.without(append(words(t, last.recovery), "--config", d.config)...); got.code != 0 {
		t.Errorf("%+v", got)
	}
	want := []string{
		"requested", "answered decline cli", "answered accept cli", "answered accept cli", "consumed",
		"requested", "answered decline console", "answered accept console", "consumed",
		"requested", "answered accept cli",
	}
	if got := events(t, d.home); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
