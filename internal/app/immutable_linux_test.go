package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// immutableFlag is FS_IMMUTABLE_FL of linux/fs.h.
const immutableFlag = 0x10

// immutable locks a file against everything; the test is skipped where that
// cannot be done.
func immutable(t *testing.T, path string, on bool) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil {
		flags &^= immutableFlag
		if on {
			flags |= immutableFlag
		}
		err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags)
	}
	if err != nil {
		t.Skipf("files cannot be locked here: %v", err)
	}
}

func TestALockedFileTakesTheWholeChangeBack(t *testing.T) {
	files := hubbed()
	a, dir := onDisks(t, t.TempDir(), t.TempDir(), files)
	locked := filepath.Join(dir, "F4", "n39.md")
	immutable(t, locked, true)
	t.Cleanup(func() { immutable(t, locked, false) })
	for _, c := range []struct {
		tool string
		in   args
	}{
		{"move_note", args{"from": "A/Hub", "to": "A/New"}},
		{"append_note", args{"path": "F4/n39.md", "content": "x"}},
		{"move_note", args{"from": "F4/n39.md", "to": "F4/moved.md"}},
		{"delete_note", args{"path": "F4/n39.md"}},
		{"delete_note", args{"path": "F4/n39.md", "permanent": true}},
	} {
		fails(t, a, dir, files, c.tool, c.in, "this account may not write there")
	}
	immutable(t, locked, false)
	works(t, a, dir, files)
}
