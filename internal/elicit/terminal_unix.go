//go:build unix

package elicit

import (
	"os"

	"golang.org/x/sys/unix"
)

// openTerminal opens the terminal that controls this process. A job in the
// background has none: it would be stopped when it reads.
func openTerminal() (in, out *os.File, err error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	front, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	if err != nil || front != unix.Getpgrp() {
		f.Close()
		return nil, nil, ErrNoTerminal
	}
	return f, f, nil
}
