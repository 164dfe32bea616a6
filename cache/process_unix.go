//go:build unix

package cache

import (
	"errors"
	"syscall"
)

// process reports whether a process with this id runs, and when it began, as
// the system counts it; "" where that is not known.
func process(pid int) (birth string, alive bool) {
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return "", false
	}
	birth, zombie := begun(pid)
	return birth, !zombie
}
