package app_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"vault-mcp/internal/fault"
	"vault-mcp/vault/change"
)

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// What belongs to a file besides its text stays with it, whether it is written
// by itself or with many others.
func TestPermissionsAndAttributesOfANoteAreKept(t *testing.T) {
	files := hubbed()
	a, dir := onDisks(t, t.TempDir(), t.TempDir(), files)
	modes := map[string]fs.FileMode{"F1/n1.md": 0o640, "F2/n2.md": 0o600, "F3/n3.md": 0o664}
	for p, m := range modes {
		chmod(t, filepath.Join(dir, p), m)
		if err := unix.Setxattr(filepath.Join(dir, p), "user.note", []byte(p), 0); errors.Is(err, unix.ENOTSUP) {
			t.Skip("this file system has no attributes")
		} else if err != nil {
			t.Fatal(err)
		}
	}
	var out written
	if err := call(t, a, "append_note", args{"path": "F1/n1.md", "content": "more\n"}, &out); err != nil {
		t.Fatal(err)
	}
	if err := call(t, a, "move_note", args{"from": "A/Hub", "to": "A/New"}, &out); err != nil {
		t.Fatal(err)
	}
	for p, m := range modes {
		if got := modeOf(t, filepath.Join(dir, p)); got != m {
			t.Errorf("%s: mode %o, not %o", p, got, m)
		}
		value := make([]byte, 100)
		n, err := unix.Getxattr(filepath.Join(dir, p), "user.note", value)
		if err != nil || string(value[:n]) != p {
			t.Errorf("%s: attribute %q, %v", p, value[:max(n, 0)], err)
		}
		if !strings.HasPrefix(content(t, dir, p), "[[New]]\n") {
			t.Errorf("%s was not written", p)
		}
	}
}

// A note that not even its owner may read is lost to everybody but us.
func TestANewFileHasThePermissionsThatTheSystemGives(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "one\n"}, true)
	usual := filepath.Join(t.TempDir(), "usual")
	f, err := os.Create(usual)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	want := modeOf(t, usual)
	var out json.RawMessage
	for tool, in := range map[string]args{
		"write_note":        {"path": "w.md", "content": "x"},
		"append_note":       {"path": "ap.md", "content": "x", "create_if_missing": true},
		"put_attachment":    {"path": "p.png", "content": "AAAA"},
		"bulk_create_notes": {"items": []args{{"path": "b1.md", "content": "x"}, {"path": "b2.md", "content": "x"}}},
	} {
		if err := call(t, a, tool, in, &out); err != nil {
			t.Errorf("%s: %v", tool, err)
		}
	}
	for _, p := range []string{"w.md", "ap.md", "p.png", "b1.md", "b2.md"} {
		if got := modeOf(t, filepath.Join(dir, p)); got != want {
			t.Errorf("%s: %o, not %o", p, got, want)
		}
	}
}

// What was removed for good comes back as it was: a note that nobody else could
// read is still one.
func TestAnUndoneRemovalHasThePermissionsOfBefore(t *testing.T) {
	modes := map[string]fs.FileMode{"a.md": 0o600, "F/b.md": 0o640, "F/c.png": 0o444}
	files := map[string]string{".obsidian/app.json": `{"trashOption": "none"}`}
	for p := range modes {
		files[p] = "text\n"
	}
	a, dir := writable(t, files, true)
	for p, m := range modes {
		chmod(t, filepath.Join(dir, p), m)
	}
	for tool, in := range map[string]args{
		"delete_note": {"path": "a.md"}, "delete_folder": {"path": "F"},
	} {
		var out written
		var raw json.RawMessage
		if err := call(t, a, tool, in, &out); err != nil {
			t.Fatal(err)
		}
		if err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &raw); err != nil {
			t.Fatal(err)
		}
	}
	for p, m := range modes {
		if got := modeOf(t, filepath.Join(dir, p)); got != m || content(t, dir, p) != "text\n" {
			t.Errorf("%s: %o, not %o", p, got, m)
		}
	}
	// A new note, the taking back of it, and the taking back of that.
	var out written
	if err := call(t, a, "write_note", args{"path": "new.md", "content": "x"}, &out); err != nil {
		t.Fatal(err)
	}
	chmod(t, filepath.Join(dir, "new.md"), 0o600)
	for range 2 {
		if err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &out); err != nil {
			t.Fatal(err)
		}
	}
	if got := modeOf(t, filepath.Join(dir, "new.md")); got != 0o600 {
		t.Errorf("new.md: %o", got)
	}
}

