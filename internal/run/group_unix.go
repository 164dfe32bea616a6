//go:build unix

package run

import (
	"os/exec"
	"syscall"
)

// family is a program and the children that it starts.
type family struct{ cmd *exec.Cmd }

// group makes a program the first of a process group, which is killed whole.
func group(cmd *exec.Cmd) family {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return family{cmd}
}

// started bounds what the program may use.
func (f family) started(c Command) { bound(f.cmd.Process.Pid, c) }

// end gives back what was taken for the program.
func (f family) end() {}

// detach lets a program go on when this one, or the terminal, has ended.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
