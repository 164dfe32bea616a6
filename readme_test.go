package main_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// A new user copies what the README has in its blocks marked sh, with a fresh home
// folder that has a vault, and with nothing but Go. What needs a client or a person
// is marked console. The line that runs all tests is left out, as this is one.
func TestTheReadmeRunsAsItStands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the README is written for a Unix shell")
	}
	if testing.Short() {
		t.Skip("it builds the program twice")
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir, home := t.TempDir(), t.TempDir()
	if err := copyTree(dir, "."); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(home, "Notes"), os.DirFS("testdata/vaults/garden")); err != nil {
		t.Fatal(err)
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := shellBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 2 {
		t.Errorf("it has %d blocks to run", len(blocks))
	}
	for _, b := range blocks {
		script := strings.ReplaceAll(b[1], "go test ./...\n", "")
		c := exec.CommandContext(t.Context(), "/bin/sh", "-eu", "-c", script)
		c.Dir = dir
		// What Go has downloaded and built is kept; nothing is fetched.
		c.Env = []string{
			"HOME=" + home, "PATH=" + filepath.Dir(goTool), "GOPROXY=off", "GOFLAGS=-mod=readonly -buildvcs=false",
			"GOCACHE=" + goEnv(t, "GOCACHE"), "GOMODCACHE=" + goEnv(t, "GOMODCACHE"),
		}
		out, err := c.CombinedOutput()
		if err != nil || len(out) == 0 {
			t.Errorf("%v in\n%s\n%s", err, script, out)
		}
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// copyTree copies the project without what is not part of it.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, path), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, path), text, 0o644)
	})
}
