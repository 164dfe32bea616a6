package cache

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

// begun reads the start time of a process, and whether it has ended and only
// waits to be collected.
func begun(pid int) (birth string, ended bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return "", false
	}
	start := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", start.Sec, start.Usec), info.Proc.P_stat == zombie
}

// parentOf is the process that spawned another one, or 0.
func parentOf(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(info.Eproc.Ppid)
}
