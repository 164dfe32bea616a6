package run

import (
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// family is a program and the children that it starts, held by a job.
type family struct {
	cmd *exec.Cmd
	job windows.Handle // 0 if the system gave none: then only the program itself is ended
}

// group makes a job that ends all its processes when it is closed.
func group(cmd *exec.Cmd) *family {
	f := &family{cmd: cmd}
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return f
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		_ = windows.CloseHandle(job) // it holds nothing
		return f
	}
	f.job = job
	cmd.Cancel = func() error {
		_ = windows.TerminateJobObject(job, 1) // the program itself is ended by the next line in any case
		return cmd.Process.Kill()
	}
	return f
}

// started puts the program into its job.
func (f *family) started(Command) {
	if f.job == 0 {
		return
	}
	if h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(f.cmd.Process.Pid)); err == nil {
		_ = windows.AssignProcessToJobObject(f.job, h) // else only the program itself is ended
		_ = windows.CloseHandle(h)
	}
}

// end ends what is still running and gives back the job.
func (f *family) end() {
	if f.job != 0 {
		_ = windows.CloseHandle(f.job)
	}
}

// detach lets a program go on when this one, or the console, has ended.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
