package cache

import (
	"errors"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// process reports whether a process with this id runs, and when it began, as
// the system counts it; "" where that is not known.
func process(pid int) (birth string, alive bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return "", errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h)
	// The handle of a process is signalled once it has ended.
	if event, err := windows.WaitForSingleObject(h, 0); err == nil && event == windows.WAIT_OBJECT_0 {
		return "", false
	}
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return "", true
	}
	return strconv.FormatInt(created.Nanoseconds(), 10), true
}

// parentOf is the process that spawned another one, or 0. Windows keeps the id
// when that one has ended, and may give it to a process that began later.
func parentOf(pid int) int {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return 0
	}
	defer windows.CloseHandle(all)
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(all, &e); err == nil; err = windows.Process32Next(all, &e) {
		if int(e.ProcessID) == pid {
			return int(e.ParentProcessID)
		}
	}
	return 0
}
