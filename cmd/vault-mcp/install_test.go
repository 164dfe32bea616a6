package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vault-mcp/internal/clients"
	"vault-mcp/internal/config"
)

// fakeBinary is a file that a client could start as this program; the test's own
// binary is in a build cache, where install refuses it.
func fakeBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vault-mcp")
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// fileOf is where a client's entry belongs in a home folder.
func fileOf(t *testing.T, home, client string) string {
	t.Helper()
	c, ok := clients.Named(client)
	if !ok {
		t.Fatal(client)
	}
	p, ok := c.Place(clients.System{OS: runtime.GOOS, Env: config.Env(func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	})})
	if !ok {
		t.Fatal(client)
	}
	return p.Path
}

func TestInstallFromNothingAndBack(t *testing.T) {
	vault, binary := plant(t, map[string]string{"a.md": "x"}), fakeBinary(t)
	for _, c := range clients.All() {
		t.Run(c.ID, func(t *testing.T) {
			home := t.TempDir()
			install := func(args ...string) outcome {
				t.Helper()
				return command(t, home, "", append([]string{"install", "--command", binary}, args...)...)
			}
			got := install("--dry-run", "--vault", vault, c.ID)
			if got.code != exitOK || !strings.Contains(got.stdout, "+++") || tree(t, home) != home+"\n" {
				t.Fatalf("a dry run: %+v\n%s", got, tree(t, home))
			}
			got = install("--vault", vault, c.ID)
			for _, want := range []string{"was added", binary + " serve " + vault, "Now: ", "bytes, about", "elicit watch", "git_commit"} {
				if got.code != exitOK || !strings.Contains(got.stdout, want) || got.stderr != "" {
					t.Fatalf("no %q in %+v", want, got)
				}
			}
			file := fileOf(t, home, c.ID)
			entries, err := c.Read(clients.Place{Path: file})
			if err != nil || len(entries) != 1 || entries[0].Command != binary || fmt.Sprint(entries[0].Args) != fmt.Sprint([]string{"serve", vault}) {
				t.Fatalf("%+v, %v", entries, err)
			}
			if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if strings.Contains(tree(t, home), "state.db") || strings.Contains(tree(t, home), "servers") {
				t.Errorf("more was made than the client's file:\n%s", tree(t, home))
			}
			// Its vault is known now.
			if got := install(c.ID); got.code != exitOK || !strings.Contains(got.stdout, "is current; nothing was written") {
				t.Errorf("again: %+v", got)
			}
			if got := install("--list"); got.code != exitOK || !strings.Contains(got.stdout, "current") || !strings.Contains(got.stdout, vault) {
				t.Errorf("the list: %+v", got)
			}
			if got := install("--uninstall", "--dry-run", c.ID); got.code != exitOK || !strings.Contains(got.stdout, "would be removed") {
				t.Errorf("uninstall, dry: %+v", got)
			}
			if got := install("--uninstall", c.ID); got.code != exitOK || !strings.Contains(got.stdout, "gone again") {
				t.Errorf("uninstall: %+v", got)
			}
			if _, err := os.Lstat(file); err == nil {
				t.Error("the file is left")
			}
			if got := install("--uninstall", c.ID); got.code != exitOK || !strings.Contains(got.stdout, "There is no entry") {
				t.Errorf("uninstall again: %+v", got)
			}
		})
	}
}

