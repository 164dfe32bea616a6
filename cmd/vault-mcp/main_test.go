package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"vault-mcp/internal/config"
)

// As a child of a test this binary is vault-mcp itself. Its calls may wait for a
// person for less long.
func TestMain(m *testing.M) {
	if os.Getenv("VAULT_MCP_TEST_CHILD") == "1" {
		patience, _ := time.ParseDuration(os.Getenv("VAULT_MCP_TEST_PATIENCE"))
		os.Exit(start(patience))
	}
	// Many of these tests wait for a person's pace, or for other processes.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// plant makes a vault with these files.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault")
	for p, text := range files {
		full := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// outcome is what a command did.
type outcome struct {
	code           int
	stdout, stderr string
}

// command runs one command with a home folder of its own.
func command(t *testing.T, home, stdin string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := config.Env(func(k string) string {
		if k == "HOME" {
			return home
		}
		return ""
	})
	code := run(t.Context(), args, process{stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr, env: env})
	return outcome{code, stdout.String(), stderr.String()}
}

func TestVaultPathsThatCannotBeServed(t *testing.T) {
	parent, home := t.TempDir(), t.TempDir()
	file := filepath.Join(parent, "file.md")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty, closed := filepath.Join(parent, "empty"), filepath.Join(parent, "closed")
	for _, dir := range []string{empty, closed} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(closed, "a.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	paths := map[string]string{
		"absent": filepath.Join(parent, "absent"), "a file": file, "empty folder": empty, "root": "/", "no path": "",
	}
	if os.Getuid() != 0 { // nothing is closed to root
		paths["unreadable"] = closed
	}
	before := tree(t, parent) + tree(t, home)
	for name, path := range paths {
		for _, args := range [][]string{{"serve", path}, {path}, {"call", "-v", path, "list_notes"}} {
			got := command(t, home, "", args...)
			if got.code != exitUsage || got.stdout != "" {
				t.Errorf("%s, %q: code %d, stdout %q", name, args, got.code, got.stdout)
			}
			if n := strings.Count(got.stderr, "\n"); n != 1 || !strings.HasPrefix(got.stderr, "vault-mcp: ") || len(got.stderr) > 400 {
				t.Errorf("%s, %q: %d lines on stderr: %q", name, args, n, got.stderr)
			}
		}
	}
	if after := tree(t, parent) + tree(t, home); after != before {
		t.Errorf("something was created:\n%s", after)
	}
}

// tree lists everything below a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		fmt.Fprintln(&b, p)
		return nil
	})
	return b.String()
}

func TestCall(t *testing.T) {
	dir, home := plant(t, map[string]string{"a.md": "one\ntwo\n"}), t.TempDir()
	tests := []struct {
		name, stdin string
		args        []string
		code        int
		stdout      string // whole, or its beginning if it ends with …
		stderr      string // a part
	}{
		{"prose", "", []string{"read_note", `{"path":"a"}`}, 0, "a.md · …", ""},
		{"arguments from stdin", `{"path":"a","format":"json"}`, []string{"--json", "read_note", "-"}, 0, `{"content":[…`, ""},
		{"no arguments", "", []string{"list_vaults"}, 0, "vaults: [id | name | read_only]\n- main | vault | false\n", ""},
		{"refused", "", []string{"read_note", `{"path":"b"}`}, 1, "", `Error [note_not_found]`},
		{"refused, raw", "", []string{"--json", "read_note", `{"path":"b"}`}, 1, `{"content":[…`, ""},
		{"unknown tool", "", []string{"read_nota", `{}`}, 1, "", `nearest: "read_note"`},
		{"arguments that are no JSON", "", []string{"read_note", `{path}`}, 1, "", "no valid JSON"},
		{"unknown flag", "", []string{"--jsn", "read_note"}, 2, "", "unknown flag"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := command(t, home, tt.stdin, append([]string{"call", "--vault", dir}, tt.args...)...)
			if got.code != tt.code || !strings.Contains(got.stderr, tt.stderr) {
				t.Errorf("code %d, stderr %q", got.code, got.stderr)
			}
			if start, cut := strings.CutSuffix(tt.stdout, "…"); got.stdout != start && !(cut && strings.HasPrefix(got.stdout, start)) {
				t.Errorf("stdout %q, want %q", got.stdout, tt.stdout)
			}
		})
	}
}

func TestHelpHelps(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"call", "--help"}, {"serve", "--help"}} {
		got := command(t, t.TempDir(), "", args...)
		if got.code != 0 || !strings.Contains(got.stdout, "Usage: vault-mcp") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got := command(t, t.TempDir(), ""); got.code != exitUsage || !strings.Contains(got.stderr, "--help") {
		t.Errorf("no arguments: %+v", got)
	}
}

// docs/tools.md is what the program itself says.
func TestToolsAsMarkdown(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("..", "..", "docs", "tools.md"))
	if err != nil {
		t.Fatal(err)
	}
	if got := command(t, t.TempDir(), "", "tools", "--markdown"); got.stdout != string(want) {
		t.Errorf("%d and %d bytes; %+v", len(got.stdout), len(want), got.code)
	}
	if got := command(t, t.TempDir(), "", "tools", "--markdown", "read_note"); !strings.HasPrefix(got.stdout, "## read_note\n") || !strings.Contains(string(want), got.stdout) {
		t.Errorf("%+v", got)
	}
}

