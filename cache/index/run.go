package index

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

const (
	// tick is how often a process looks for what others did, and whether it can
	// become the indexer; hurry is that while the index is not ready.
	tick  = time.Second
	hurry = 100 * time.Millisecond
)

// run keeps the index open until ctx ends, and opens it again when something is
// wrong with it.
func (ix *Index) run(ctx context.Context) {
	pause := hurry
	for ctx.Err() == nil {
		began := time.Now()
		err := ix.session(ctx)
		if replaced := ix.detach(); replaced && damaged(err) {
			err = errReplaced // what is there now is not what was damaged
		}
		if ctx.Err() != nil {
			break
		}
		if time.Since(began) > time.Minute {
			pause = hurry
		}
		// A disk that damages everything must not keep the machine busy: only
		// the first time it is begun anew at once.
		if healed := ix.heal(err); healed && pause == hurry {
			ix.state.set(Building, nil)
		} else {
			pause = max(pause, time.Second)
			ix.state.set(Degraded, err)
		}
		ix.trouble(err)
		sleep(ctx, pause)
		pause = min(max(2*pause, time.Second), time.Minute)
	}
	ix.state.set(Stopped, nil)
}

// heal reports whether the index can be begun anew after an error.
func (ix *Index) heal(err error) bool {
	if !damaged(err) {
		return errors.Is(err, errReplaced)
	}
	if setAside(databasePath(ix.dir)) != nil {
		return false
	}
	ix.state.update(func(s *state) { s.warning = "the index was damaged and has been built anew" })
	return true
}

// trouble tells why the index cannot be used, once until that is another reason
// or the index was ready meanwhile.
func (ix *Index) trouble(err error) {
	ix.state.mu.Lock()
	same := ix.state.told == Reason(err)
	ix.state.told = Reason(err)
	ix.state.mu.Unlock()
	if !same && ix.o.Report != nil {
		ix.o.Report(err)
	}
}

// ready says that the index answers, unless a change has still to be taken in.
func (ix *Index) ready() {
	before, _ := ix.state.get()
	if told := ix.state.ready(); told && ix.o.Report != nil {
		ix.o.Report(nil)
	}
	if now, _ := ix.state.get(); now == Ready && before != Ready {
		ix.observers.tell() // of what changed meanwhile
	}
}

// sleep reports false if ctx has ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// session opens the database and uses it until something is wrong.
func (ix *Index) session(ctx context.Context) error {
	phase, _ := ix.state.get()
	if err := ix.attach(ctx); err != nil {
		return err
	}
	select {
	case <-ix.failures: // of the session before
	default:
	}
	lock, err := ix.newLock()
	if err != nil {
		return err
	}
	defer lock.Close()
	// What has failed here may have failed the indexer too, and what it could not
	// store then it may not have stored yet.
	behind := phase == Degraded
	for {
		held, err := lock.TryLock()
		switch {
		case err != nil:
		case held:
			err = ix.lead(ctx)
		default:
			if behind && ix.stored.Load().state == isReady {
				err = ix.compare(ctx)
			}
			if err == nil {
				err = ix.tail(ctx, lock)
			}
		}
		behind = false
		switch {
		case errors.Is(err, errReset):
			err = ix.reload(ctx)
		case errors.Is(err, errFenced):
			err = lock.Unlock()
		}
		if err != nil {
			return err
		}
	}
}

// attach opens the database and loads it.
func (ix *Index) attach(ctx context.Context) error {
	if phase, _ := ix.state.get(); phase == Degraded {
		ix.state.set(Loading, nil)
	}
	if err := ix.lock(ctx); err != nil {
		return err
	}
	defer ix.unlock()
	if ix.o.Folder != nil {
		if err := ix.o.Folder(); err != nil {
			return err
		}
	}
	s, err := openStore(ctx, databasePath(ix.dir), ix.o.Settings)
	if err != nil {
		return err
	}
	ix.store = s
	return ix.fill(ctx)
}

// fill loads all rows. It needs the lock.
func (ix *Index) fill(ctx context.Context) error {
	ix.words = nil
	model, m, err := ix.store.load(ctx)
	if err != nil {
		return err
	}
	ix.stored.Store(&m)
	ix.mu.Lock()
	model.outside = ix.state.outside
	ix.model, ix.text = model, nil
	ix.mu.Unlock()
	if m.state == isEmpty {
		ix.state.set(Building, nil)
	}
	return ix.loadSkipped(ctx)
}

