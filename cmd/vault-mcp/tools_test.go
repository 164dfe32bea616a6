package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a config takes away from agents, the person's own way back still has; a list
// with a mistake is found before anything is served.
func TestListsOfToolsInCommands(t *testing.T) {
	dir, home := plant(t, map[string]string{"a.md": "a\n"}), t.TempDir()
	write := func(tools string) string {
		file := filepath.Join(home, "c.yaml")
		if err := os.WriteFile(file, fmt.Appendf(nil, "vaults: [{path: %q}]\ntools: %s\n", dir, tools), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	file := write("{deny: [undo_change, list_changes]}")
	if got := command(t, home, "", "config", "validate", file); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	if got := command(t, home, "", "call", "-v", file, "list_changes"); got.code != exitRefused || !strings.Contains(got.stderr, "There is no tool") {
		t.Errorf("%+v", got)
	}
	if got := command(t, home, "", "call", "-v", file, "append_note", `{"path":"a","content":"b"}`); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	got := command(t, home, "", "undo", "-v", file)
	if got.code != exitOK || !strings.Contains(got.stdout, "append_note") {
		t.Errorf("%+v", got)
	}
	file = write("{deny: [undo_chang]}")
	for _, args := range [][]string{{"config", "validate", file}, {"serve", file}, {"call", "-v", file, "list_notes"}} {
		if got := command(t, home, "", args...); got.code != exitUsage || !strings.Contains(got.stderr, `did you mean "undo_change"?`) {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got := command(t, home, "", "tools"); !strings.Contains(got.stdout, "undo_change") || !strings.Contains(got.stdout, "find_capability") {
		t.Errorf("%+v", got)
	}
	if got := command(t, home, "", "tools", "git_commit"); !strings.Contains(got.stdout, "domain git, scope execute") {
		t.Errorf("%+v", got)
	}
}
