package vault

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vault-mcp/internal/fault"
)

// soak runs the races against swapped folders for longer.
var soak = flag.Bool("soak", false, "run the race tests ten times as long")

// link in a tree of files is a symbolic link to its text.
type link string

// folderOnly in a tree of files is an empty folder.
type folderOnly struct{}

// plant makes a vault of files (path to string, link or folderOnly).
func plant(t testing.TB, files map[string]any) string {
	t.Helper()
	dir := t.TempDir()
	for p, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch c := content.(type) {
		case string:
			err = os.WriteFile(full, []byte(c), 0o644)
		case link:
			if err = os.Symlink(string(c), full); err != nil && runtime.GOOS == "windows" {
				t.Skip("no right to make links here")
			}
		case folderOnly:
			err = os.MkdirAll(full, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// open opens a vault on dir; each test that takes open runs with both ways to
// open folders.
func open(t testing.TB, dir string, portable bool) *Vault {
	t.Helper()
	v, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	if portable {
		v.enter = openRootFolder
	}
	return v
}

// bothWays runs a test with the folders of this system and with those of any.
func bothWays(t *testing.T, run func(t *testing.T, portable bool)) {
	t.Run("native", func(t *testing.T) { run(t, false) })
	t.Run("portable", func(t *testing.T) { run(t, true) })
}

func codeOf(err error) fault.Code {
	if err == nil {
		return ""
	}
	return fault.Of(err).Code
}

func TestOpenSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "note.md")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(dir, "two\nlines")
	root := filepath.VolumeName(dir) + string(filepath.Separator)
	tests := []struct{ name, dir, want string }{
		{"nothing given", "", "name the folder"},
		{"blanks given", "  ", "name the folder"},
		{"missing", filepath.Join(dir, "gone"), "does not exist"},
		{"home not expanded", "~/Notes", "write the full path"},
		{"a file", file, "is a file"},
		{"below a file", filepath.Join(file, "x"), "vault folder"},
		{"root of the file system", root, "is the root of a file system"},
		{"empty, as an unmounted drive", empty, "open it in Obsidian once"},
		{"a name with a line break", odd, `two\nlines`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Open(tt.dir)
			if err == nil {
				v.Close()
				t.Fatal("it opened")
			}
			if got := err.Error(); !strings.Contains(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("got %q, want one line with %q", got, tt.want)
			}
			if tt.dir == file && !strings.Contains(err.Error(), quote(file)) {
				t.Errorf("%q does not repeat the path", err)
			}
		})
	}
	if left, _ := os.ReadDir(empty); len(left) != 0 {
		t.Error("opening made something")
	}
}

func TestOpenUnreadable(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("every folder can be read by this user")
	}
	dir := plant(t, map[string]any{"a.md": ""})
	for _, mode := range []fs.FileMode{0o000, 0o400} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		os.Chmod(dir, 0o755)
		if err == nil || !strings.Contains(err.Error(), "may not be read") {
			t.Errorf("mode %o: got %v", mode, err)
		}
	}
}

func TestOpenResolvesLinksAndDots(t *testing.T) {
	dir := plant(t, map[string]any{"Real Vault/a.md": "x", "alias": link("Real Vault")})
	want, err := filepath.EvalSymlinks(filepath.Join(dir, "Real Vault"))
	if err != nil {
		t.Fatal(err)
	}
	for _, typed := range []string{"Real Vault", "alias", "alias/", "alias/.", "Real Vault/../alias"} {
		v, err := Open(filepath.Join(dir) + "/" + typed)
		if err != nil {
			t.Fatal(err)
		}
		if v.Dir() != want || v.Name() != "Real Vault" {
			t.Errorf("%q: got %q named %q, want %q", typed, v.Dir(), v.Name(), want)
		}
		v.Close()
	}
}

func TestConfigDir(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]any
		want  string
	}{
		{"never opened", map[string]any{"a.md": ""}, ".obsidian"},
		{"default", map[string]any{".obsidian/app.json": "{}", ".conf/app.json": "{}", ".conf/core-plugins.json": "[]"}, ".obsidian"},
		{"renamed", map[string]any{".conf/app.json": "{}", ".conf/core-plugins.json": "[]", ".git/HEAD": ""}, ".conf"},
		{"renamed, community plugins", map[string]any{".conf/app.json": "{}", ".conf/community-plugins.json": "[]"}, ".conf"},
		{"only half of one", map[string]any{".conf/app.json": "{}"}, ".obsidian"},
		{"no dot", map[string]any{"conf/app.json": "{}", "conf/core-plugins.json": "[]"}, ".obsidian"},
		{"two", map[string]any{".a/app.json": "{}", ".a/core-plugins.json": "[]", ".b/app.json": "{}", ".b/core-plugins.json": "[]"}, ".obsidian"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := open(t, plant(t, tt.files), false).ConfigDir(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestReadConfig(t *testing.T) {
	dir := plant(t, map[string]any{
		".obsidian/app.json":             `{"a":1}`,
		".obsidian/plugins/x/data.json":  `{}`,
		".obsidian/big.json":             strings.Repeat(" ", configLimit+1),
		".obsidian/outside.json":         link(os.DevNull),
		".obsidian/folder.json/app.json": "",
		"secret.md":                      "s",
	})
	v := open(t, dir, false)
	for name, want := range map[string]string{"app.json": `{"a":1}`, "plugins/x/data.json": "{}"} {
		if b, err := v.ReadConfig(name); err != nil || string(b) != want {
			t.Errorf("%s: got %q, %v", name, b, err)
		}
	}
	if _, err := v.ReadConfig("none.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: got %v", err)
	}
	if _, ok := errors.AsType[*TooLargeError](func() error { _, err := v.ReadConfig("big.json"); return err }()); !ok {
		t.Error("4 MiB are no bound")
	}
	for _, name := range []string{"../secret.md", "/etc/hostname", "", ".", "outside.json", "folder.json"} {
		b, err := v.ReadConfig(name)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: got %q, %v", name, b, err)
		} else if strings.Contains(err.Error(), dir) {
			t.Errorf("%q: the error holds a path of the machine: %v", name, err)
		}
	}
}
