package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/clients"
)

func wanted(t testing.TB, client string) Wanted {
	t.Helper()
	c, ok := clients.Named(client)
	if !ok {
		t.Fatal(client)
	}
	return Wanted{Client: c, Name: "vault", Command: "/opt/vault-mcp/vault-mcp", Vault: "/home/ana/Notes"}
}

// laid is a shape as a file in a folder of its own.
type laid struct {
	path   string
	before string // what is in the folder, with modes and texts
}

func lay(t *testing.T, s shape, text string) laid {
	t.Helper()
	dir := t.TempDir()
	l := laid{path: filepath.Join(dir, "config")}
	real := l.path
	if s.link {
		real = filepath.Join(dir, "dotfiles", "real")
		if err := os.Mkdir(filepath.Dir(real), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join("dotfiles", "real"), l.path); err != nil {
			t.Skip("links cannot be made here: ", err)
		}
	}
	if !s.absent {
		mode := os.FileMode(s.mode)
		if mode == 0 {
			mode = 0o644
		}
		if err := os.WriteFile(real, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(real, mode); err != nil {
			t.Fatal(err)
		}
	}
	l.before = snapshot(t, dir)
	return l
}

// snapshot is everything in a folder: names, modes, links and texts.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", p, info.Mode())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %v %q", info.ModTime(), text)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// bytesOf is a snapshot without the times, which a file that comes back does not
// keep.
func bytesOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(snapshot(t, dir)) {
		head, text, ok := strings.Cut(line, ` "`)
		if ok {
			head = strings.Join(strings.Fields(head)[:2], " ")
		}
		b.WriteString(head + text)
	}
	return b.String()
}

