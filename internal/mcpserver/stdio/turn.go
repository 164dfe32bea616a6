package stdio

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/server"
)

// turn is a request's hold on one of the connection's workers. The zero value
// stands for a request that needs none.
type turn struct {
	workers chan struct{} // holds one element per request at work

	mu   sync.Mutex
	held bool
}

// take waits for a worker. It reports false, without one, if ctx ended first or
// at the same time: a cancelled call must not start.
func (t *turn) take(ctx context.Context) bool {
	if t.workers == nil {
		return ctx.Err() == nil
	}
	select {
	case t.workers <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	if ctx.Err() != nil {
		<-t.workers
		return false
	}
	t.mu.Lock()
	t.held = true
	t.mu.Unlock()
	return true
}

// give gives the worker back, and reports whether there was one.
func (t *turn) give() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.held {
		return false
	}
	t.held = false
	<-t.workers
	return true
}

// YieldWorker gives the worker of the request that ctx belongs to back, for as
// long as it waits for a person, so that waiting calls do not use up all of
// them. The caller must call resume before it goes on; it waits for a free
// worker, or for the end of ctx. Yielding twice, or without a worker, does
// nothing. [Elicit] does it by itself.
func YieldWorker(ctx context.Context) (resume func()) {
	s, ok := server.ClientSessionFromContext(ctx).(*session)
	if !ok || !s.turn.give() {
		return func() {}
	}
	return sync.OnceFunc(func() { s.turn.take(ctx) })
}
