//go:build unix

package git

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe has no end, and is no file of git's.
func TestPipesAreNotRead(t *testing.T) {
	for _, name := range []string{".git", ".git/HEAD", ".git/config", ".git/index", ".git/packed-refs", ".git/refs/heads/main", ".git/shallow"} {
		r := newRepo(t)
		r.write("a.md", "a\n")
		r.commit("one")
		path := filepath.Join(r.dir, name)
		os.RemoveAll(path)
		if err := syscall.Mkfifo(path, 0o644); err != nil {
			t.Fatal(err)
		}
		repo, err := Open(r.dir, Options{})
		if err == nil {
			_, err = repo.Head()
		}
		if err == nil {
			_, err = repo.Index()
		}
		if err == nil {
			_, err = repo.Resolve("none")
		}
		if err == nil || kind(err) == "revision" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is written into another account's folder is not read, unless the person said
// so where git reads it.
func TestOpenJudgesTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	r := newRepo(t)
	if err := os.Chown(filepath.Join(r.dir, ".git"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", r.home)
	t.Setenv("XDG_CONFIG_HOME", "")
	if _, err := Open(r.dir, Options{}); kind(err) != "owner" || !strings.Contains(err.Error(), "safe.directory") {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		value string
		ok    bool
	}{{r.dir, true}, {"*", true}, {filepath.Dir(r.dir) + "/*", true}, {filepath.Dir(r.dir), false}, {"/elsewhere", false}, {"", false}} {
		if err := os.WriteFile(filepath.Join(r.home, ".gitconfig"), []byte("[safe]\n\tdirectory = "+c.value+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(r.dir, Options{}); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.value, err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.home, ".gitconfig"), []byte("[safe]\n\tdirectory = *\n\tdirectory =\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(r.dir, Options{}); kind(err) != "owner" {
		t.Errorf("an empty value ends the list: %v", err)
	}
}
