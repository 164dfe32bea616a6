package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// lockWait bounds how long a process waits for others that change a file.
const lockWait = 5 * time.Second

// Update changes a small file while no other process can: edit gets the lock,
// reads what it needs and returns the whole new text, which replaces the file
// in one step. The lock is a file beside path and ends with the process. With
// durable the text is on the disk when Update returns.
func Update(path string, durable bool, edit func() ([]byte, error)) error {
	deadline := time.Now().Add(lockWait)
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	defer lock.Close()
	for {
		held, err := lock.TryLock()
		if err != nil {
			return fmt.Errorf("lock %q: %w", path+".lock", err)
		}
		if held {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("another process has held %q for %s: end it, then try again", path+".lock", lockWait)
		}
		time.Sleep(5 * time.Millisecond)
	}
	text, err := edit()
	if err != nil {
		return err
	}
	return replace(path, text, durable, deadline)
}

// replace puts text in the place of path: a reader sees the old or the new.
func replace(path string, text []byte, durable bool, deadline time.Time) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // of mode 0600
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(text)
	if durable {
		err = errors.Join(err, temp.Sync())
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	for {
		err := os.Rename(temp.Name(), path)
		if err == nil {
			return nil
		}
		// Windows refuses while somebody reads the old text.
		if runtime.GOOS != "windows" || time.Now().After(deadline) {
			return fmt.Errorf("replace %q: %w", path, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
