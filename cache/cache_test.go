package cache

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func fakeEnv(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the table is written with /")
	}
	const key = "notes-591f39cfdb258475"
	tests := []struct {
		name, goos, override string
		env                  map[string]string
		want                 string
	}{
		{name: "linux", goos: "linux", env: map[string]string{"HOME": "/home/ana"}, want: "/home/ana/.local/state/vault-mcp/" + key},
		{name: "XDG", goos: "linux", env: map[string]string{"HOME": "/home/ana", "XDG_STATE_HOME": "/state"}, want: "/state/vault-mcp/" + key},
		{name: "a relative XDG counts as unset", goos: "linux", env: map[string]string{"HOME": "/home/ana", "XDG_STATE_HOME": "state"}, want: "/home/ana/.local/state/vault-mcp/" + key},
		{name: "macOS", goos: "darwin", env: map[string]string{"HOME": "/Users/ana", "XDG_STATE_HOME": "/state"}, want: "/Users/ana/Library/Application Support/vault-mcp/" + key},
		{name: "windows", goos: "windows", env: map[string]string{"LOCALAPPDATA": "/L"}, want: "/L/vault-mcp/" + key},
		{name: "windows, stripped environment", goos: "windows", env: map[string]string{"USERPROFILE": "/U"}, want: "/U/AppData/Local/vault-mcp/" + key},
		{name: "state_dir", goos: "linux", override: "/srv/state", want: "/srv/state/" + key},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := folder(tt.goos, fakeEnv(tt.env), tt.override, "/home/ana/Notes")
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestFolderSaysWhatToSet(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the table is written with /")
	}
	tests := []struct{ name, goos, override, vault, want string }{
		{"no HOME", "linux", "", "/v", "set HOME"},
		{"no HOME on macOS", "darwin", "", "/v", "set HOME"},
		{"no LOCALAPPDATA", "windows", "", "/v", "set LOCALAPPDATA"},
		{"relative state_dir", "linux", "state", "/v", "not absolute"},
		{"relative vault", "linux", "/s", "v", "not absolute"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := folder(tt.goos, fakeEnv(nil), tt.override, tt.vault)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestTwoVaultsOfOneNameDoNotShareState(t *testing.T) {
	a, b := vaultKey("/home/ana/Notes"), vaultKey("/work/Notes")
	if a == b || !strings.HasPrefix(a, "notes-") || !strings.HasPrefix(b, "notes-") {
		t.Errorf("got %q and %q, want notes-… twice, but different", a, b)
	}
}

func TestSlug(t *testing.T) {
	tests := []struct{ in, want string }{
		{"My Notes (2024)", "my-notes-2024"},
		{"日記", "vault"},
		{"../..", "vault"},
		{"Bücher & Zettel", "b-cher-zettel"},
		{strings.Repeat("ab ", 40), "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-a"},
	}
	for _, tt := range tests {
		if got := slug(tt.in); got != tt.want {
			t.Errorf("slug(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestPrepareMakesAPrivateFolder(t *testing.T) {
	root, vault := t.TempDir(), t.TempDir()
	dir := filepath.Join(root, "a", "b")
	for range 2 { // the second start finds it
		if err := Prepare(dir, vault); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		info, err := os.Stat(d)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v, %v, want 0700", d, info.Mode(), err)
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs modes and links")
	}
	root := t.TempDir()
	vault := filepath.Join(root, "Notes")
	mkdir(t, filepath.Join(vault, "sub"), 0o700)
	open := filepath.Join(root, "it's open")
	mkdir(t, open, 0o755)
	symlink(t, vault, filepath.Join(root, "link"))
	symlink(t, t.TempDir(), filepath.Join(root, "leaf"))
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, dir, want string }{
		{"the vault itself", vault, "inside the vault"},
		{"inside the vault", filepath.Join(vault, "x", "y"), "inside the vault"},
		{"inside the vault by a link", filepath.Join(root, "link", "state"), "inside the vault"},
		{"open to others", open, `run chmod 700 '` + filepath.Join(root, `it'\''s open`) + `'`},
		{"a link", filepath.Join(root, "leaf"), "symbolic link"},
		{"below a file", filepath.Join(file, "state"), "not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Prepare(tt.dir, vault)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
	if entries, _ := os.ReadDir(vault); len(entries) != 1 {
		t.Errorf("the vault was touched: %v", entries)
	}
}

func TestPrivateRefusesWhatBelongsToSomebodyElse(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Skip(err)
	}
	if err := Private(path); err == nil || !strings.Contains(err.Error(), "another account (uid 12345)") {
		t.Errorf("got %v", err)
	}
}

func TestWithin(t *testing.T) {
	root := t.TempDir()
	notes := filepath.Join(root, "Notes")
	mkdir(t, notes, 0o700)
	mkdir(t, filepath.Join(root, "Notes2"), 0o700)
	tests := []struct {
		path string
		want bool
	}{
		{"Notes", true},
		{"Notes/a/b", true},
		{"Notes/../Notes/a", true},
		{"Notes2", false},
		{"Notes2/a", false},
		{".", false},
	}
	for _, tt := range tests {
		got, err := Within(filepath.Join(root, filepath.FromSlash(tt.path)), notes)
		if err != nil || got != tt.want {
			t.Errorf("Within(%q) = %v, %v, want %v", tt.path, got, err, tt.want)
		}
	}
	if _, err := Within(root, filepath.Join(root, "absent")); err == nil {
		t.Error("a vault that is not there was taken for one")
	}
}

func mkdir(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
}