// Nobody would see that the other name keeps the old text.
func TestABrokenHardLinkIsSaid(t *testing.T) {
	files := hubbed()
	a, dir := onDisks(t, t.TempDir(), t.TempDir(), files)
	other := filepath.Join(t.TempDir(), "second name.md")
	if err := os.Link(filepath.Join(dir, "F1/n1.md"), other); err != nil {
		t.Skipf("this file system has no hard links: %v", err)
	}
	warned := func(tool string, in args) []string {
		t.Helper()
		var out struct{ Warnings []string }
		if err := call(t, a, tool, in, &out); err != nil {
			t.Fatal(err)
		}
		return out.Warnings
	}
	// A dry run says it before anything is broken, and as often as it is asked.
	for range 2 {
		if got := warned("append_note", args{"path": "F1/n1.md", "content": "more\n", "dry_run": true}); len(got) != 1 || !strings.Contains(got[0], `"F1/n1.md"`) {
			t.Errorf("dry: %q", got)
		}
	}
	more := args{"path": "F1/n1.md", "content": "more\n"}
	if got := warned("append_note", more); len(got) != 1 || !strings.Contains(got[0], `"F1/n1.md"`) {
		t.Errorf("%q", got)
	}
	b, err := os.ReadFile(other)
	if err != nil || string(b) != files["F1/n1.md"] {
		t.Errorf("the other name holds %d bytes, %v", len(b), err)
	}
	if got := warned("append_note", more); len(got) != 0 {
		t.Errorf("it has one name now: %q", got)
	}
	if err := os.Link(filepath.Join(dir, "F2/n2.md"), other+"2"); err != nil {
		t.Fatal(err)
	}
	if got := warned("move_note", args{"from": "F2/n2", "to": "F2/moved"}); len(got) != 0 {
		t.Errorf("a move breaks no link: %q", got)
	}
	if got := warned("move_note", args{"from": "A/Hub", "to": "A/New"}); len(got) != 1 || !strings.Contains(got[0], `"F2/moved.md"`) {
		t.Errorf("%q", got)
	}
}

// Who marks a note read-only does not want it changed; that its folder could be
// written to is a way round that.
func TestANoteThatIsMarkedReadOnlyIsNotRewritten(t *testing.T) {
	files := hubbed()
	a, dir := onDisks(t, t.TempDir(), t.TempDir(), files)
	locked := filepath.Join(dir, "F4", "n39.md")
	chmod(t, locked, 0o444)
	fails(t, a, dir, files, "append_note", args{"path": "F4/n39.md", "content": "x"}, "the file is marked read-only")
	fails(t, a, dir, files, "move_note", args{"from": "A/Hub", "to": "A/New"}, "the file is marked read-only")
	if got := modeOf(t, locked); got != 0o444 {
		t.Errorf("mode %o", got)
	}
	var out movedOut
	if err := call(t, a, "move_note", args{"from": "F4/n39", "to": "F4/moved"}, &out); err != nil {
		t.Errorf("its text stays as it is: %v", err)
	}
}

// Of a file above change.MaxImage no content is kept, so only what it is and
// where stands for it.
func TestAVeryLargeFileIsMovedAndRemoved(t *testing.T) {
	a, dir := writable(t, map[string]string{"a.md": "![[big.bin]]\n"}, true)
	large := func(path string) {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, path))
		if err == nil {
			err = errors.Join(f.Truncate(change.MaxImage+1), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	there := func(path string, want bool) {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, path))
		if want != (err == nil) || want && info.Size() != change.MaxImage+1 {
			t.Errorf("%s: %v", path, err)
		}
	}
	large("big.bin")
	var out written
	var raw json.RawMessage
	if err := call(t, a, "move_attachment", args{"from": "big.bin", "to": "Files/large.bin"}, &out); err != nil {
		t.Fatal(err)
	}
	there("Files/large.bin", true)
	if got := content(t, dir, "a.md"); got != "![[large.bin]]\n" {
		t.Errorf("%q", got)
	}
	if err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &raw); err != nil {
		t.Fatal(err)
	}
	there("big.bin", true)
	if err := call(t, a, "delete_attachment", args{"path": "big.bin"}, &out); err != nil {
		t.Fatal(err)
	}
	there("big.bin", false)
	if err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &raw); err != nil {
		t.Fatal(err)
	}
	there("big.bin", true)
	if err := call(t, a, "delete_attachment", args{"path": "big.bin", "permanent": true}, &out); err != nil {
		t.Fatal(err)
	}
	there("big.bin", false)
	if err := call(t, a, "undo_change", args{"change_id": out.ChangeID}, &raw); code(err) == "" || code(err) == fault.Internal {
		t.Errorf("what is not kept cannot come back: %v", err)
	}
	only(t, dir, "a.md")
}
