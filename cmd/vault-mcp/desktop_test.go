package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestInstallDesktopPutsThePageIntoTheMenu(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only desktops of Linux have such entries")
	}
	home, binary := t.TempDir(), fakeBinary(t)
	file := filepath.Join(home, ".local", "share", "applications", "vault-mcp-approvals.desktop")
	for _, tt := range []struct {
		says  string
		there bool
		args  []string
	}{
		{"+Exec=", false, []string{"--dry-run"}},
		{"added", true, nil},
		{"current", true, nil},
		{"-Exec=", true, []string{"--uninstall", "--dry-run"}},
		{"removed", false, []string{"--uninstall"}},
		{"absent", false, []string{"--uninstall"}},
	} {
		got := command(t, home, "", append([]string{"install", "--command", binary, "desktop"}, tt.args...)...)
		_, err := os.Stat(file)
		if got.code != exitOK || !strings.Contains(got.stdout, tt.says) || (err == nil) != tt.there {
			t.Errorf("%q: %+v, there: %v", tt.args, got, err)
		}
		if text, _ := os.ReadFile(file); tt.there && !strings.Contains(string(text), `Exec="`+binary+`" "elicit" "page"`) {
			t.Errorf("%s", text)
		}
	}
}
