package app_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/smalldisk"
)

// hubbed is a vault in which a rename touches many notes in several folders.
func hubbed() map[string]string {
	files := map[string]string{"A/Hub.md": "# Hub\n"}
	for i := range 40 {
		files[fmt.Sprintf("F%d/n%d.md", i%5, i)] = "[[Hub]]\n" + strings.Repeat("a line of text\n", 400)
	}
	return files
}

// onDisks serves a vault and keeps the state on these folders.
func onDisks(t *testing.T, vault, home string, files map[string]string) (*app.App, string) {
	t.Helper()
	dir := filepath.Join(vault, "vault")
	plant(t, dir, files)
	a := start(t, home, fmt.Sprintf("vaults: [{path: %q}]\n", dir), func(o *app.Options) {
		o.NoIndex = true // what becomes of the index then is tested where it is
	})
	person(a, agrees)
	return a, dir
}

// asBefore fails if the vault is not byte for byte these files.
func asBefore(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		want, ok := files[filepath.ToSlash(rel)]
		b, err := os.ReadFile(p)
		if err == nil && (!ok || string(b) != want) {
			err = fmt.Errorf("%s holds %d bytes, not %d (there before: %t)", rel, len(b), len(want), ok)
		}
		n++
		return err
	})
	if err == nil && n != len(files) {
		err = fmt.Errorf("%d files are left of %d", n, len(files))
	}
	if err != nil {
		t.Error(err)
	}
}

// fails makes a call that has to fail for this reason and leave all as it was;
// what a call that goes well leaves is for after.
func fails(t *testing.T, a *app.App, dir string, files map[string]string, tool string, in args, why string) {
	t.Helper()
	var out json.RawMessage
	err := call(t, a, tool, in, &out)
	if code(err) != fault.WriteFailed || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: %v, not %q", tool, err, why)
	}
	asBefore(t, dir, files)
}

// works makes the rename and takes it back.
func works(t *testing.T, a *app.App, dir string, files map[string]string) {
	t.Helper()
	var out movedOut
	if err := call(t, a, "move_note", args{"from": "A/Hub", "to": "A/Renamed hub with a long name"}, &out); err != nil {
		t.Fatal(err)
	}
	if out.Backlinks.Notes != 40 {
		t.Errorf("%+v", out.Backlinks)
	}
	back(t, a, dir, out.ChangeID, files)
	asBefore(t, dir, files)
}

func TestADiskThatIsFullInTheMiddleOfAChange(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		for _, room := range []int64{0, 8 << 10, 64 << 10, 200 << 10} {
			t.Run(fmt.Sprint(room), func(t *testing.T) {
				files := hubbed()
				disk := smalldisk.New(t, 2<<20)
				a, dir := onDisks(t, disk.Dir, t.TempDir(), files)
				disk.Fill(t, room)
				if room < 200<<10 {
					fails(t, a, dir, files, "move_note", args{"from": "A/Hub", "to": "A/Renamed hub with a long name"}, "the disk is full")
				}
				fails(t, a, dir, files, "write_note", args{"path": "new.md", "content": strings.Repeat("much\n", 50_000)}, "the disk is full")
				disk.Free(t)
				works(t, a, dir, files)
			})
		}
	})
}

// Without room for the journal nothing may be written at all.
func TestAStateThatIsFullRefusesBeforeTheFirstByte(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		for _, room := range []int64{0, 16 << 10, 64 << 10} {
			t.Run(fmt.Sprint(room), func(t *testing.T) {
				files := hubbed()
				disk := smalldisk.New(t, 4<<20)
				a, dir := onDisks(t, t.TempDir(), disk.Dir, files)
				var out json.RawMessage
				if err := call(t, a, "write_note", args{"path": "first.md", "content": "so that there is a state"}, &out); err != nil {
					t.Fatal(err)
				}
				files["first.md"] = "so that there is a state"
				disk.Fill(t, room)
				fails(t, a, dir, files, "write_note", args{"path": "new.md", "content": unpackable(200_000)}, "its disk is full")
				disk.Free(t)
				works(t, a, dir, files)
			})
		}
	})
}

// unpackable is text that does not pack well.
func unpackable(n int) string {
	var b strings.Builder
	for x := uint64(1); b.Len() < n; x = x*6364136223846793005 + 1442695040888963407 {
		fmt.Fprintf(&b, "%x\n", x)
	}
	return b.String()
}

func TestAFileSystemThatIsReadOnly(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		files := hubbed()
		disk := smalldisk.New(t, 4<<20)
		a, dir := onDisks(t, disk.Dir, t.TempDir(), files)
		disk.ReadOnly(t, true)
		for tool, in := range map[string]args{
			"move_note":   {"from": "A/Hub", "to": "A/New"},
			"write_note":  {"path": "new.md", "content": "x"},
			"append_note": {"path": "F1/n1.md", "content": "x"},
			"delete_note": {"path": "F1/n1.md", "permanent": true},
		} {
			fails(t, a, dir, files, tool, in, "the file system is read-only")
		}
		disk.ReadOnly(t, false)
		works(t, a, dir, files)
	})
}

// The last of the folders is read-only, when most notes are written already.
func TestOneReadOnlyFolderTakesTheWholeChangeBack(t *testing.T) {
	smalldisk.Run(t, func(t *testing.T) {
		files := hubbed()
		disk := smalldisk.New(t, 4<<20)
		a, dir := onDisks(t, disk.Dir, t.TempDir(), files)
		disk.FolderReadOnly(t, filepath.Join(dir, "F4"))
		fails(t, a, dir, files, "move_note", args{"from": "A/Hub", "to": "A/New"}, "the file system is read-only")
		fails(t, a, dir, files, "move_note", args{"from": "F1/n1", "to": "F4/n1"}, "the file system is read-only")
		fails(t, a, dir, files, "delete_note", args{"path": "F4/n4.md"}, "the file system is read-only")
		var out written
		if err := call(t, a, "append_note", args{"path": "F1/n1.md", "content": "more\n"}, &out); err != nil {
			t.Error(err) // what it has nothing to do with goes on
		}
	})
}

// notRoot skips a test that needs permissions to count.
func notRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("permissions do not bind root")
	}
}

func TestAFolderThatMayNotBeWrittenTakesTheWholeChangeBack(t *testing.T) {
	notRoot(t)
	files := hubbed()
	a, dir := onDisks(t, t.TempDir(), t.TempDir(), files)
	locked := filepath.Join(dir, "F3")
	chmod(t, locked, 0o555)
	t.Cleanup(func() { chmod(t, locked, 0o755) })
	fails(t, a, dir, files, "move_note", args{"from": "A/Hub", "to": "A/New"}, "this account may not write there")
	fails(t, a, dir, files, "write_note", args{"path": "F3/new.md", "content": "x"}, "this account may not write there")
	chmod(t, locked, 0o755)
	works(t, a, dir, files)
}

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
