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

// lock is a file that one at a time holds, of all processes on the vault. It ends
// with its process.
type lock struct {
	path string
	turn chan struct{} // held by who has it in this process
}

func newLock(dir, name string) *lock {
	return &lock{filepath.Join(dir, name), make(chan struct{}, 1)}
}

// Lock takes the lock under which plans are applied. It waits up to ten seconds;
// then the error is vault_busy.
func (s *Store) Lock(ctx context.Context) (release func(), err error) { return s.applying.take(ctx) }

// LockEffects takes the lock under which effects are run, likewise. A change may
// be applied meanwhile.
func (s *Store) LockEffects(ctx context.Context) (release func(), err error) {
	return s.acting.take(ctx)
}

// TryLock is Lock that does not wait: ok tells whether it was free.
func (s *Store) TryLock() (release func(), ok bool) { return s.applying.try() }

// TryLockEffects is LockEffects that does not wait.
func (s *Store) TryLockEffects() (release func(), ok bool) { return s.acting.try() }

func (l *lock) take(ctx context.Context) (release func(), err error) {
	brief, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	// One at a time in this process first: most often that is who it is.
	select {
	case l.turn <- struct{}{}:
	case <-brief.Done():
		return nil, notYet(ctx)
	}
	file := flock.New(l.path, flock.SetPermissions(0o600))
	held, err := file.TryLockContext(brief, lockPause)
	if !held {
		<-l.turn
		file.Close()
		if err == nil || brief.Err() != nil {
			err = notYet(ctx)
		}
		return nil, err
	}
	return l.releasing(file), nil
}

func (l *lock) try() (release func(), ok bool) {
	select {
	case l.turn <- struct{}{}:
	default:
		return nil, false
	}
	file := flock.New(l.path, flock.SetPermissions(0o600))
	if held, err := file.TryLock(); !held || err != nil {
		file.Close()
		<-l.turn
		return nil, false
	}
	return l.releasing(file), true
}

func (l *lock) releasing(file *flock.Flock) func() {
	return func() {
		file.Close() // which unlocks
		<-l.turn
	}
}

func notYet(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fault.New(fault.VaultBusy, "Another change of the vault has not ended after %d seconds.", int(lockTime.Seconds()))
}

// Watch says that a console or page is open that shows requests, until release
// is called or the process ends.
func (s *Store) Watch() (release func(), err error) { return cache.Watch(s.dir) }

// Watched reports whether a console or page is open in any process.
func (s *Store) Watched() bool { return cache.Watched(s.dir) }
