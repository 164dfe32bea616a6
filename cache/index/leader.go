package index

import (
	"context"
	"time"
)

// How often all files are compared: a share of the time that takes, within
// bounds. Where the system reports changes this finds only what it misses, as
// in folders of other computers.
const (
	watchedShare, watchedLeast, watchedMost = 200, time.Minute, 10 * time.Minute
	polledShare, polledLeast, polledMost    = 50, 2 * time.Second, time.Minute
)

// leader is the indexer. One goroutine uses it.
type leader struct {
	ix      *Index
	epoch   int64
	watcher *watcher
	next    time.Time // when all files are compared again
	glance  time.Time // when to look again for what others did
}

// watch begins to watch the root; compare adds the folders below it.
func (l *leader) watch() {
	w, err := newWatcher(l.ix.vault.Dir())
	if err != nil {
		l.warn("the system does not report changes of files, so they are compared now and then")
		return
	}
	l.watcher = w
	w.add("")
}

func (l *leader) unwatch() {
	if l.watcher != nil {
		l.watcher.close()
		l.watcher = nil
	}
}

func (l *leader) warn(text string) {
	l.ix.state.update(func(s *state) { s.warning = text })
}

// compare compares all files, and says when to do so again.
func (l *leader) compare(ctx context.Context) error {
	began := time.Now()
	var add func(string)
	if l.watcher != nil {
		add = l.watcher.add
	}
	files, err := l.ix.reconcile(ctx, l.epoch, add)
	if err != nil {
		return err
	}
	if l.watcher != nil {
		reason := l.watcher.problem()
		if opensFiles() && files > maxOpened {
			reason = "there are too many files to be told of changes by this system"
		}
		if reason != "" {
			l.unwatch()
			l.warn(reason + ", so they are compared now and then")
		}
	}
	took := time.Since(began)
	wait := min(max(polledShare*took, polledLeast), polledMost)
	if l.watcher != nil {
		wait = min(max(watchedShare*took, watchedLeast), watchedMost)
	}
	l.next = time.Now().Add(wait)
	watching := l.watcher != nil
	l.ix.state.update(func(s *state) { s.watching = watching })
	return nil
}

// turn waits for the next thing to do and does it.
func (l *leader) turn(ctx context.Context) error {
	var events chan batch
	writing := l.ix.coming.wait()
	if l.watcher != nil && writing == nil {
		events = l.watcher.out
	}
	// By the clock, not from now on: events that never end must not put it off.
	if soon := time.Now().Add(tick); l.glance.IsZero() || l.glance.After(soon) {
		l.glance = soon
	}
	t := time.NewTimer(min(max(0, time.Until(l.glance)), max(0, time.Until(l.next))))
	defer t.Stop()
	select {
	case b := <-events:
		if b.all {
			return l.compare(ctx)
		}
		return l.ix.refresh(ctx, l.ix.coming.unread(b.paths, l.watcher.watches), l.watcher)
	case <-writing:
		return nil
	case err := <-l.ix.failures:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
	}
	l.glance = time.Time{}
	if _, err := l.ix.glance(ctx); err != nil {
		return err
	}
	if time.Now().Before(l.next) && !l.ix.state.owes() {
		return nil
	}
	return l.compare(ctx)
}
