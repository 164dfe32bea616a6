package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/clients"
	"vault-mcp/internal/config"
	"vault-mcp/internal/doctor"
)

// patient is a home folder with a vault and the configs of clients.
type patient struct {
	t                   *testing.T
	home, vault, binary string
	left                string // where a server may write down what it has started
}

func newPatient(t *testing.T) *patient {
	p := &patient{t: t, home: t.TempDir(), vault: plant(t, map[string]string{"Compost.md": "the heap\n", "Garden/Beds.md": "the four\n", ".obsidian/app.json": `{"trashOption": "local"}`})}
	p.left = filepath.Join(t.TempDir(), "pid")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.binary = filepath.Join(p.home, "vault-mcp")
	if runtime.GOOS == "windows" {
		p.binary += ".exe"
	}
	if err := os.Symlink(self, p.binary); err != nil {
		t.Skip("this account may make no links")
	}
	return p
}

// asks gives a client an entry that starts a command, as this client writes it.
func (p *patient) asks(client, command string, keys map[string]any) {
	p.t.Helper()
	c, _ := clients.Named(client)
	env := config.Env(func(name string) string { return map[string]string{"HOME": p.home, "USERPROFILE": p.home}[name] })
	place, ok := c.Place(clients.System{OS: runtime.GOOS, Env: env})
	if !ok {
		p.t.Fatal(client)
	}
	entry := map[string]any{"command": command, "args": []string{"serve", p.vault}, "env": map[string]string{"VAULT_MCP_TEST_CHILD": "1", "MY_TOKEN": "sk-not-to-be-shown"}}
	for k, v := range keys {
		entry[k] = v
	}
	text, err := json.Marshal(map[string]any{c.Key: map[string]any{"vault": entry}})
	if client == "codex" {
		var b strings.Builder
		fmt.Fprintf(&b, "[mcp_servers.vault]\ncommand = %q\nargs = [%q, %q]\n", command, "serve", p.vault)
		for k, v := range keys {
			fmt.Fprintf(&b, "%s = %v\n", k, v)
		}
		b.WriteString("[mcp_servers.vault.env]\nVAULT_MCP_TEST_CHILD = \"1\"\nMY_TOKEN = \"sk-not-to-be-shown\"\n")
		text = []byte(b.String())
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(place.Path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(place.Path, text, 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// examine runs doctor --json, which never changes the vault or a config, and never
// prints what an entry keeps secret.
func (p *patient) examine(args ...string) (outcome, doctor.Report) {
	p.t.Helper()
	before := p.files()
	got := command(p.t, p.home, "", append([]string{"doctor", "--json"}, args...)...)
	if after := p.files(); after != before {
		p.t.Errorf("doctor changed something:\n%s", cmp.Diff(before, after))
	}
	if strings.Contains(got.stdout+got.stderr, "sk-not-to-be-shown") {
		p.t.Error("a secret is printed")
	}
	var r doctor.Report
	d := json.NewDecoder(strings.NewReader(got.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		p.t.Fatalf("%v: %q, %q", err, got.stdout, got.stderr)
	}
	return got, r
}

// files are all files of the vault and the home, but for the state that servers keep.
func (p *patient) files() string {
	var b strings.Builder
	for _, dir := range []string{p.vault, p.home} {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if rel, rerr := filepath.Rel(dir, path); err == nil && rerr == nil && (strings.HasPrefix(rel, ".local") || strings.HasPrefix(rel, "Library") || strings.HasPrefix(rel, "AppData")) {
				return filepath.SkipDir
			}
			if err == nil && d.Type().IsRegular() {
				text, _ := os.ReadFile(path)
				fmt.Fprintf(&b, "%s: %s\n", path, text)
			}
			return err
		})
	}
	return b.String()
}

func findings(r doctor.Report, id string) (found []doctor.Finding) {
	for _, f := range r.Findings {
		if f.ID == id {
			found = append(found, f)
		}
	}
	return found
}

// Each client's entry is started as that client does, in its protocol, and it is said
// how a person is asked there.
func TestDoctorStartsTheServerAsEachClientDoes(t *testing.T) {
	for client, want := range map[string]struct {
		protocol string
		prompt   doctor.Level
	}{
		"claude-desktop": {"2025-11-25", doctor.Off},
		"claude-code":    {"2026-07-28", doctor.OK},
		"codex":          {"2025-06-18", doctor.OK},
		"cursor":         {"2025-06-18", doctor.OK},
		"vscode":         {"2025-11-25", doctor.OK},
		"zed":            {"2025-03-26", doctor.Off},
		"gemini":         {"2025-06-18", doctor.Off},
	} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			p.asks(client, p.binary, nil)
			got, r := p.examine()
			if got.code != exitOK || r.Status == doctor.Broken {
				t.Fatalf("code %d: %s", got.code, got.stdout)
			}
			start := findings(r, "client.start")
			if len(start) != 1 || start[0].Client != client || start[0].Server != "vault" || !strings.HasSuffix(start[0].Text, want.protocol) || len(start[0].Times) != 3 {
				t.Errorf("%+v", start)
			}
			if len(findings(r, "client.tools")) != 1 || findings(r, "client.search")[0].Level != doctor.OK {
				t.Errorf("%+v", r.Findings)
			}
			if prompt := findings(r, "client.prompt"); len(prompt) != 1 || prompt[0].Level != want.prompt {
				t.Errorf("%+v", prompt)
			}
			// The vault of the entry is looked at without being named.
			if open := findings(r, "vault.open"); len(open) != 1 || open[0].Level != doctor.OK {
				t.Errorf("%+v", open)
			}
		})
	}
}