func TestConfigCommands(t *testing.T) {
	dir := plant(t, map[string]string{"a.md": ""})
	file := filepath.Join(t.TempDir(), "vault.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("vaults: [{path: " + dir + "}]\n")
	if got := command(t, t.TempDir(), "", "config", "validate", file); got.code != 0 || got.stdout != "ok: 1 vault\n" {
		t.Errorf("validate: %+v", got)
	}
	if got := command(t, t.TempDir(), "", "config", "show", file); got.code != 0 || !strings.Contains(got.stdout, "max_response_bytes: 1000000") {
		t.Errorf("show: %+v", got)
	}
	write("vaults: [{path: " + dir + "}]\ngoverner: {}\nthrottle: {raed: {}}\n")
	got := command(t, t.TempDir(), "", "config", "validate", file)
	if got.code != exitUsage || strings.Count(got.stderr, "did you mean") != 2 {
		t.Errorf("two mistakes: %+v", got)
	}
}

// client is a child process over real pipes.
type client struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
}

func spawn(t *testing.T, home, dir string) *client {
	t.Helper()
	return spawnAs(t, os.Args[0], nil, home, dir)
}

// spawnAs starts a copy of the program, with what the system has to do for it.
func spawnAs(t *testing.T, binary string, attr *syscall.SysProcAttr, home, dir string) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	c := &client{cmd: exec.CommandContext(ctx, binary, "serve", dir)}
	c.cmd.SysProcAttr = attr
	c.cmd.Env = []string{"VAULT_MCP_TEST_CHILD=1", "HOME=" + home}
	c.cmd.Stderr = &c.stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// ask sends a request and returns the answer.
func (c *client) ask(t *testing.T, id int, method, params string) map[string]any {
	t.Helper()
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		t.Fatal(err)
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%v; stderr: %s", err, c.stderr.String())
	}
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil || m["error"] != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return m
}

const initialize = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`

// Some clients start a server twice and throw one away: nothing may be created
// before the first call.
func TestNothingIsCreatedBeforeTheFirstCall(t *testing.T) {
	dir, home := plant(t, map[string]string{"a.md": "x"}), t.TempDir()
	vaultBefore := tree(t, dir)
	c := spawn(t, home, dir)
	c.ask(t, 1, "initialize", initialize)
	c.ask(t, 2, "tools/list", `{}`)
	c.ask(t, 3, "ping", `{}`)
	if got := tree(t, home); got != home+"\n" {
		t.Errorf("before the first call there is:\n%s", got)
	}
	c.ask(t, 4, "tools/call", `{"name":"list_vaults","arguments":{}}`)
	list := filepath.Join(home, ".local", "state", "vault-mcp", "servers")
	b, err := os.ReadFile(list)
	if err != nil || !strings.Contains(string(b), fmt.Sprintf(`"pid":%d`, c.cmd.Process.Pid)) {
		t.Errorf("the list of servers: %v\n%s", err, b)
	}
	rings, err := filepath.Glob(filepath.Join(home, ".local", "state", "vault-mcp", "vault-*", "secrets", "ring.json"))
	if err != nil || len(rings) != 1 {
		t.Fatalf("key rings %q, %v", rings, err)
	}
	for _, f := range []string{list, rings[0]} {
		info, err := os.Stat(f)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
	_ = c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("end: %v", err)
	}
	if b, err := os.ReadFile(list); err != nil || strings.Contains(string(b), `"pid"`) {
		t.Errorf("it is still on the list of servers: %v\n%s", err, b)
	}
	if got := tree(t, dir); got != vaultBefore {
		t.Errorf("something was created in the vault:\n%s", got)
	}
}

func TestSignalsAndEndOfInputEndTheServer(t *testing.T) {
	dir := plant(t, map[string]string{"a.md": "x"})
	for name, end := range map[string]func(*client){
		"SIGTERM": func(c *client) { _ = c.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":  func(c *client) { _ = c.cmd.Process.Signal(os.Interrupt) },
		"EOF":     func(c *client) { _ = c.in.Close() },
	} {
		c := spawn(t, t.TempDir(), dir)
		c.ask(t, 1, "initialize", initialize)
		end(c)
		if err := c.cmd.Wait(); err != nil {
			t.Errorf("%s: %v; stderr: %s", name, err, c.stderr.String())
		}
	}
}

// Without a folder for its state a server still reads, and says what it lacks.
func TestNoPlaceForTheState(t *testing.T) {
	dir := plant(t, map[string]string{"a.md": "x", "b.md": ""})
	home := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := spawn(t, home, dir)
	c.ask(t, 1, "initialize", initialize)
	m := c.ask(t, 2, "tools/call", `{"name":"list_notes","arguments":{"limit":1}}`)
	if m["result"].(map[string]any)["isError"] == true {
		t.Errorf("refused: %v", m)
	}
	_ = c.in.Close()
	_ = c.cmd.Wait()
	if !strings.Contains(c.stderr.String(), "no state folder") {
		t.Errorf("stderr: %s", c.stderr.String())
	}
}
