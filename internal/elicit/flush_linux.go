package elicit

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed and not read.
func flushInput(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
