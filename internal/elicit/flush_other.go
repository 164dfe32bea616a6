//go:build unix && !linux

package elicit

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed and not read.
func flushInput(f *os.File) {
	const read = 1 // FREAD of <sys/fcntl.h>
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read)
}
