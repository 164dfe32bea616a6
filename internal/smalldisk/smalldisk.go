// Package smalldisk gives a test a real disk of its own that can be filled and
// made read-only. Only tests use it.
package smalldisk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Disk is a file system in memory, which ends with the process.
type Disk struct {
	// Dir is where it is mounted.
	Dir string
}

// filler is the name of the file that takes the room.
const filler = ".filler"

// Fill takes all the room that is left, but for some bytes. Room is given and
// taken in pages, mostly of 4096 bytes.
func (d Disk) Fill(t testing.TB, but int64) {
	t.Helper()
	path := filepath.Join(d.Dir, filler)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, os.Getpagesize())
	for err == nil {
		_, err = f.Write(page)
	}
	if !isFull(err) {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Truncate(max(0, info.Size()-but))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Free gives back what Fill took.
func (d Disk) Free(t testing.TB) {
	t.Helper()
	if err := os.Remove(filepath.Join(d.Dir, filler)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}
