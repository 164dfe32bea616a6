package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault-mcp/internal/fault"
)

type folderOut struct {
	movedOut
	Path      string
	Permanent bool
	TrashedTo *string `json:"trashed_to"`
	Notes     int     `json:"notes_in_it"`
	Others    int     `json:"other_files_in_it"`
}

func TestAFolderMovesWithItsLinks(t *testing.T) {
	files := map[string]string{
		"P/a.md": "[[P/b]] [rel](./b.md) ![[p.png]]\n", "P/b.md": "b\n", "P/p.png": "x", "P/Sub/c.md": "[[P/a|up]]\n",
		"out.md": "[[P/Sub/c]] [m](P/b.md)\n", "q.base": "filters:\n  and:\n    - file.inFolder(\"P\")\n",
	}
	a, dir := writable(t, files, true)
	var out folderOut
	if err := call(t, a, "move_folder", args{"from": "P", "to": "Archive/Old P"}, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{
		"Archive/Old P/a.md": "[[Archive/Old P/b]] [rel](./b.md) ![[p.png]]\n", "Archive/Old P/Sub/c.md": "[[Archive/Old P/a|up]]\n",
		"out.md": "[[Archive/Old P/Sub/c]] [m](Archive/Old%20P/b.md)\n", "q.base": "filters:\n  and:\n    - file.inFolder(\"Archive/Old P\")\n",
	})
	if out.Notes != 3 || out.Others != 1 || !strings.Contains(out.Summary, "3 notes and 1 other file") {
		t.Errorf("%+v", out)
	}
	back(t, a, dir, out.ChangeID, files)
	if err := call(t, a, "move_folder", args{"from": "P", "to": "p"}, &out); err != nil {
		t.Fatal(err)
	}
	only(t, dir, "out.md", "p/Sub/c.md", "p/a.md", "p/b.md", "p/p.png", "q.base")
	for _, to := range []string{"p/Sub/in", "p"} {
		if err := call(t, a, "move_folder", args{"from": "p", "to": to}, &out); code(err) != fault.InvalidInput {
			t.Errorf("to %s: %v", to, err)
		}
	}
	for _, from := range []string{"", "gone", "p/a.md"} {
		if err := call(t, a, "move_folder", args{"from": from, "to": "z"}, &out); code(err) == "" {
			t.Errorf("%q was moved", from)
		}
	}
}

func TestAFolderGoesToTheTrashAsOneAndComesBack(t *testing.T) {
	for _, option := range []string{"local", "system", "none"} {
		files := map[string]string{"F/a.md": "a\n", "F/Sub/b.md": "b\n", "F/Sub/p.png": "x", "c.md": "[[a]]\n", ".trash/F/a.md": "older\n"}
		files[".obsidian/app.json"] = fmt.Sprintf(`{"trashOption": %q}`, option)
		a, dir := writable(t, files, true)
		var out folderOut
		if err := call(t, a, "delete_folder", args{"path": "F"}, &out); err != nil {
			t.Fatal(err)
		}
		if out.Permanent != (option == "none") || out.Notes != 2 || out.Others != 1 || !strings.Contains(out.Summary, "2 notes and 1 other file") {
			t.Errorf("%s: %+v", option, out)
		}
		if _, err := os.Stat(filepath.Join(dir, "F")); err == nil {
			t.Errorf("%s: it is still there", option)
		}
		if option == "local" {
			holds(t, dir, map[string]string{".trash/F 1/Sub/b.md": "b\n"})
		}
		back(t, a, dir, out.ChangeID, files)
	}
}

// What nobody looks at is not deleted for good.
func TestAFolderWithHiddenThingsIsNotDeletedForGood(t *testing.T) {
	files := map[string]string{"F/a.md": "a\n", "F/.git/config": "c", "G/a.md": "a\n", "G/.DS_Store": "x"}
	a, dir := writable(t, files, true)
	var out folderOut
	if err := call(t, a, "delete_folder", args{"path": "F", "permanent": true}, &out); code(err) != fault.InvalidInput {
		t.Error(err)
	}
	if err := call(t, a, "delete_folder", args{"path": "G", "permanent": true}, &out); err != nil {
		t.Error(err)
	}
	if err := os.Symlink("F", filepath.Join(dir, "way")); err != nil {
		t.Fatal(err)
	}
	for tool, in := range map[string]args{"delete_folder": {"path": "way"}, "move_folder": {"from": "way", "to": "z"}} {
		if err := call(t, a, tool, in, &out); code(err) != fault.InvalidInput || !strings.Contains(err.Error(), "link") {
			t.Errorf("%s of a link: %v", tool, err)
		}
	}
	only(t, dir, "F/.git/config", "F/a.md", "way")
}

// A person who approved that a folder goes has not approved what comes into it
// meanwhile.
func TestWhatComesIntoAFolderLaterIsNotDeleted(t *testing.T) {
	for tool, in := range map[string]args{"delete_folder": {"path": "F"}, "move_folder": {"from": "F", "to": "New/G"}} {
		dir := filepath.Join(t.TempDir(), "vault")
		plant(t, dir, map[string]string{"F/a.md": "a\n"})
		a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir))
		person(a, func() bool { // while the person thinks
			plant(t, dir, map[string]string{"F/late.md": "late\n"})
			return true
		})
		var out folderOut
		if err := call(t, a, tool, in, &out); code(err) != fault.ReplayDrift {
			t.Errorf("%s: %v", tool, err)
		}
		only(t, dir, "F/a.md", "F/late.md")
	}
}
