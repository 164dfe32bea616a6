package index

import (
	"context"
	"sync"
	"time"
)

// deference is how long building gives way to queries that read the files
// themselves, in all: both want every core, and a person waits for one of them.
// After that the index is what makes queries fast.
const deference = 3 * time.Second

// giving is what a build gives way to.
type giving struct {
	mu      sync.Mutex
	readers int
	idle    chan struct{} // closed when there are no readers; nil if there are none
	left    time.Duration
	since   time.Time // when the readers came that are there
}

// Reading says that a query reads the files of the vault itself, until the
// function that it returns is called, once. A build gives way to it, for at
// most three seconds in the life of an Index.
func (ix *Index) Reading() (done func()) {
	g := &ix.giving
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.readers++; g.readers == 1 {
		g.idle, g.since = make(chan struct{}), time.Now()
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.readers--; g.readers == 0 {
			close(g.idle)
			g.idle = nil
			g.left -= min(g.left, time.Since(g.since))
		}
	}
}

// giveWay waits while queries read the files.
func (ix *Index) giveWay(ctx context.Context) {
	g := &ix.giving
	g.mu.Lock()
	idle, left := g.idle, g.left
	if idle != nil {
		left -= time.Since(g.since)
	}
	g.mu.Unlock()
	if idle == nil || left <= 0 {
		return
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
	case <-ctx.Done():
	}
}
