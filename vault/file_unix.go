//go:build unix

package vault

import (
	"io/fs"
	"syscall"
	"time"
)

// nonblock keeps the opening of a pipe from waiting for its writer.
const nonblock = syscall.O_NONBLOCK

// absentErrors are what the system answers for a name that nothing can have.
var absentErrors = []syscall.Errno{syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EILSEQ, syscall.EINVAL}

// isAway: what a FileInfo tells here has no mark for content that is elsewhere.
func isAway(fs.FileInfo) bool { return false }

// createdOf: what a FileInfo tells here has no time of birth on every system.
func createdOf(fs.FileInfo) time.Time { return time.Time{} }
