package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// desk is a vault with a server that an agent uses. The server has a parent of
// its own, as under a real client, and the person's commands are not below it.
type desk struct {
	t         *testing.T
	home, dir string
	config    string // what is served
	can       string // the capabilities that the agent's client declares
	agent     *client
	id        int
}

// newDesk makes the vault and the config, with these lines of elicit.
func newDesk(t *testing.T, elicit string) *desk {
	d := &desk{t: t, home: t.TempDir()}
	d.vault(elicit)
	return d
}

// vault makes a vault and its config; what was made before stays.
func (d *desk) vault(elicit string) {
	d.t.Helper()
	d.dir = plant(d.t, map[string]string{"a.md": "one\ntwo\n", "b.md": "other\n", ".obsidian/app.json": `{"trashOption":"local"}`})
	d.config = filepath.Join(d.t.TempDir(), "vault.yaml")
	text := fmt.Sprintf("vaults: [{path: %q}]\nelicit: {%s}\n", d.dir, elicit)
	if err := os.WriteFile(d.config, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// serve starts the server for a client that can show no forms.
func (d *desk) serve(env ...string) {
	d.t.Helper()
	d.start(os.Args[0], []string{"serve", d.config}, append([]string{"VAULT_MCP_TEST_CHILD=1"}, env...)...)
}

// start is serve by a command, which a client starts: what descends from that is no
// person.
func (d *desk) start(command string, args []string, env ...string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	d.t.Cleanup(cancel)
	d.agent = &client{cmd: exec.CommandContext(ctx, "sh", append([]string{"-c", `"$0" "$@"; exit $?`, command}, args...)...)}
	d.agent.cmd.Env = append(env, "HOME="+d.home)
	d.agent.cmd.Stderr = &d.agent.stderr
	in, err := d.agent.cmd.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := d.agent.cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	d.agent.in, d.agent.out = in, bufio.NewReader(out)
	if err := d.agent.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	agent := d.agent
	d.t.Cleanup(func() { in.Close(); _ = agent.cmd.Wait() })
	d.agent.ask(d.t, 1, "initialize", strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{`+d.can+`}`, 1))
	d.id = 1
}

// answer is what a call came to.
type callAnswer struct {
	failed           bool
	text             string
	reason, recovery string
	details          map[string]any
}

// call is a call of the agent.
func (d *desk) call(tool, args string) callAnswer {
	d.t.Helper()
	d.id++
	m := d.agent.ask(d.t, d.id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	return answerOf(d.t, m["result"])
}

func answerOf(t *testing.T, result any) callAnswer {
	t.Helper()
	m := result.(map[string]any)
	a := callAnswer{failed: m["isError"] == true}
	for _, c := range m["content"].([]any) {
		a.text += c.(map[string]any)["text"].(string)
	}
	if e, ok := m["structuredContent"].(map[string]any); ok && a.failed {
		if inner, ok := e["error"].(map[string]any); ok {
			e = inner
		}
		a.details, _ = e["details"].(map[string]any)
		a.reason, _ = a.details["reason"].(string)
		a.recovery, _ = e["recovery"].(string)
	}
	return a
}

// later makes a call that waits.
func (d *desk) later(tool, args string) <-chan callAnswer {
	c := make(chan callAnswer, 1)
	go func() { c <- d.call(tool, args) }()
	return c
}

// person is the environment of the person's commands.
func (d *desk) person() []string { return []string{"HOME=" + d.home} }

// without runs a command of the person without a terminal.
func (d *desk) without(args ...string) outcome {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), os.Args[0], args...)
	cmd.Env = append([]string{"VAULT_MCP_TEST_CHILD=1"}, d.person()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code tells
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// words are the words of the command in a refusal, which needs no quoting here.
func words(t *testing.T, command string) []string {
	t.Helper()
	w := strings.Fields(command)
	if len(w) < 2 || w[0] != "vault-mcp" {
		t.Fatalf("no command: %q", command)
	}
	return w[1:]
}

func (d *desk) has(path string) bool {
	_, err := os.Stat(filepath.Join(d.dir, path))
	return err == nil
}

const deleteA = `{"path":"a.md"}`

// The very first call of a server that starts while somebody watches is blocked,
// approved, and completes; the agent has not done anything.
func TestWatchApprovesACallThatWaits(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	s := onScreen(t, d.person(), "elicit", "watch")
	s.expect("Nothing waits")
	d.serve()
	waits := d.later("delete_note", deleteA)
	s.expect("trash")
	s.expect("y approve")
	s.press("y")
	s.expect("approved")
	if a := <-waits; a.failed || d.has("a.md") {
		t.Errorf("the call: %+v", a)
	}
	s.expect("Nothing waits")
	s.press("q")
	s.end(0)
	if s.stdout.Len() > 0 {
		t.Errorf("on stdout: %q", s.stdout.String())
	}
}

func TestWatchDeclinesACallThatWaits(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.serve()
	d.call("read_note", deleteA)
	s := onScreen(t, d.person(), "elicit", "watch")
	s.expect("Nothing waits")
	waits := d.later("delete_note", deleteA)
	s.expect("y approve")
	s.press("n")
	s.expect("declined")
	a := <-waits
	if !a.failed || a.reason != "approval_declined" || !d.has("a.md") {
		t.Errorf("the call: %+v", a)
	}
	if again := d.call("delete_note", deleteA); again.reason != "approval_declined" {
		t.Errorf("again: %+v", again)
	}
	s.press("\x03")
	s.end(0)
}

// Somebody watches, and does not look: the call ends at its deadline, and says
// how a person approves it.
func TestNobodyAnswersACallThatWaits(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	s := onScreen(t, d.person(), "elicit", "watch")
	s.expect("Nothing waits")
	d.serve("VAULT_MCP_TEST_PATIENCE=3s")
	a := d.call("delete_note", deleteA)
	if !a.failed || a.reason != "approval_not_obtained" || !d.has("a.md") {
		t.Errorf("the call: %+v", a)
	}
	if !strings.Contains(a.text, "vault-mcp elicit --hash ") {
		t.Errorf("the text has no command: %s", a.text)
	}
	s.expect("y approve") // it can still be answered
	s.press("y")
	s.expect("approved")
	if again := d.call("delete_note", deleteA); again.failed || d.has("a.md") {
		t.Errorf("repeated: %+v", again)
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	s.end(0)
}

var token = regexp.MustCompile(`^[0-9a-f]{32}\n$`)

func TestTheCommandGivesATokenThatRunsTheCallOnce(t *testing.T) {
	d := newDesk(t, "")
	d.serve()
	a := d.call("delete_note", deleteA)
	if a.reason != "approval_required" {
		t.Fatalf("the call: %+v", a)
	}
	s := onScreen(t, d.person(), words(t, a.recovery)...)
	s.expect("trash")
	s.expect("[y/N]")
	s.press("y\n")
	s.end(0)
	if !token.MatchString(s.stdout.String()) || s.stderr.Len() > 0 {
		t.Fatalf("stdout %q, stderr %q", s.stdout.String(), s.stderr.String())
	}
	if strings.Contains(s.shown(), strings.TrimSpace(s.stdout.String())) {
		t.Error("the token is on the screen as well")
	}
	with := fmt.Sprintf(`{"path":"a.md","elicit_token":%q}`, strings.TrimSpace(s.stdout.String()))
	if a := d.call("delete_note", strings.Replace(with, "a.md", "b.md", 1)); a.reason != "foreign" || !d.has("b.md") {
		t.Errorf("for another call: %+v", a)
	}
	if a := d.call("delete_note", with); a.failed || d.has("a.md") {
		t.Errorf("with the token: %+v", a)
	}
	if a := d.call("delete_note", with); a.reason != "used" {
		t.Errorf("a second time: %+v", a)
	}
	if got := d.without(words(t, a.recovery)...); got.code != exitRefused || !strings.Contains(got.stderr, "was used") {
		t.Errorf("minting for a used one: %+v", got)
	}
}

func TestTheCommandTakesOtherAnswers(t *testing.T) {
	d := newDesk(t, "")
	d.serve()
	a := d.call("delete_note", deleteA)
	for _, keys := range []string{"n\n", "\n", "\x04", "what\nq\n"} {
		s := onScreen(t, d.person(), words(t, a.recovery)...)
		s.expect("[y/N]")
		for key := range strings.SplitAfterSeq(keys, "\n") {
			if s.press(key); key == "what\n" {
				s.expect("[y/N]")
			}
		}
		s.end(exitRefused)
		if s.stdout.Len() > 0 || !strings.Contains(s.stderr.String(), "stays as it is") {
			t.Errorf("%q: stdout %q, stderr %q", keys, s.stdout.String(), s.stderr.String())
		}
	}
	if a := d.call("delete_note", deleteA); a.reason != "approval_required" {
		t.Errorf("after no: %+v", a)
	}
	s := onScreen(t, d.person(), words(t, a.recovery)...)
	s.expect("[y/N]")
	s.press("d\n")
	s.end(exitRefused)
	if a := d.call("delete_note", deleteA); a.reason != "approval_declined" {
		t.Errorf("after a decline: %+v", a)
	}
	// They change their mind.
	s = onScreen(t, d.person(), append(words(t, a.recovery), "--json")...)
	s.expect("[y/N]")
	s.press("y\n")
	s.end(0)
	var m map[string]any
	if err := json.Unmarshal(s.stdout.Bytes(), &m); err != nil || len(m["token"].(string)) != 32 || m["tool"] != "delete_note" {
		t.Errorf("%v: %s", err, s.stdout.String())
	}
	if a := d.call("delete_note", deleteA); a.failed {
		t.Errorf("approved after all, without the token: %+v", a)
	}
}

func TestTheCommandRefuses(t *testing.T) {
	d := newDesk(t, "")
	d.serve()
	a := d.call("delete_note", deleteA)
	hash, _ := a.details["call_hash"].(string)
	base := []string{"elicit", "--hash", hash, "--tool", "delete_note"}
	tests := []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no terminal", base, exitRefused, "no terminal"},
		{"another call", []string{"elicit", "--hash", strings.Repeat("0", 32), "--tool", "delete_note"}, exitRefused, "no request"},
		{"another tool", []string{"elicit", "--hash", hash, "--tool", "move_note"}, exitRefused, "no request"},
		{"another caller", append(base, "--caller", "cli"), exitRefused, "no request"},
		{"another vault", append(base, "--vault", "other"), exitRefused, "no request"},
		{"another folder", append(base, "--vault", d.home+"/."), exitRefused, ""},
		{"another state", append(base, "--state-fp", "0"), exitRefused, "--state-fp"},
		{"no hash", []string{"elicit", "--tool", "delete_note"}, exitUsage, "--hash"},
		{"no tool", []string{"elicit", "--hash", hash}, exitUsage, "--tool"},
		{"no such hash", []string{"elicit", "--hash", "x", "--tool", "t"}, exitUsage, "32 hex"},
		{"a life", append(base, "--ttl", "1h"), exitUsage, "unknown flag"},
		{"a config that is none", append(base, "--config", "/nowhere"), exitUsage, "no file"},
		{"a list without a terminal", []string{"elicit"}, exitRefused, "no terminal"},
		{"a watch without a terminal", []string{"elicit", "watch"}, exitRefused, "no terminal"},
		{"abandoning nothing", []string{"elicit", "abandon", "0"}, exitRefused, "no such request"},
	}
	for _, tt := range tests {
		got := d.without(tt.args...)
		if got.code != tt.code || got.stdout != "" || !strings.Contains(got.stderr, tt.want) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	// By its folder it is found.
	if got := d.without(append(base, "--vault", d.dir)...); !strings.Contains(got.stderr, "no terminal") {
		t.Errorf("by the folder: %+v", got)
	}
	// The vault changes, and the agent asks again: the old command is void.
	if err := os.WriteFile(filepath.Join(d.dir, "a.md"), []byte("new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.call("delete_note", deleteA)
	if got := d.without(words(t, a.recovery)...); got.code != exitRefused || !strings.Contains(got.stderr, "--state-fp") {
		t.Errorf("after a change: %+v", got)
	}
}

func TestAScriptApprovesWhereTheConfigSaysSo(t *testing.T) {
	d := newDesk(t, "unattended: true")
	d.serve()
	a := d.call("delete_note", deleteA)
	got := d.without(words(t, a.recovery)...)
	if got.code != 0 || !token.MatchString(got.stdout) || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	if a := d.call("delete_note", deleteA); a.failed {
		t.Errorf("%+v", a)
	}
}

// An agent's own shell has a client above it that is the parent of the server.
func TestAnAgentsShellMayNotAnswer(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		d := newDesk(t, fmt.Sprintf("unattended: true, allow_client_shell: %v", allowed))
		d.serve()
		a := d.call("delete_note", deleteA)
		// The same parent spawns a server and then this command.
		pipe := filepath.Join(d.home, "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		line := `exec 3<>"$PIPE"; "$BIN" serve "$CONFIG" <"$PIPE" >"$OUT" 2>/dev/null &
			printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + initialize + `}' '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_vaults","arguments":{}}}' >&3
			until grep -q '"id":2' "$OUT" 2>/dev/null; do sleep 0.05; done
			"$BIN" ` + strings.Join(words(t, a.recovery), " ") + `; code=$?; kill $!; exit $code`
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Env = append([]string{"VAULT_MCP_TEST_CHILD=1", "PATH=/usr/bin:/bin", "BIN=" + os.Args[0], "CONFIG=" + d.config, "PIPE=" + pipe, "OUT=" + filepath.Join(d.home, "out")}, d.person()...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		code := cmd.ProcessState.ExitCode()
		if allowed && (code != 0 || !token.MatchString(stdout.String())) {
			t.Errorf("allowed: %d, %q, %q", code, stdout.String(), stderr.String())
		}
		if !allowed && (code != exitRefused || stdout.Len() > 0 || !strings.Contains(stderr.String(), "allow_client_shell")) {
			t.Errorf("not allowed: %d, %q, %q", code, stdout.String(), stderr.String())
		}
	}
}
