//go:build !unix

package git

import "os"

// Owners are not looked at here: the git program judges them itself.
func owned(string) bool { return true }

func sameDevice(_, _ os.FileInfo) bool { return true }
