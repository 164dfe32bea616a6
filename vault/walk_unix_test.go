//go:build unix

package vault

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/fault"
)

func TestPipeBlocksNothing(t *testing.T) {
	bothWays(t, func(t *testing.T, portable bool) {
		dir := plant(t, map[string]any{"n.md": "", ".obsidian/core-plugins.json": "", "sub/judged.md": "x"})
		for _, p := range []string{"pipe.md", ".obsidian/app.json"} {
			if err := syscall.Mkfifo(filepath.Join(dir, p), 0o644); err != nil {
				t.Skip(err)
			}
		}
		if l, err := net.Listen("unix", filepath.Join(dir, "s.md")); err == nil {
			defer l.Close()
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			v := open(t, dir, portable)
			for _, name := range []string{"pipe.md", "s.md"} {
				if _, err := v.Find(name, nil); codeOf(err) != fault.NoteNotFound {
					t.Errorf("Find(%q): %v", name, err)
				}
				d, err := v.openDir("")
				if err != nil {
					t.Error(err)
					return
				}
				if _, _, err := d.read(name, reading{max: 10}, nil); err != errNotRegular {
					t.Errorf("read %q: %v", name, err)
				}
				d.close()
			}
			want := []string{"n.md", "sub/judged.md"}
			var told []string
			tell := func(path string, err error) {
				if err != ErrIrregular {
					t.Errorf("%s: %v", path, err)
				}
				told = append(told, path)
			}
			if diff := cmp.Diff(want, walkAll(t, v, "", WalkOptions{Problem: tell})); diff != "" {
				t.Error(diff)
			}
			walkAll(t, v, "", WalkOptions{Problem: tell, Keep: func(path string, _ bool) bool { return path != "pipe.md" }, Accept: func(name string) bool { return name != "s.md" }})
			if !slices.Contains(told, "pipe.md") || slices.Contains(told[1:], "pipe.md") || len(told) > 2 {
				t.Errorf("told of %q", told)
			}
			if diff := cmp.Diff(want, scanAll(t, v, "", WalkOptions{})); diff != "" {
				t.Error(diff)
			}
			if _, err := v.ReadConfig("app.json"); err == nil {
				t.Error("settings were read from a pipe")
			}
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("blocked")
		}
	})
}

func TestWalkTellsWhenAFileWasMade(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "a.md"), old, old); err != nil {
		t.Fatal(err)
	}
	v, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	root, err := v.FindFolder("", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = v.Walk(t.Context(), root, WalkOptions{Created: true}, func(f File) error {
		if f.Created.IsZero() {
			t.Skip("this file system keeps no time of birth")
		}
		if time.Since(f.Created) > time.Hour {
			t.Errorf("created %v: that is when it was written", f.Created)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// To list a folder is one thing, to look at all that is in it another: a look-up
// lists the root whenever a name is missing.
func TestAFolderIsListedWithoutLookingAtItsEntries(t *testing.T) {
	dir := plant(t, map[string]any{"a.md": "a", "sub/b.md": "b"})
	v := open(t, dir, false)
	root, err := v.enter(v.root, v.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.close()
	for range 2 { // it can be listed again
		entries, err := root.entries()
		if err != nil || len(entries) != 2 {
			t.Fatalf("%v, %v", entries, err)
		}
		for _, e := range entries {
			if e.IsDir() != (e.Name() == "sub") {
				t.Errorf("%v is a folder: %v", e.Name(), e.IsDir())
			}
			if e.IsDir() {
				continue
			}
			if err := os.Rename(filepath.Join(dir, e.Name()), filepath.Join(dir, "away")); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Info(); err == nil {
				t.Errorf("%s was looked at", e.Name())
			}
			if err := os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
}
