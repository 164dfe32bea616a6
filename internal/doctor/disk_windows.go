package doctor

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/windows"
)

// writable says that this account may make files in a folder: only trying would
// tell.
func writable(string) bool { return true }

// elsewhere reports whether only the name of a file is on this machine.
func elsewhere(info fs.FileInfo) bool {
	const recallOnOpen, recallOnData = 0x40000, 0x400000
	data, ok := info.Sys().(*syscall.Win32FileAttributeData)
	return ok && data.FileAttributes&(windows.FILE_ATTRIBUTE_OFFLINE|recallOnOpen|recallOnData) != 0
}

// room is how many bytes this account can still write where path is; false if it
// cannot be told.
func room(path string) (free uint64, ok bool) {
	name, err := windows.UTF16PtrFromString(path)
	return free, err == nil && windows.GetDiskFreeSpaceEx(name, &free, nil, nil) == nil
}