func TestInstallRefusesAndSaysTheNextStep(t *testing.T) {
	vault, binary, home := plant(t, map[string]string{"a.md": "x"}), fakeBinary(t), t.TempDir()
	file := fileOf(t, home, "cursor")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, text string
		args       []string
		code       int
		stdout     string
		stderr     string
	}{
		{"somebody else's", `{"mcpServers": {"vault": {"command": "npx"}}}`, []string{"cursor"}, exitRefused, "", "--name"},
		{"hand-tuned", `{"mcpServers": {"vault": {"command": "/o/vault-mcp", "args": ["serve", "--log-level", "debug", "/v"]}}}`, []string{"cursor"}, exitRefused, "By hand", "--force"},
		{"another vault", `{"mcpServers": {"vault": {"command": "/o/vault-mcp", "args": ["serve", "/v"]}}}`, []string{"cursor"}, exitRefused, "By hand", "--name adds"},
		{"half a file", `{"mcpServers": {`, []string{"cursor"}, exitRefused, `"serve"`, "line 1"},
		{"no client", "{}", []string{"emacs"}, exitUsage, "", "claude-desktop, claude-code"},
		{"no client at all", "{}", nil, exitUsage, "CLIENT", "install CLIENT"},
		{"a name", "{}", []string{"--name", "my vault", "cursor"}, exitUsage, "", "letters, digits"},
		{"no vault", "{}", []string{"--vault", filepath.Join(home, "none"), "cursor"}, exitUsage, "", "none"},
		{"no program", "{}", []string{"--command", filepath.Join(home, "none"), "cursor"}, exitUsage, "", "no program"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got := command(t, home, "", append([]string{"install", "--command", binary, "--vault", vault}, tt.args...)...)
			if got.code != tt.code || !strings.Contains(got.stdout, tt.stdout) || !strings.Contains(got.stderr, tt.stderr) {
				t.Errorf("%+v", got)
			}
			if text, err := os.ReadFile(file); err != nil || string(text) != tt.text {
				t.Errorf("the file is %s, %v", text, err)
			}
			if entries, _ := os.ReadDir(filepath.Dir(file)); len(entries) != 1 {
				t.Errorf("left: %v", entries)
			}
		})
	}
}

func TestInstallFindsTheVaultInObsidiansList(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the list is laid where Linux has it")
	}
	one, two, binary, home := plant(t, map[string]string{"a.md": "x"}), plant(t, map[string]string{"b.md": "x"}), fakeBinary(t), t.TempDir()
	list := filepath.Join(home, ".config", "obsidian", "obsidian.json")
	if err := os.MkdirAll(filepath.Dir(list), 0o755); err != nil {
		t.Fatal(err)
	}
	install := func(text string, args ...string) (served string, got outcome) {
		t.Helper()
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got = command(t, home, "", append([]string{"install", "--json", "--command", binary, "--dry-run", "zed"}, args...)...)
		var r result
		if json.Unmarshal([]byte(got.stdout), &r) == nil {
			for _, v := range []string{one, two} {
				if strings.Contains(r.Diff, fmt.Sprintf("%q", v)) {
					served += v
				}
			}
		}
		return served, got
	}
	if _, got := install(`{}`); got.code != exitUsage || !strings.Contains(got.stderr, "--vault PATH") {
		t.Errorf("none: %+v", got)
	}
	if served, got := install(fmt.Sprintf(`{"vaults": {"0a": {"path": %q, "ts": 1}, "0b": {"path": %q, "ts": 9}}}`, one, two+"/gone")); served != one {
		t.Errorf("one is there: %+v", got)
	}
	both := fmt.Sprintf(`{"vaults": {"0a": {"path": %q, "ts": 9}, "0b": {"path": %q, "ts": 1}}}`, one, two)
	if served, got := install(strings.Replace(both, `"ts": 1`, `"ts": 1, "open": true`, 1)); served != two {
		t.Errorf("one is open: %+v", got)
	}
	if served, got := install(both, "--vault", "0b"); served != two {
		t.Errorf("by its id: %+v", got)
	}
	if _, got := install(both, "--vault", filepath.Base(one)); got.code != exitUsage {
		t.Errorf("a name that two have: %+v", got)
	}
}

// A person has switched the entry off, and a new binary does not switch it on.
func TestInstallLeavesAnEntrySwitchedOffAndSaysSo(t *testing.T) {
	vault, binary, home := plant(t, map[string]string{"a.md": "x"}), fakeBinary(t), t.TempDir()
	file := fileOf(t, home, "codex")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("[mcp_servers.vault]\nenabled = false\ncommand = '/o/vault-mcp'\nargs = ['serve', %q]\n", vault)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := command(t, home, "", "install", "--list"); got.code != exitOK || !strings.Contains(got.stdout, "off") {
		t.Errorf("the list: %+v", got)
	}
	got := command(t, home, "", "install", "--command", binary, "codex")
	if got.code != exitOK || !strings.Contains(got.stdout, "was updated") || !strings.Contains(got.stdout, "switched off") {
		t.Errorf("%+v", got)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != strings.Replace(text, "'/o/vault-mcp'", fmt.Sprintf("%q", binary), 1) {
		t.Errorf("%s, %v", now, err)
	}
}
