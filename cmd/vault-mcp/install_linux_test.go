package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// installed is a copy of this test as the program, at a place of its own.
func installed(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vault-mcp")
	if os.Link(os.Args[0], path) == nil {
		return path
	}
	in, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// starts runs a program of ours without a terminal.
func starts(t *testing.T, home, program, path string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = []string{"VAULT_MCP_TEST_CHILD=1", "HOME=" + home, "PATH=" + path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = home
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code tells
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// A package manager keeps its link when it brings a new version, and not what the
// link leads to now.
func TestInstallWritesTheLinkByWhichItWasStarted(t *testing.T) {
	vault, home, real, bin := plant(t, map[string]string{"a.md": "x"}), t.TempDir(), installed(t), t.TempDir()
	link := filepath.Join(bin, "vault-mcp")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(bin)
	for name, tt := range map[string]struct{ program, want string }{
		"its path": {real, real}, "the link": {link, link}, "by PATH": {"vault-mcp", link},
	} {
		t.Setenv("PATH", bin)
		got := starts(t, home, tt.program, bin, "install", "--dry-run", "--vault", vault, "codex")
		if got.code != exitOK || !strings.Contains(got.stdout, fmt.Sprintf("command = %q", tt.want)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A client would find nothing where go run has put its binary.
func TestInstallRefusesABinaryThatWillBeGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "go-build42", "b001", "exe")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program, vault := filepath.Join(dir, "vault-mcp"), plant(t, map[string]string{"a.md": "x"})
	if err := os.Rename(installed(t), program); err != nil {
		t.Fatal(err)
	}
	got := starts(t, t.TempDir(), program, "", "install", "--vault", vault, "codex")
	if got.code != exitUsage || !strings.Contains(got.stderr, "go build") {
		t.Errorf("%+v", got)
	}
}

func TestInstallAsksWhichVaultIsMeant(t *testing.T) {
	home, binary := t.TempDir(), fakeBinary(t)
	one, two := plant(t, map[string]string{"a.md": "x"}), plant(t, map[string]string{"b.md": "x"})
	list := filepath.Join(home, ".config", "obsidian", "obsidian.json")
	if err := os.MkdirAll(filepath.Dir(list), 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"vaults": {"0a": {"path": %q, "ts": 9}, "0b": {"path": %q, "ts": 1}}}`, one, two)
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"install", "--dry-run", "--command", binary, "codex"}
	if got := starts(t, home, os.Args[0], "", args...); got.code != exitUsage || !strings.Contains(got.stderr, "--vault") || !strings.Contains(got.stderr, two) {
		t.Errorf("without a terminal: %+v", got)
	}
	s := onScreen(t, []string{"HOME=" + home}, args...)
	s.expect("2  " + two)
	s.answer("2")
	s.end(exitOK)
	if got := s.stdout.String(); !strings.Contains(got, two) || strings.Contains(got, one) {
		t.Error(got)
	}
	s = onScreen(t, []string{"HOME=" + home}, args...)
	s.expect("Which one?")
	s.answer("7")
	s.end(exitUsage)
}
