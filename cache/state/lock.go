package state

import (
	"context"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"vault-mcp/cache"
	"vault-mcp/internal/fault"
)

const (
	// lockTime is how long a change waits for another one to end.
	lockTime = 10 * time.Second
	// lockPause is how often it looks.
	lockPause = 5 * time.Millisecond
)

// Lock takes the lock under which plans are applied, which all processes on the
// vault share and which ends with its process. It waits up to ten seconds; then
// the error is vault_busy.
func (s *Store) Lock(ctx context.Context) (release func(), err error) {
	brief, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	// One at a time in this process first: most often that is who it is.
	select {
	case s.turn <- struct{}{}:
	case <-brief.Done():
		return nil, notYet(ctx)
	}
	lock := flock.New(filepath.Join(s.dir, "apply.lock"), flock.SetPermissions(0o600))
	held, err := lock.TryLockContext(brief, lockPause)
	if !held {
		<-s.turn
		lock.Close()
		if err == nil || brief.Err() != nil {
			err = notYet(ctx)
		}
		return nil, err
	}
	return func() {
		lock.Close() // which unlocks
		<-s.turn
	}, nil
}

func notYet(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fault.New(fault.VaultBusy, "Another change of the vault has not ended after %d seconds.", int(lockTime.Seconds()))
}

// TryLock is Lock that does not wait: ok tells whether it was free.
func (s *Store) TryLock() (release func(), ok bool) {
	select {
	case s.turn <- struct{}{}:
	default:
		return nil, false
	}
	lock := flock.New(filepath.Join(s.dir, "apply.lock"), flock.SetPermissions(0o600))
	if held, err := lock.TryLock(); !held || err != nil {
		lock.Close()
		<-s.turn
		return nil, false
	}
	return func() {
		lock.Close()
		<-s.turn
	}, true
}

// Watch says that a console or page is open that shows requests, until release
// is called or the process ends.
func (s *Store) Watch() (release func(), err error) { return cache.Watch(s.dir) }

// Watched reports whether a console or page is open in any process.
func (s *Store) Watched() bool { return cache.Watched(s.dir) }
