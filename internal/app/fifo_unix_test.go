//go:build unix

package app_test

import (
	"syscall"
	"testing"
)

// pipe makes a named pipe, which everybody sees and nobody may wait for.
func pipe(t *testing.T, path string) bool {
	t.Helper()
	return syscall.Mkfifo(path, 0o644) == nil
}
