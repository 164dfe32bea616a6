package stdio

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// outboxSize is how many notifications may wait for the output; mcp-go drops
// more. Senders of progress keep a distance of 100 ms.
const outboxSize = 64

// outbox is the notification channel of one session. Its goroutine starts with
// the first use: most requests send none.
type outbox struct {
	emit func(mcp.JSONRPCNotification)

	mu     sync.Mutex
	closed bool
	ch     chan mcp.JSONRPCNotification
	stop   chan struct{}
	done   chan struct{}
}

// channel returns where to send to. After close it is nil, on which mcp-go's
// sends fail without blocking.
func (o *outbox) channel() chan<- mcp.JSONRPCNotification {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	if o.ch == nil {
		o.ch = make(chan mcp.JSONRPCNotification, outboxSize)
		o.stop, o.done = make(chan struct{}), make(chan struct{})
		go o.pump()
	}
	return o.ch
}

// close emits what was sent so far and returns when that is done.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	started := o.ch != nil
	o.mu.Unlock()
	if started {
		close(o.stop)
		<-o.done
	}
}

func (o *outbox) pump() {
	defer close(o.done)
	for {
		select {
		case n := <-o.ch:
			o.emit(n)
		case <-o.stop:
			for range len(o.ch) {
				o.emit(<-o.ch)
			}
			return
		}
	}
}
