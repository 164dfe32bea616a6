package main

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Beside a server that runs, the audit is listed and verified; tampering is
// found.
func TestAuditIsListedAndVerified(t *testing.T) {
	home := t.TempDir()
	dir := plant(t, map[string]string{"a.md": "one\n"})
	if o := command(t, home, "", "audit", "verify", "-v", dir); o.code != exitOK || !strings.Contains(o.stdout, "nothing was audited yet") {
		t.Fatalf("%+v", o)
	}
	if o := command(t, home, "", "call", "-v", dir, "append_note", `{"path":"a.md","content":"more\n"}`); o.code != exitOK {
		t.Fatalf("%+v", o)
	}
	if o := command(t, home, "", "call", "-v", dir, "delete_note", `{"path":"a.md"}`); o.code != exitRefused {
		t.Fatalf("%+v", o)
	}
	o := command(t, home, "", "audit", "-v", dir, "--json", "--path", "a.md", "--outcome", "applied", "--tool", "append_note", "--caller", "cli")
	var row struct {
		Kind, Vault string
		Change      string `json:"change_id"`
		Paths       []string
		At          time.Time
	}
	if err := json.Unmarshal([]byte(o.stdout), &row); o.code != exitOK || err != nil || row.Kind != "end" || row.Vault != "main" || len(row.Paths) != 1 || row.Change == "" {
		t.Fatalf("%+v, %v", o, err)
	}
	o = command(t, home, "", "audit", "list", "-v", dir, "--limit", "1")
	if o.code != exitOK || !strings.Contains(o.stdout, "request  delete_note by cli in main") || strings.Count(o.stdout, "\n") != 1 {
		t.Errorf("%+v", o)
	}
	for _, args := range [][]string{{"--since", "2999-01-01"}, {"--until", "2001-01-01T00:00:00Z"}, {"--path", "none.md"}} {
		if o := command(t, home, "", append([]string{"audit", "-v", dir}, args...)...); o.code != exitOK || o.stdout != "" {
			t.Errorf("%q: %+v", args, o)
		}
	}
	for _, args := range [][]string{{"--since", "soon"}, {"--in", "other"}, {"--limit", "x"}, {"--path", "../a.md"}} {
		if o := command(t, home, "", append([]string{"audit", "-v", dir}, args...)...); o.code != exitUsage || o.stderr == "" {
			t.Errorf("%q: %+v", args, o)
		}
	}
	if o := command(t, home, "", "audit", "verify", "-v", dir); o.code != exitOK || !strings.Contains(o.stdout, "main: the audit is whole: ") {
		t.Errorf("%+v", o)
	}
	files, _ := filepath.Glob(filepath.Join(home, ".local/state/vault-mcp/*/state.db"))
	db, err := sql.Open("sqlite", "file:"+files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE audit SET caller = 'someone' WHERE seq = 2"); err != nil {
		t.Fatal(err)
	}
	if o := command(t, home, "", "audit", "verify", "-v", dir); o.code != exitRefused || !strings.Contains(o.stdout, "main: Row 2 is not what it was") {
		t.Errorf("%+v", o)
	}
}
