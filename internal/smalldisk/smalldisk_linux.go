package smalldisk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// inside marks the process in which disks can be mounted.
const inside = "SMALLDISK_TEST"

// Run runs the test f of that name in a process of its own that may mount
// disks, which nobody else sees. It needs no privileges, but a system that
// allows user namespaces; elsewhere the test is skipped.
func Run(t *testing.T, f func(t *testing.T)) {
	if os.Getenv(inside) == t.Name() {
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		f(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), inside+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Skipf("this system lets nobody mount a disk for a test: %v", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// New mounts an empty disk of some bytes.
func New(t *testing.T, size int) Disk {
	t.Helper()
	d := Disk{t.TempDir()}
	if err := syscall.Mount("small", d.Dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(d.Dir, syscall.MNT_DETACH) })
	return d
}

// ReadOnly makes the disk read-only, or writable again.
func (d Disk) ReadOnly(t testing.TB, only bool) {
	t.Helper()
	flags := uintptr(syscall.MS_REMOUNT)
	if only {
		flags |= syscall.MS_RDONLY
	}
	if err := syscall.Mount("small", d.Dir, "tmpfs", flags, ""); err != nil {
		t.Fatal(err)
	}
}

// FolderReadOnly makes one folder of the disk read-only, until the process ends.
func (d Disk) FolderReadOnly(t testing.TB, dir string) {
	t.Helper()
	err := syscall.Mount(dir, dir, "", syscall.MS_BIND, "")
	if err == nil {
		err = syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }
