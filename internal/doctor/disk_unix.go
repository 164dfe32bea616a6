//go:build unix

package doctor

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// writable reports whether this account may make files in a folder. Nothing is
// tried.
func writable(folder string) bool { return unix.Access(folder, unix.W_OK|unix.X_OK) == nil }

// leastAway is the size from which a file without a block on the disk is not
// there: smaller ones may lie in the folder itself.
const leastAway = 4096

// elsewhere reports whether only the name of a file is on this machine.
func elsewhere(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (dataless(st) || info.Size() >= leastAway && st.Blocks == 0)
}