// A change that was interrupted is settled by the first call of a server, and doctor
// makes none then.
func TestDoctorSetsNoRecoveryOff(t *testing.T) {
	d := newDeletion(t)
	if got := command(t, d.home, "", "call", "-v", d.dir, "delete_note", `{"path":"a.md"}`); got.code != exitRefused {
		t.Fatalf("%+v", got)
	}
	db := d.open()
	_, err := db.Exec(`INSERT INTO changes (id, tool, vault, caller, call, key, approval, undoes, began, ended, outcome, summary, strange) VALUES ('0123456789abcdef', 'write_note', 'main', 'stdio', 'c', '', '', '', 1, 0, '', '', '')`)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := newPatient(t)
	p.vault = d.dir
	p.home = d.home
	p.asks("cursor", p.binary, nil)
	_, r := p.examine()
	if search := findings(r, "client.search"); len(search) != 1 || search[0].Level != doctor.Off || len(findings(r, "state.open_work")) != 1 {
		t.Errorf("%+v", r.Findings)
	}
	if left := d.text("SELECT outcome FROM changes WHERE id = '0123456789abcdef'"); left != "" {
		t.Errorf("it was settled: %s", left)
	}
}

// A config that takes no client's word has no forms to show.
func TestDoctorTriesTheRoutesOfTheConfig(t *testing.T) {
	p := newPatient(t)
	file := filepath.Join(t.TempDir(), "vault.yaml")
	if err := os.WriteFile(file, []byte(fmt.Sprintf("vaults: [{path: %q}]\nelicit: {routes: [console]}\n", p.vault)), 0o600); err != nil {
		t.Fatal(err)
	}
	p.asks("codex", p.binary, map[string]any{})
	c := p.home + "/.codex/config.toml"
	text, err := os.ReadFile(c)
	if err == nil {
		err = os.WriteFile(c, bytes.Replace(text, []byte(p.vault), []byte(file), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, r := p.examine(); len(findings(r, "client.prompt")) != 1 || findings(r, "client.prompt")[0].Level != doctor.Off {
		t.Errorf("%+v", r.Findings)
	}
}

func TestDoctorsExitCodes(t *testing.T) {
	home := t.TempDir()
	dir := plant(t, map[string]string{"a.md": "caf\xe9\n"})
	for _, tt := range []struct {
		code int
		args []string
	}{
		{exitOK, []string{"doctor", dir}}, // with a warning
		{exitOK, []string{"doctor"}},      // nothing is there, which is off
		{exitRefused, []string{"doctor", filepath.Join(dir, "gone")}},
		{exitUsage, []string{"doctor", "--client", "netscape"}},
	} {
		if got := command(t, home, "", tt.args...); got.code != tt.code {
			t.Errorf("%q: code %d, %s%s", tt.args, got.code, got.stdout, got.stderr)
		}
	}
}

// The form of --json and the ids in it stay: programs read them.
func TestDoctorsJSONStaysTheSame(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the golden file is that of Linux")
	}
	p := newPatient(t)
	p.asks("claude-desktop", "/gone/vault-mcp", nil)
	note := filepath.Join(p.vault, "Old.md")
	if err := os.WriteFile(note, []byte("caf\xe9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, r := p.examine("--no-start", p.vault)
	if got.code != exitRefused {
		t.Errorf("code %d", got.code)
	}
	if r.Counts[doctor.Broken] != 1 {
		t.Errorf("%+v", r.Counts)
	}
	text := strings.NewReplacer(p.vault, "VAULT", p.home, "HOME").Replace(got.stdout)
	for _, machine := range []string{`"[^"]* are free on its disk"`, `"vault-mcp 0\.1\.0, [^"]*"`, `"[^"]*watchers in use"`, `"upper and lower case[^"]*"`} {
		text = regexp.MustCompile(machine).ReplaceAllString(text, `"MACHINE"`)
	}
	text = regexp.MustCompile(`HOME/[^" ]*/vault-[0-9a-f]{16}|(of this program: )[^",]*`).ReplaceAllString(text, "${1}MACHINE")
	text = regexp.MustCompile(`(?s)    \{[^{}]*"id": "program\.(?:found|missing)"[^{}]*\},\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?s)"counts": \{.*?\}`).ReplaceAllString(text, `"counts": {}`)
	golden := filepath.Join("testdata", "doctor.json")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("run with -update if that is meant:\n%s", diff)
	}
}
