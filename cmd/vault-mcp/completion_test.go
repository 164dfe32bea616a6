package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// program is the path of a program that a test needs.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("this machine has no %s", name)
	}
	return path
}

// completion is the file that a shell reads.
func completion(t *testing.T, shell string) string {
	t.Helper()
	got := command(t, t.TempDir(), "", "completion", shell)
	if got.code != 0 {
		t.Fatalf("%+v", got)
	}
	file := filepath.Join(t.TempDir(), "vault-mcp."+shell)
	if err := os.WriteFile(file, []byte(got.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// typedSoFar is what a person has typed, and what then is offered, and what not.
var typedSoFar = []struct {
	line    string
	offered []string
	not     string
}{
	{line: "vault-mcp el", offered: []string{"elicit"}, not: "serve"},
	{line: "vault-mcp elicit wa", offered: []string{"watch"}, not: "serve"},
	{line: "vault-mcp config ", offered: []string{"show", "validate"}, not: "serve"},
	{line: "vault-mcp serve --log-level ", offered: []string{"debug", "info", "warn", "error"}, not: "show"},
	{line: "vault-mcp call --va", offered: []string{"--vault"}, not: "--json"},
	{line: "vault-mcp call -v /notes read_n", offered: []string{"read_note", "read_notes"}, not: "write_note"},
	{line: "vault-mcp tools git_", offered: []string{"git_status", "git_commit"}, not: "read_note"},
	{line: "vault-mcp completion ", offered: []string{"bash", "zsh", "fish"}, not: "serve"},
}

func TestCompletionInARealBash(t *testing.T) {
	bash, file := program(t, "bash"), completion(t, "bash")
	for _, tt := range typedSoFar {
		words := strings.Fields(tt.line)
		if strings.HasSuffix(tt.line, " ") {
			words = append(words, "")
		}
		script := fmt.Sprintf("source %q\nCOMP_WORDS=(%s)\nCOMP_CWORD=%d\n_vault_mcp\nprintf '%%s\\n' \"${COMPREPLY[@]}\"", file, quoted(words), len(words)-1)
		offers(t, tt.line, tt.offered, tt.not, exec.Command(bash, "--norc", "-c", script))
	}
}

func TestCompletionInARealFish(t *testing.T) {
	fish, file := program(t, "fish"), completion(t, "fish")
	for _, tt := range typedSoFar {
		c := exec.Command(fish, "--no-config", "-c", fmt.Sprintf("source %s; complete -C '%s'", file, tt.line))
		c.Env = append(os.Environ(), "HOME="+t.TempDir())
		offers(t, tt.line, tt.offered, tt.not, c)
	}
}

// There is no way to complete a line in zsh without a terminal; that it reads the
// file without a complaint is what is looked at.
func TestCompletionIsReadByZsh(t *testing.T) {
	zsh, file := program(t, "zsh"), completion(t, "zsh")
	script := fmt.Sprintf("autoload -U compinit; compinit -D -u; source %q; print -r -- $_comps[vault-mcp]", file)
	out, err := exec.Command(zsh, "-f", "-c", script).CombinedOutput()
	if err != nil || string(out) != "_vault-mcp\n" {
		t.Errorf("%v: %s", err, out)
	}
}

func offers(t *testing.T, line string, want []string, not string, c *exec.Cmd) {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", line, err, out)
	}
	var got []string
	for l := range strings.Lines(string(out)) {
		word, _, _ := strings.Cut(strings.TrimSpace(l), "\t")
		got = append(got, word)
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%q offers %q, not %q", line, got, w)
		}
	}
	if slices.Contains(got, not) {
		t.Errorf("%q offers %q", line, not)
	}
}

func quoted(words []string) string {
	for i, w := range words {
		words[i] = "'" + w + "'"
	}
	return strings.Join(words, " ")
}

// The manual page has every command and flag, and man has nothing to complain
// about.
func TestTheManualPage(t *testing.T) {
	got := command(t, t.TempDir(), "", "man")
	for _, want := range []string{"elicit watch", `\-\-state\-fp`, `vault\-mcp ` + Version, "EXIT STATUS"} {
		if !strings.Contains(got.stdout, want) && !strings.Contains(got.stdout, strings.ReplaceAll(want, `\`, "")) {
			t.Errorf("it lacks %q", want)
		}
	}
	file := filepath.Join(t.TempDir(), "vault-mcp.1")
	if err := os.WriteFile(file, []byte(got.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{"groff": {"-man", "-ww", "-z"}, "mandoc": {"-T", "lint", "-W", "warning"}} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(program(t, name), append(args, file)...).CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
