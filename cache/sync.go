package cache

import (
	"errors"
	"os"
	"runtime"
)

// SyncFolder makes a new name in a folder outlast a loss of power. Windows opens
// no folders for that, so there it does nothing.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
