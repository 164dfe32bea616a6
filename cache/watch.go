package cache

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// watchLock is held, shared, by every console and page that shows requests.
const watchLock = "watch.lock"

// Watch says that a console or page is open that shows the requests of a state
// folder, until release is called or the process ends.
func Watch(dir string) (release func(), err error) {
	lock := flock.New(filepath.Join(dir, watchLock), flock.SetPermissions(0o600))
	for deadline := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		held, err := lock.TryRLock()
		if held {
			return func() { lock.Close() }, nil
		}
		// A server holds it for a moment, to look.
		if err != nil || time.Now().After(deadline) {
			lock.Close()
			return nil, fmt.Errorf("watch requests: the lock %q cannot be had: %w", filepath.Join(dir, watchLock), err)
		}
	}
}

// Watched reports whether a console or page is open, in any process, that shows
// the requests of a state folder.
func Watched(dir string) bool {
	name := filepath.Join(dir, watchLock)
	if _, err := os.Stat(name); err != nil {
		return false // nobody has ever watched
	}
	lock := flock.New(name, flock.SetPermissions(0o600))
	defer lock.Close()
	alone, err := lock.TryLock()
	return err == nil && !alone
}

// Home is the folder of the list of servers. Who watches it shows the requests
// of every server that comes to the list.
func Home(env func(string) string) (string, error) { return stateHome(runtime.GOOS, env, false) }

// Folders are the state folders in the usual places of this account that hold
// something, whatever they hold.
func Folders(env func(string) string) []string {
	var found []string
	for _, xdg := range []bool{false, true} {
		base, err := stateHome(runtime.GOOS, env, xdg)
		if err != nil {
			continue
		}
		entries, err := os.ReadDir(base)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.IsDir() {
				found = append(found, filepath.Join(base, e.Name()))
			}
		}
	}
	return found
}

// Belongs reports whether a state folder is that of the vault whose real path
// is vault, as far as its name tells.
func Belongs(dir, vault string) bool { return filepath.Base(dir) == vaultKey(vault) }