// reload loads all rows anew, after another process has begun anew.
func (ix *Index) reload(ctx context.Context) error {
	if err := ix.lock(ctx); err != nil {
		return err
	}
	defer ix.unlock()
	return ix.fill(ctx)
}

// detach closes the database and reports whether another was in its place.
func (ix *Index) detach() (replaced bool) {
	ix.turn <- struct{}{}
	defer ix.unlock()
	if ix.store != nil {
		replaced = ix.store.replaced()
		ix.store.close()
		ix.store = nil
	}
	return replaced
}

// tail follows the indexer until it can become one itself.
func (ix *Index) tail(ctx context.Context, lock *flock.Flock) error {
	for {
		m, err := ix.glance(ctx)
		if err != nil {
			return err
		}
		if err := ix.settle(ctx); err != nil {
			return err
		}
		// What is complete goes on to answer while a new indexer compares.
		if m.state == isReady {
			ix.ready()
		} else if m.state == isEmpty {
			ix.state.set(Building, nil)
		}
		every := hurry
		if m.state == isReady {
			every = tick
		}
		if err := ix.pause(ctx, every); err != nil {
			return err
		}
		if held, err := lock.TryLock(); held || err != nil {
			return err
		}
	}
}

// pause waits, and returns early with what was found to be wrong.
func (ix *Index) pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case err := <-ix.failures:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// glance takes over what others wrote, and makes sure that the database is
// still the file that everybody else opens.
func (ix *Index) glance(ctx context.Context) (meta, error) {
	if err := ix.lock(ctx); err != nil {
		return meta{}, err
	}
	defer ix.unlock()
	if ix.store.replaced() {
		return meta{}, errReplaced
	}
	if err := ix.follow(ctx); err != nil {
		return meta{}, err
	}
	return *ix.stored.Load(), nil
}

// lead is what the indexer does: it compares the files with the index, watches
// them, and compares again now and then.
func (ix *Index) lead(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	epoch, err := ix.begin(ctx)
	if err != nil {
		return err
	}
	l := &leader{ix: ix, epoch: epoch}
	ix.state.update(func(s *state) { s.indexer = true })
	defer ix.state.update(func(s *state) { s.indexer, s.watching = false, false })
	if !ix.o.NoWatch {
		l.watch()
		defer l.unwatch()
	}
	if err := l.compare(ctx); err != nil {
		return err
	}
	if err := ix.checkpoint(ctx); err != nil {
		return err
	}
	if ix.o.Sweep > 0 {
		others.Go(func() {
			if sleep(ctx, ix.o.Sweep) {
				ix.sweep(ctx)
			}
		})
	}
	for {
		if err := l.turn(ctx); err != nil {
			return err
		}
	}
}

// begin makes this process the indexer and returns its epoch.
func (ix *Index) begin(ctx context.Context) (epoch int64, err error) {
	if err := ix.lock(ctx); err != nil {
		return 0, err
	}
	defer ix.unlock()
	err = ix.store.transaction(ctx, func() error {
		m, err := ix.catchUp(ctx)
		if err != nil {
			return err
		}
		if m.epoch++; m.state == isReady {
			m.state = isChecked
		}
		epoch = m.epoch
		ix.stored.Store(&m)
		return ix.store.setMeta(ctx, m)
	})
	return epoch, err
}

// checkpoint moves what was written from the log into the database.
func (ix *Index) checkpoint(ctx context.Context) error {
	if err := ix.lock(ctx); err != nil {
		return err
	}
	defer ix.unlock()
	_, err := ix.store.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

// Rebuild throws all rows away and waits until the index is complete again. If
// another process is the indexer, that one builds. progress, if set, is told
// now and then how many notes of how many are done; total is 0 while that is
// not known.
func (ix *Index) Rebuild(ctx context.Context, progress func(done, total int)) error {
	held, err := ix.Hold(ctx)
	if err == nil {
		err = held.Reset(ctx)
	}
	if err != nil {
		return err
	}
	for {
		s := ix.Status(nil)
		if m := ix.stored.Load(); m != nil && m.base >= held.meta.base {
			if progress != nil {
				progress(m.done, m.total)
			}
			if s.Phase == Ready && m.state == isReady {
				return nil
			}
		}
		if s.Phase == Degraded || s.Phase == Stopped {
			return ErrNotReady
		}
		if !sleep(ctx, hurry) {
			return ctx.Err()
		}
	}
}
