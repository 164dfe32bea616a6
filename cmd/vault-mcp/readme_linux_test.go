package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"vault-mcp/internal/racing"
)

// nothingWrong is the end of what doctor says where there is neither a warning nor
// anything broken.
var nothingWrong = regexp.MustCompile(`(?m)^(\d+ off, )?\d+ ok$`)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// A new user copies what the README has in its blocks marked sh, with a fresh home
// folder that has a vault, and with nothing but Go: they build the program, set a
// client up and let doctor look. What needs a client or a person is marked console.
// The line that runs all tests is left out, as this is one.
//
// Then the client starts what was written into its config, and its agent deletes a
// note: it is blocked, approved in the browser, and undone.
func TestANewUserFollowsTheReadme(t *testing.T) {
	racing.Skips(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds the program twice")
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, home := t.TempDir(), t.TempDir()
	if err := copyTree(source, "../.."); err != nil {
		t.Fatal(err)
	}
	vault := filepath.Join(home, "Notes")
	if err := os.CopyFS(vault, os.DirFS("../../testdata/vaults/garden")); err != nil {
		t.Fatal(err)
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := shellBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 3 {
		t.Errorf("it has %d blocks to run", len(blocks))
	}
	said := ""
	for _, b := range blocks {
		script := strings.ReplaceAll(b[1], "go test ./...\n", "")
		c := exec.CommandContext(t.Context(), "/bin/sh", "-eu", "-c", script)
		c.Dir = source
		// What Go has downloaded and built is kept, so it is built as elsewhere; nothing is fetched.
		c.Env = []string{
			"HOME=" + home, "PATH=" + filepath.Dir(goTool), "GOPROXY=off", "GOFLAGS=-mod=readonly -buildvcs=false -trimpath", "CGO_ENABLED=0",
			"GOCACHE=" + goEnv(t, "GOCACHE"), "GOMODCACHE=" + goEnv(t, "GOMODCACHE"),
		}
		out, err := c.CombinedOutput()
		if err != nil || len(out) == 0 {
			t.Fatalf("%v in\n%s\n%s", err, script, out)
		}
		said += string(out)
	}
	if !nothingWrong.MatchString(said) {
		t.Errorf("doctor is not content: %s", said)
	}

	d := &desk{t: t, home: home, dir: vault, config: vault}
	command, args := d.installed()
	d.start(command, args)
	const note = "Plants/Bean.md"
	if a := d.call("delete_note", `{"path":"`+note+`"}`); a.reason != "approval_required" || !d.has(note) {
		t.Fatalf("%+v", a)
	}
	w := browse(t)
	w.do(chromedp.Navigate(d.onPage()))
	w.press("button[name=approve]")
	w.until("Approved.")
	if a := d.call("delete_note", `{"path":"`+note+`"}`); a.failed || d.has(note) {
		t.Fatalf("%+v", a)
	}
	w.press("nav a:nth-of-type(2)")
	w.until("on a page")
	w.press("ol.rows a")
	w.until("To take it back")
	undo, err := chromedp.Run(w.ctx, chromedp.Text(chromedp.CSS("pre.command")))
	if err != nil {
		t.Fatal(err)
	}
	s := onScreen(t, d.person(), words(t, undo)...)
	s.expect("[y/N]")
	s.press("y\n")
	s.end(exitOK)
	if !d.has(note) {
		t.Fatalf("%s: %s", undo, s.shown())
	}
}

// installed is the command that Claude Code starts.
func (d *desk) installed() (command string, args []string) {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.home, ".claude.json"))
	if err != nil {
		d.t.Fatal(err)
	}
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal(text, &config); err != nil {
		d.t.Fatal(err)
	}
	entry := config.MCPServers["vault"]
	return entry.Command, entry.Args
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
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o644)
	})
}
