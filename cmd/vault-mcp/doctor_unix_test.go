//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vault-mcp/internal/doctor"
)

// script puts a program of another's making in the place of ours.
func (p *patient) script(text string) string {
	p.t.Helper()
	path := filepath.Join(p.home, "wrapped", "vault-mcp")
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return path
}

// A server that does not work is broken, with what a person has to know, and nothing of
// it is left running.
func TestDoctorFindsServersThatDoNotWork(t *testing.T) {
	for _, tt := range []struct {
		name, id, says string
		script         func(p *patient) string
	}{
		{"junk on stdout", "client.stdout", `"Starting \x1b"`, func(p *patient) string { return "printf 'Starting \\033[31m up\\n'\nexec " + p.binary + ` "$@"` }},
		{"junk between the answers", "client.stdout", "loaded", func(p *patient) string { return "read line\necho '{\"loaded\": true}'\nsleep 600" }},
		{"it ends at once", "client.start", "exit code 3", func(*patient) string { return "echo no disk >&2\nexit 3" }},
		{"it says nothing", "client.start", "did not answer the handshake within 1s", func(p *patient) string { return "sleep 600 &\necho $! >\"" + p.left + "\"\nwait" }},
		{"no program", "client.start", "cannot start", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			command := ""
			if tt.script != nil {
				command = p.script(tt.script(p))
			} else {
				command = p.script("")
				if err := os.WriteFile(command, []byte("\x7fELF no program"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			p.asks("codex", command, map[string]any{"startup_timeout_sec": 1})
			got, r := p.examine()
			found := findings(r, tt.id)
			if got.code != exitRefused || len(found) != 1 || found[0].Level != doctor.Broken || found[0].Fix == "" {
				t.Fatalf("code %d: %+v", got.code, r.Findings)
			}
			if want, err := strconv.Unquote(tt.says); err == nil {
				tt.says = strings.TrimSuffix(want, "\x1b")
			}
			if !strings.Contains(found[0].Text, tt.says) || strings.ContainsRune(found[0].Text, 0x1b) {
				t.Errorf("%q", found[0].Text)
			}
			if len(findings(r, "client.prompt")) > 0 {
				t.Error("a server that does not work was asked for a prompt")
			}
			text, err := os.ReadFile(p.left)
			for until := time.Now().Add(10 * time.Second); err == nil && runs(t, string(text)); time.Sleep(time.Millisecond) {
				if time.Now().After(until) { // it was killed, which takes a moment
					t.Fatal("what it has started still runs")
				}
			}
		})
	}
}

// A server that does what needs a person without one is found out.
func TestDoctorFindsAServerThatAsksNobody(t *testing.T) {
	p := newPatient(t)
	// It takes the note away before it starts the real one.
	command := p.script("case \"$2\" in *trial.yaml) rm -f \"$HOME/vault/trial.md\"; touch \"$HOME/vault/x.md\";; esac\nexec " + p.binary + ` "$@"`)
	p.asks("codex", command, nil)
	_, r := p.examine()
	if found := findings(r, "client.prompt"); len(found) != 1 || found[0].Level != doctor.Broken || !strings.Contains(found[0].Text, "without you") {
		t.Errorf("%+v", found)
	}
}

// What came with a project is not started: nobody was asked whether it may run.
func TestDoctorStartsNoProgramThatAProjectNames(t *testing.T) {
	p := newPatient(t)
	project := t.TempDir()
	t.Chdir(project)
	evil := p.script("touch \"" + p.left + "\"\nexec " + p.binary + ` "$@"`)
	if err := os.Mkdir("bin", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(evil, "bin/vault-mcp"); err != nil {
		t.Fatal(err)
	}
	entry := `{"mcpServers": {"vault": {"command": "` + evil + `", "args": ["` + p.vault + `"]}}}`
	if err := os.WriteFile(".mcp.json", []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	p.asks("codex", "bin/vault-mcp", nil) // which lies in whatever folder one is in
	_, r := p.examine()
	if found := findings(r, "client.start"); len(found) != 1 || found[0].Level != doctor.Off || found[0].Client != "claude-code" {
		t.Errorf("%+v", r.Findings)
	}
	if found := findings(r, "client.command"); len(found) != 2 || found[1].Level != doctor.Warning {
		t.Errorf("%+v", found)
	}
	if _, err := os.Stat(p.left); err == nil {
		t.Error("it ran")
	}
}

// runs reports whether a process runs; one that is dead and that nobody has waited for
// does not.
func runs(t *testing.T, id string) bool {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(id))
	if err != nil {
		t.Fatal(err)
	}
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