func open(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Whatever a person's file looks like: nothing but our entry changes, twice is as
// good as once, and uninstalling gives the first file back.
func TestOnlyOurEntryChanges(t *testing.T) {
	for _, c := range clients.All() {
		shapes := jsonShapes()
		if c.Syntax == clients.TOML {
			shapes = tomlShapes()
		}
		ran := 0
		for _, s := range shapes {
			if s.needs > c.Syntax { // the client could not read it itself
				s.want = refused
			} else {
				ran++
			}
			t.Run(c.ID+"/"+s.name, func(t *testing.T) {
				w := wanted(t, c.ID)
				text := strings.ReplaceAll(s.text, "KEY", c.Key)
				l := lay(t, s, text)
				dir := filepath.Dir(l.path)
				first := bytesOf(t, dir)
				outcome, err := open(t, l.path).Install(w)
				if s.want == refused {
					if r, ok := errors.AsType[*Refused](err); !ok || r.Why == "" || snapshot(t, dir) != l.before {
						t.Fatalf("%s, %v; now\n%s", outcome, err, snapshot(t, dir))
					}
					return
				}
				if want := max(s.want, Added); err != nil || outcome != want {
					t.Fatalf("%s, %v", outcome, err)
				}
				now := open(t, l.path)
				onlyOurs(t, w, outcome, []byte(text), now.Text)
				if s.link {
					if to, err := os.Readlink(l.path); err != nil || to != filepath.Join("dotfiles", "real") {
						t.Errorf("the link is %q, %v", to, err)
					}
				}
				after := snapshot(t, dir)
				if outcome, err := open(t, l.path).Install(w); outcome != Current || err != nil || snapshot(t, dir) != after {
					t.Errorf("again: %s, %v", outcome, err)
				}
				back(t, w, s, l, first, text)
			})
		}
		if ran < 30 {
			t.Errorf("%s: only %d files", c.ID, ran)
		}
	}
}

// back uninstalls, and looks at what is left.
func back(t *testing.T, w Wanted, s shape, l laid, first, text string) {
	t.Helper()
	structural, _, err := w.Take(open(t, l.path).Text)
	if inline := s.name == "our entry, inline"; (err != nil) != inline {
		t.Fatalf("taken out: %v", err)
	} else if inline {
		return
	}
	outcome, err := open(t, l.path).Uninstall(w)
	dir := filepath.Dir(l.path)
	if err != nil {
		t.Fatal(err)
	}
	if s.want != Current && (outcome != Restored || bytesOf(t, dir) != first) {
		t.Errorf("%s: not as it was first:\n%s\n%s", outcome, first, bytesOf(t, dir))
	}
	if s.want == Updated { // there was an entry of ours before: that goes the next time
		outcome, err = open(t, l.path).Uninstall(w)
	}
	if s.want != "" {
		if e, err2 := Find(w.Client, open(t, l.path).Text, w.Name); outcome != Removed || e != nil || err != nil || err2 != nil {
			t.Errorf("%s, %+v, %v, %v", outcome, e, err, err2)
		}
	}
	if s.want == "" && strings.Contains(s.text, `"git"`) && string(structural) != text {
		t.Errorf("without the backup it is\n%s\nwas\n%s", structural, text)
	}
	if again, err := open(t, l.path).Uninstall(w); err != nil || again != Absent {
		t.Errorf("again: %s, %v", again, err)
	}
}

// onlyOurs sees that two texts differ in the entry alone: as bytes, and as decoded.
func onlyOurs(t *testing.T, w Wanted, outcome Outcome, before, after []byte) {
	t.Helper()
	e, err := Find(w.Client, after, w.Name)
	if err != nil || e == nil || e.Command != w.Command || !reflect.DeepEqual(e.Args, w.args()) {
		t.Fatalf("the entry is %+v, %v in\n%s", e, err, after)
	}
	was, err := w.Client.Syntax.Decode(before)
	if err != nil {
		t.Fatal(err)
	}
	is, err := w.Client.Syntax.Decode(after)
	if err != nil {
		t.Fatal(err)
	}
	if w.Client.Syntax == clients.JSON && !json.Valid(bytes.TrimPrefix(after, []byte(clients.BOM))) {
		t.Errorf("no JSON:\n%s", after)
	}
	old, _ := Find(w.Client, before, w.Name)
	if old != nil {
		for _, k := range []string{"command", "args"} {
			delete(old.Keys, k)
			delete(e.Keys, k)
		}
		if diff := cmp.Diff(old.Keys, e.Keys); diff != "" {
			t.Errorf("a person's own keys: %s", diff)
		}
	}
	if !reflect.DeepEqual(w.others(was), w.others(is)) { // cmp takes forever on deep ones
		t.Errorf("something else changed: %v, was %v", w.others(is), w.others(was))
	}
	if outcome != Added {
		return
	}
	// One piece came in, and maybe a comma before it.
	start := 0
	for start < len(before) && before[start] == after[start] {
		start++
	}
	end := 0
	for end < len(before)-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	gone := string(before[start : len(before)-end])
	came := string(after[start : len(after)-end])
	if strings.TrimSpace(gone) != "" && gone != "null" && !strings.HasPrefix(came, ","+gone) {
		t.Errorf("%q became %q", gone, came)
	}
	if nl := lineEnd(before); bytes.Contains(before, []byte("\n")) && strings.Contains(strings.ReplaceAll(came, nl, ""), "\n") {
		t.Errorf("other line ends in %q", came)
	}
}

// How a new entry looks among others.
func TestANewEntryLooksAsItsFileDoes(t *testing.T) {
	tests := []struct{ name, client, before, after string }{
		{"nothing", "claude-desktop", "", "{\n  \"mcpServers\": {\n    \"vault\": {\n      \"command\": \"/opt/vault-mcp/vault-mcp\",\n      \"args\": [\n        \"serve\",\n        \"/home/ana/Notes\"\n      ]\n    }\n  }\n}\n"},
		{"tabs", "vscode", "{\n\t\"servers\": {\n\t\t\"a\": {\"url\": \"u\"} // web\n\t},\n\t\"inputs\": []\n}",
			"{\n\t\"servers\": {\n\t\t\"a\": {\"url\": \"u\"}, // web\n\t\t\"vault\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"/opt/vault-mcp/vault-mcp\",\n\t\t\t\"args\": [\n\t\t\t\t\"serve\",\n\t\t\t\t\"/home/ana/Notes\"\n\t\t\t]\n\t\t}\n\t},\n\t\"inputs\": []\n}"},
		{"one line", "cursor", `{"mcpServers":{"a":{"command":"x"}}}`, `{"mcpServers":{"a":{"command":"x"},"vault":{"command":"/opt/vault-mcp/vault-mcp","args":["serve","/home/ana/Notes"]}}}`},
		{"one line with blanks", "gemini", `{"mcpServers": {"a": {"command": "x"}}, "b": 1}`, `{"mcpServers": {"a": {"command": "x"}, "vault": {"command": "/opt/vault-mcp/vault-mcp", "args": ["serve", "/home/ana/Notes"]}}, "b": 1}`},
		{"a trailing comma", "zed", "// Zed\n{\n    \"vim_mode\": true, // yes\n}\n", "// Zed\n{\n    \"vim_mode\": true, // yes\n    \"context_servers\": {\n        \"vault\": {\n            \"source\": \"custom\",\n            \"command\": \"/opt/vault-mcp/vault-mcp\",\n            \"args\": [\n                \"serve\",\n                \"/home/ana/Notes\"\n            ],\n            \"env\": {}\n        }\n    },\n}\n"},
		{"Codex", "codex", "model = \"a\"", "model = \"a\"\n\n[mcp_servers.vault]\ncommand = \"/opt/vault-mcp/vault-mcp\"\nargs = [\"serve\", \"/home/ana/Notes\"]\nstartup_timeout_sec = 30\ntool_timeout_sec = 300\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, outcome, err := wanted(t, tt.client).Put([]byte(tt.before))
			if err != nil || outcome != Added {
				t.Fatal(outcome, err)
			}
			if diff := cmp.Diff(tt.after, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
