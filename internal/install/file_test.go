package install

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"vault-mcp/internal/clients"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Claude Code writes its file at any time: what it writes between our reading and
// writing is not lost.
func TestAChangeInBetweenIsNotLost(t *testing.T) {
	w := wanted(t, "claude-code")
	path := filepath.Join(t.TempDir(), ".claude.json")
	const theirs = `{"theme": "light"}`
	for name, meanwhile := range map[string]func(){
		"changed": func() { write(t, path, theirs) },
		"gone":    func() { _ = os.Remove(path) },
		"a link": func() {
			write(t, path+".real", `{"theme": "dark"}`)
			_ = os.Remove(path)
			_ = os.Symlink(path+".real", path)
		},
	} {
		_ = os.Remove(path)
		write(t, path, `{"theme": "dark"}`)
		f := open(t, path)
		meanwhile()
		before := snapshot(t, filepath.Dir(path))
		if err := f.Write([]byte("{}")); !errors.Is(err, ErrChanged) || snapshot(t, filepath.Dir(path)) != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	_ = os.Remove(path)
	f := open(t, path)
	write(t, path, theirs)
	if _, err := f.Install(w); !errors.Is(err, ErrChanged) || read(t, path) != theirs {
		t.Errorf("it came in between: %v", err)
	}
}

func TestAfterOtherChangesOnlyTheEntryGoes(t *testing.T) {
	w := wanted(t, "cursor")
	path := filepath.Join(t.TempDir(), "mcp.json")
	write(t, path, "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n")
	if _, err := open(t, path).Install(w); err != nil {
		t.Fatal(err)
	}
	with := strings.Replace(read(t, path), `"a"`, `"b"`, 1)
	write(t, path, with)
	if outcome, err := open(t, path).Uninstall(w); err != nil || outcome != Removed {
		t.Fatal(outcome, err)
	}
	if got := read(t, path); got != "{\n  \"mcpServers\": {\n    \"b\": {\"command\": \"x\"}\n  }\n}\n" {
		t.Error(got)
	}
	if got := read(t, path+BackupSuffix); got != with {
		t.Errorf("the backup: %s", got)
	}
}

// The backup is of the file without our entry, however often the entry is brought
// up to date.
func TestAnUpdateKeepsTheFirstBackup(t *testing.T) {
	for _, c := range clients.All() {
		first := "{\n  \"a\": 1\n}\n"
		if c.Syntax == clients.TOML {
			first = "a = 1"
		}
		w := wanted(t, c.ID)
		path := filepath.Join(t.TempDir(), "file")
		write(t, path, first)
		for _, command := range []string{"/one/vault-mcp", "/two/vault-mcp", "/three/vault-mcp"} {
			w.Command = command
			if _, err := open(t, path).Install(w); err != nil {
				t.Fatal(err)
			}
		}
		if outcome, err := open(t, path).Uninstall(w); err != nil || outcome != Restored || read(t, path) != first {
			t.Errorf("%s: %s, %v, %q", c.ID, outcome, err, read(t, path))
		}
		if _, err := os.Lstat(path + BackupSuffix); err == nil {
			t.Errorf("%s: the backup is left", c.ID)
		}
	}
}

func TestTwoEntriesOfOurs(t *testing.T) {
	for _, c := range clients.All() {
		w := wanted(t, c.ID)
		second := w
		second.Name, second.Vault = "work", `/home/ana/"Work" ü\`
		path := filepath.Join(t.TempDir(), "file")
		for _, w := range []Wanted{w, second} {
			if outcome, err := open(t, path).Install(w); err != nil || outcome != Added {
				t.Fatal(outcome, err)
			}
		}
		for _, w := range []Wanted{w, second} {
			if outcome, err := open(t, path).Install(w); err != nil || outcome != Current {
				t.Errorf("%s, %s: %s, %v", c.ID, w.Name, outcome, err)
			}
		}
		if outcome, err := open(t, path).Uninstall(w); err != nil || outcome != Removed {
			t.Errorf("%s: %s, %v", c.ID, outcome, err)
		}
		if e, err := Find(c, []byte(read(t, path)), "work"); err != nil || e == nil || e.Args[1] != second.Vault {
			t.Errorf("%s: %+v, %v", c.ID, e, err)
		}
	}
}

// What a person has written is only replaced when they say so, and then their other
// keys stay.
func TestForceReplacesCommandAndArgumentsAlone(t *testing.T) {
	w := wanted(t, "codex")
	const tuned = "[mcp_servers.vault]\ncommand = '/o/vault-mcp'\nargs = ['--log-level', 'debug', 'serve', '/v'] # mine\nenabled = false\n"
	path := filepath.Join(t.TempDir(), "config.toml")
	write(t, path, tuned)
	_, err := open(t, path).Install(w)
	r, ok := errors.AsType[*Refused](err)
	if !ok || !strings.Contains(r.Why, "--force") || !strings.Contains(r.Snippet, "[mcp_servers.vault]") {
		t.Fatalf("%v", err)
	}
	w.Force = true
	if outcome, err := open(t, path).Install(w); err != nil || outcome != Updated {
		t.Fatal(outcome, err)
	}
	want := "[mcp_servers.vault]\ncommand = \"/opt/vault-mcp/vault-mcp\"\nargs = [\"serve\", \"/home/ana/Notes\"] # mine\nenabled = false\n"
	if got := read(t, path); got != want || read(t, path+BackupSuffix) != tuned {
		t.Error(got)
	}
	// Somebody else's entry stays even then.
	write(t, path, "[mcp_servers.vault]\ncommand = 'npx'\n")
	if _, err := open(t, path).Install(w); err == nil || !strings.Contains(err.Error(), "--name") {
		t.Errorf("%v", err)
	}
	if outcome, err := open(t, path).Uninstall(w); err == nil || !strings.Contains(err.Error(), "none of ours") {
		t.Errorf("%s, %v", outcome, err)
	}
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err == nil {
		t.Error("a folder was opened")
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "none"), link); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	if _, err := Open(link); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("%v", err)
	}
}

// Whatever a file says: with the entry it says that and the entry, twice is as good
// as once, and without the entry it says what it said.
func fuzz(f *testing.F, client string, seeds []shape) {
	w := wanted(f, client)
	for _, s := range seeds {
		if len(s.text) < 4000 {
			f.Add([]byte(strings.ReplaceAll(s.text, "KEY", w.Client.Key)))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		had, _ := Find(w.Client, text, w.Name)
		now, outcome, err := w.Put(text)
		if err != nil || outcome == Current {
			return
		}
		if err := w.check(text, now); err != nil {
			t.Fatalf("%v:\n%s", err, now)
		}
		if utf8.Valid(text) && !utf8.Valid(now) {
			t.Fatalf("no UTF-8: %q", now)
		}
		if _, again, err := w.Put(now); err != nil || again != Current {
			t.Fatalf("again: %s, %v in\n%s", again, err, now)
		}
		without, _, err := w.Take(now)
		if err != nil {
			t.Fatalf("not to be taken out: %v\n%s", err, now)
		}
		if err := w.check(text, without); err != nil {
			t.Fatalf("%v:\n%s", err, without)
		}
		if left, err := Find(w.Client, without, w.Name); left != nil || err != nil {
			t.Fatalf("it is still there: %v\n%s", err, without)
		}
		if outcome == Added && had != nil {
			t.Fatal("added to what was there")
		}
	})
}

func FuzzJSON(f *testing.F) { fuzz(f, "zed", jsonShapes()) }
func FuzzTOML(f *testing.F) { fuzz(f, "codex", tomlShapes()) }
