package vault

import (
	"io/fs"
	"syscall"
	"time"
)

// nonblock is nothing here: no file of a folder waits when it is opened.
const nonblock = 0

// absentErrors are what Windows answers for a name that nothing can have:
// ERROR_INVALID_NAME, ERROR_FILENAME_EXCED_RANGE, ERROR_DIRECTORY.
var absentErrors = []syscall.Errno{syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.ELOOP, 123, 206, 267}

// isAway reports whether a cloud service holds the content: the attributes
// OFFLINE or RECALL_ON_DATA_ACCESS.
func isAway(info fs.FileInfo) bool {
	data, ok := info.Sys().(*syscall.Win32FileAttributeData)
	return ok && data.FileAttributes&(0x1000|0x400000) != 0
}

// createdOf is when the file was made.
func createdOf(info fs.FileInfo) time.Time {
	data, ok := info.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, data.CreationTime.Nanoseconds())
}
