package run

import "golang.org/x/sys/unix"

// bound keeps the memory of a process below what its command says, and it from
// leaving a core file, which would hold what it read. Where the system refuses
// that, the deadline is the bound that is left.
func bound(pid int, c Command) {
	_ = unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	if c.MaxMemory > 0 {
		_ = unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: c.MaxMemory, Max: c.MaxMemory}, nil)
	}
}
