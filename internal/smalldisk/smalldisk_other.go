//go:build !linux

package smalldisk

import "testing"

// Run skips the test: only on Linux may everybody mount a disk.
func Run(t *testing.T, _ func(t *testing.T)) { t.Skip("only on Linux may everybody mount a disk") }

// New mounts an empty disk of some bytes.
func New(t *testing.T, _ int) Disk {
	t.Fatal("no disk can be mounted")
	return Disk{}
}

// ReadOnly makes the disk read-only, or writable again.
func (d Disk) ReadOnly(t testing.TB, _ bool) { t.Fatal("no disk can be mounted") }

// FolderReadOnly makes one folder of the disk read-only, until the process ends.
func (d Disk) FolderReadOnly(t testing.TB, _ string) { t.Fatal("no disk can be mounted") }

func isFull(error) bool { return false }
