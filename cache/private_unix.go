//go:build unix

package cache

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func private(path string, info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%q belongs to another account (uid %d): run as that account, or set state_dir to a folder of your own", path, stat.Uid)
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		mode := "600"
		if info.IsDir() {
			mode = "700"
		}
		return fmt.Errorf("%q can be opened by other accounts (mode %04o): run chmod %s %s", path, perm, mode, ShellQuote(path))
	}
	return nil
}
