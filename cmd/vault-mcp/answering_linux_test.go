package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put writes notes into the vault.
func (d *desk) put(files map[string]string) {
	d.t.Helper()
	for p, text := range files {
		full := filepath.Join(d.dir, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
}

// row is what a statement finds in the state folders of the desk, in one row with
// one column.
func (d *desk) row(query string) (text string) {
	d.t.Helper()
	files, _ := filepath.Glob(filepath.Join(d.home, ".local/state/vault-mcp/*/state.db"))
	for _, f := range files {
		db, err := sql.Open("sqlite", "file:"+f+"?_pragma=busy_timeout(10000)")
		if err != nil {
			d.t.Fatal(err)
		}
		var one sql.NullString
		err = db.QueryRow(query).Scan(&one)
		db.Close()
		if err != nil && err != sql.ErrNoRows {
			d.t.Fatal(err)
		}
		text += one.String
	}
	return text
}

// statuses are those of all requests, oldest first.
func (d *desk) statuses() string {
	return d.row("SELECT group_concat(status, ' ') FROM (SELECT status FROM requests ORDER BY seq)")
}

// unspent checks that nothing was approved or done.
func (d *desk) unspent() {
	d.t.Helper()
	if n := d.row("SELECT (SELECT count(*) FROM grants) + (SELECT count(*) FROM changes)"); n != "0" {
		d.t.Errorf("%s grants and changes", n)
	}
}

// deletes makes calls that delete notes with these numbers, and are all blocked.
func (d *desk) deletes(from, to int) {
	d.t.Helper()
	for n := from; n <= to; n++ {
		path := fmt.Sprintf("n%d.md", n)
		d.put(map[string]string{path: fmt.Sprintf("text of %d\n", n)})
		if a := d.call("delete_note", fmt.Sprintf(`{"path":%q}`, path)); a.reason != "approval_required" {
			d.t.Fatalf("%+v", a)
		}
	}
}

// answer answers a question of the list, and waits for what it says.
func (s *screen) answer(keys string, shows ...string) {
	s.t.Helper()
	s.press(keys + "\n")
	for _, text := range shows {
		s.expect(text)
	}
}

func TestTheListTakesAnswersByNumber(t *testing.T) {
	d := newDesk(t, "")
	d.put(map[string]string{".trash/old.md": "old\n"}) // or the first deletion makes it, which changes the others
	d.serve()
	d.deletes(1, 6)
	s := onScreen(t, d.person(), "elicit")
	s.expect("  6  delete_note")
	s.expect("\n> ")
	s.answer("d 2", "you are asked because", "-text of 2", "> ")
	s.answer("3", "-text of 3", "> ") // a number alone shows it
	for _, wrong := range []string{"what", "y 7", "n 0", "y 3-2", "y"} {
		s.answer(wrong, "d shows a diff", "> ")
	}
	s.answer("y 1", "-text of 1", "Approve 1? ")
	s.answer("n", "Nothing was approved", "> ")
	s.answer("y 1", "Approve 1? ")
	s.answer("", "Nothing was approved", "> ")
	s.answer("y 1", "Approve 1? ")
	s.answer("y", "1: approved", "  5  delete_note", "> ") // those from 2 on
	s.answer("n 1,3-4", "1: declined", "3: declined", "4: declined", "declined", "> ")
	if got := d.statuses(); got != "approved declined open declined declined open" {
		t.Fatal(got)
	}
	// What is declined can still be approved.
	s.answer("y 1-2", "-text of 2", "-text of 3", "Approve 2? ")
	s.answer("y", "1: approved", "2: approved", "  3  delete_note", "> ")
	d.deletes(7, 7) // the last one is new; it is not meant by all
	s.answer("n all", "1: declined", "2: declined", "3: declined", "  4  delete_note", "n7.md", "> ")
	s.answer("", "  4  delete_note", "> ") // lists again
	s.answer("y 4", "Approve 1? ")
	// Somebody is quicker.
	if got := d.without("elicit", "abandon", d.row("SELECT request_id FROM requests ORDER BY seq DESC LIMIT 1")); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	s.answer("y", "4: the request has been answered or replaced meanwhile", "  3  delete_note", "> ")
	s.press("q\n")
	s.end(exitOK)
	if s.stdout.Len() > 0 || s.stderr.Len() > 0 {
		t.Errorf("stdout %q, stderr %q", s.stdout.String(), s.stderr.String())
	}
	for n, left := range []bool{false, false, false, true, true, true} {
		a := d.call("delete_note", fmt.Sprintf(`{"path":"n%d.md"}`, n+1))
		if d.has(fmt.Sprintf("n%d.md", n+1)) != left {
			t.Errorf("n%d.md: left is %t, %+v", n+1, !left, a)
		}
	}
}

func TestTheListWithNothingAndWithoutThePerson(t *testing.T) {
	d := newDesk(t, "")
	s := onScreen(t, d.person(), "elicit")
	s.expect("Nothing waits for you.")
	s.end(exitOK)
	d.serve()
	d.deletes(1, 1)
	s = onScreen(t, d.person(), "elicit")
	s.expect("> ")
	s.press("\x04")
	s.end(exitOK)
	// With one, no number is needed.
	s = onScreen(t, d.person(), "elicit")
	s.expect("> ")
	s.answer("y", "Approve 1? ")
	s.answer("y", "1: approved", "Nothing waits for you.")
	s.end(exitOK)
}

// The same call waits in two vaults with one id: which one is meant is said by the
// folder.
func TestTheCommandFindsTwo(t *testing.T) {
	d := newDesk(t, "unattended: true")
	d.serve()
	first, agent := d.dir, d.agent
	if a := d.call("delete_note", deleteA); a.reason != "approval_required" {
		t.Fatalf("%+v", a)
	}
	d.vault("unattended: true")
	d.serve()
	a := d.call("delete_note", deleteA)
	hash, _ := a.details["call_hash"].(string)
	base := []string{"elicit", "--hash", hash, "--tool", "delete_note"}
	got := d.without(base...)
	for _, want := range []string{"--vault", first, d.dir} {
		if got.code != exitRefused || got.stdout != "" || !strings.Contains(got.stderr, want) {
			t.Fatalf("no %q in %+v", want, got)
		}
	}
	if n := d.row("SELECT count(*) FROM grants"); n != "00" {
		t.Errorf("%s grants in the two", n)
	}
	if got := d.without(append(base, "--vault", t.TempDir())...); got.code != exitRefused || !strings.Contains(got.stderr, "no request") {
		t.Errorf("a third one: %+v", got)
	}
	if got := d.without(append(base, "--vault", first)...); got.code != exitOK || !token.MatchString(got.stdout) {
		t.Fatalf("%+v", got)
	}
	if a := d.call("delete_note", deleteA); a.reason != "approval_required" || !d.has("a.md") {
		t.Errorf("the other one: %+v", a)
	}
	d.agent, d.dir = agent, first
	if a := d.call("delete_note", deleteA); a.failed || d.has("a.md") {
		t.Errorf("the one that was meant: %+v", a)
	}
}

// A way to answer that the config does not have is refused, and spends nothing.
func TestRoutesThatAreNotTaken(t *testing.T) {
	d := newDesk(t, "unattended: true, routes: [form, console]")
	d.serve()
	a := d.call("delete_note", deleteA)
	id, _ := a.details["request_id"].(string)
	for name, args := range map[string][]string{"the command": words(t, a.recovery), "abandon": {"elicit", "abandon", id}} {
		if got := d.without(args...); got.code != exitRefused || got.stdout != "" || !strings.Contains(got.stderr, `"cli" in elicit.routes`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	s := onScreen(t, d.person(), "call", "--vault", d.config, "delete_note", deleteA)
	s.end(exitRefused)
	if !strings.Contains(s.stderr.String(), "[elicit_required]") || strings.Contains(s.shown(), "Approve") {
		t.Errorf("a call at the terminal: %q, %q", s.stderr.String(), s.shown())
	}
	if got := d.statuses(); got != "open open" {
		t.Error(got)
	}
	d.unspent()
	s = onScreen(t, d.person(), "elicit") // which is taken
	s.expect("2  delete_note")
	s.press("q\n")
	s.end(exitOK)

	d = newDesk(t, "routes: [form, cli]")
	d.serve()
	a = d.call("delete_note", deleteA)
	s = onScreen(t, d.person(), "elicit")
	s.end(exitRefused)
	if !strings.Contains(s.stderr.String(), `"console" in elicit.routes`) {
		t.Errorf("the list: %q", s.stderr.String())
	}
	s = onScreen(t, d.person(), "elicit", "watch")
	s.expect(`"console" in elicit.routes`)
	if again := d.call("delete_note", deleteA); again.reason != "approval_required" { // at once: it waits for nobody
		t.Errorf("%+v", again)
	}
	s.press("q")
	s.end(exitOK)
	d.unspent()
	s = onScreen(t, d.person(), words(t, a.recovery)...) // which is taken
	s.expect("[y/N]")
	s.press("\n")
	s.end(exitRefused)
}

// What a person has given up is asked anew, and its token is none any more.
func TestAbandonedRequests(t *testing.T) {
	d := newDesk(t, "unattended: true")
	d.serve()
	a := d.call("delete_note", deleteA)
	first, _ := a.details["request_id"].(string)
	if got := d.without("elicit", "abandon", first); got != (outcome{exitOK, "", ""}) || d.statuses() != "abandoned" {
		t.Fatalf("%+v, %s", got, d.statuses())
	}
	if got := d.without("elicit", "abandon", first); got.code != exitRefused || !strings.Contains(got.stderr, "over already") {
		t.Errorf("twice: %+v", got)
	}
	for _, id := range []string{strings.Repeat("0", 32), "", first[:31], "'"} {
		if got := d.without("elicit", "abandon", id); got.code != exitRefused || !strings.Contains(got.stderr, "no such request") {
			t.Errorf("%q: %+v", id, got)
		}
	}
	if got := d.without(words(t, a.recovery)...); got.code != exitRefused || !strings.Contains(got.stderr, "is abandoned") {
		t.Errorf("approving it: %+v", got)
	}
	again := d.call("delete_note", deleteA)
	second, _ := again.details["request_id"].(string)
	if again.reason != "approval_required" || second == first || d.statuses() != "abandoned open" {
		t.Fatalf("%+v, %s", again, d.statuses())
	}
	got := d.without(words(t, again.recovery)...)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	if got := d.without("elicit", "abandon", second); got.code != exitOK {
		t.Errorf("an approved one: %+v", got)
	}
	with := fmt.Sprintf(`{"path":"a.md","elicit_token":%q}`, strings.TrimSpace(got.stdout))
	if a := d.call("delete_note", with); a.reason != "abandoned" || !d.has("a.md") {
		t.Errorf("its token: %+v", a)
	}
	if a := d.call("delete_note", deleteA); a.reason != "approval_required" || !d.has("a.md") {
		t.Errorf("asked anew: %+v", a)
	}
}

// The person who makes a call at a terminal is asked there.
func TestACallAtTheTerminalAsks(t *testing.T) {
	d := newDesk(t, "")
	call := func(keys string, code int) *screen {
		t.Helper()
		s := onScreen(t, d.person(), "call", "--vault", d.config, "delete_note", deleteA)
		s.expect("-two")
		s.expect("Approve? [y/N]")
		s.press(keys)
		s.end(code)
		return s
	}
	for _, keys := range []string{"n\n", "\n", "\x04"} {
		s := call(keys, exitRefused)
		if !strings.Contains(s.stderr.String(), "[elicit_required]") || !strings.Contains(s.stderr.String(), "nobody has approved") || s.stdout.Len() > 0 || d.statuses() != "open" {
			t.Errorf("%q: stdout %q, stderr %q, %s", keys, s.stdout.String(), s.stderr.String(), d.statuses())
		}
	}
	s := call("d\n", exitRefused)
	if !strings.Contains(s.stderr.String(), "has declined this") || d.statuses() != "declined" || !d.has("a.md") {
		t.Errorf("%q, %s", s.stderr.String(), d.statuses())
	}
	// A no is not asked again; another call is.
	d.put(map[string]string{"a.md": "else\ntwo\n"})
	s = call("y\n", exitOK)
	if d.has("a.md") || d.statuses() != "superseded used" || !strings.Contains(s.stdout.String(), "change_id") || s.stderr.Len() > 0 {
		t.Errorf("%q %q, %s", s.stdout.String(), s.stderr.String(), d.statuses())
	}
	if got := d.row("SELECT route || ' ' || uses FROM grants"); got != "cli 1" {
		t.Error(got)
	}
	// Without a terminal there is nobody to ask.
	if got := d.without("call", "--vault", d.config, "delete_note", `{"path":"b.md"}`); got.code != exitRefused || !strings.Contains(got.stderr, "--caller cli") || !d.has("b.md") {
		t.Errorf("%+v", got)
	}
}

func TestUndoAtTheTerminalAsks(t *testing.T) {
	d := newDesk(t, "")
	s := onScreen(t, d.person(), "call", "--vault", d.config, "--json", "delete_note", deleteA)
	s.expect("Approve? [y/N]")
	s.press("y\n")
	s.end(exitOK)
	var res struct {
		StructuredContent struct {
			ChangeID string `json:"change_id"`
		}
	}
	if err := json.Unmarshal(s.stdout.Bytes(), &res); err != nil || res.StructuredContent.ChangeID == "" {
		t.Fatalf("%v in %s", err, s.stdout.String())
	}
	for _, tt := range []struct {
		keys, says string
		code       int
	}{
		{"n\n", "nobody has approved", exitRefused},
		{"y\n", "", exitOK},
	} {
		s := onScreen(t, d.person(), "undo", "--vault", d.config, res.StructuredContent.ChangeID)
		s.expect("Approve? [y/N]")
		s.press(tt.keys)
		s.end(tt.code)
		if !strings.Contains(s.stderr.String(), tt.says) || d.has("a.md") != (tt.code == exitOK) {
			t.Errorf("%q: %q", tt.keys, s.stderr.String())
		}
	}
	if got := d.statuses(); got != "used used" {
		t.Error(got)
	}
}
