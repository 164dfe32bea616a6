//go:build unix

package git

import (
	"os"
	"syscall"
)

// owned reports whether a file or folder, not what it links to, belongs to the
// account that this process runs as.
func owned(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// sameDevice reports whether two folders are on one file system; git looks for a
// repository no further.
func sameDevice(a, b os.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, also := b.Sys().(*syscall.Stat_t)
	return ok && also && x.Dev == y.Dev
}
