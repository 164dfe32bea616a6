//go:build unix

package secrets

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// A ring that was begun and could not be written would be damaged for good:
// no start overwrites one. Without hard links the room can end after the
// temporary file, which no disk has to spare for a second.
func TestAFullDiskLeavesNoHalfRing(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var usual syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &usual); err != nil {
		t.Fatal(err)
	}
	restore := func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &usual); err != nil {
			t.Fatal(err)
		}
	}
	defer restore()
	dir := t.TempDir()
	full := func(string, string) error {
		limit := usual
		limit.Cur = 100 // from here on a file has no room for a ring
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		return errors.ErrUnsupported
	}
	_, err := open(dir, full)
	restore()
	if !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("the disk was not full: %v", err)
	}
	left, err := os.ReadDir(filepath.Join(dir, folderName))
	if err != nil || len(left) != 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
	if _, err := Open(dir); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
