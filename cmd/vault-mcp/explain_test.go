package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The exit code says whether the call would be refused, and --json is for programs.
func TestExplainSaysByItsExitCodeWhetherACallWouldBeRefused(t *testing.T) {
	home, dir := t.TempDir(), plant(t, map[string]string{"a.md": "one\n", "Shut/x.md": "x\n"})
	file := filepath.Join(home, "vault.yaml")
	if err := os.WriteFile(file, []byte("vaults: [{path: "+dir+", rules: [{glob: Shut, verbs: {read: deny}}]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]struct {
		code int
		says string
	}{
		`read_note {"path":"a.md"}`:      {exitOK, "It would run."},
		`delete_note {"path":"a.md"}`:    {exitOK, "A person would be asked"},
		`read_note {"path":"Shut/x.md"}`: {exitRefused, "acl_denied"},
		`reed_note {"path":"a.md"}`:      {exitRefused, "not_found"},
	} {
		tool, in, _ := strings.Cut(args, " ")
		got := command(t, home, "", "explain", "-v", file, tool, in)
		if got.code != want.code || !strings.Contains(got.stdout, want.says) {
			t.Errorf("%s: %+v", args, got)
		}
		got = command(t, home, in, "explain", "--json", "-v", file, tool, "-")
		if got.code != want.code || !json.Valid([]byte(got.stdout)) {
			t.Errorf("%s as JSON: %+v", args, got)
		}
	}
	if got := command(t, home, "", "explain", "-v", filepath.Join(home, "absent"), "read_note"); got.code != exitUsage {
		t.Errorf("no such vault: %+v", got)
	}
}
