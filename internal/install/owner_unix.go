//go:build unix

package install

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file to the owner of another one. Only the superuser can, and
// would otherwise take a person's own settings away from them.
func keepOwner(file *os.File, as fs.FileInfo) error {
	st, ok := as.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return file.Chown(int(st.Uid), int(st.Gid))
}
