package stdio

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// conn is one connection, from the first line read to the last one written.
type conn struct {
	run       context.Context
	server    *server.MCPServer
	options   Options
	out       *writer
	workers   chan struct{}
	broadcast *broadcast
	asks      asks
	handshake atomic.Pointer[handshake]

	mu       sync.Mutex
	closing  bool
	inflight map[string]*request // by idKey
	running  sync.WaitGroup
}

func newConn(run context.Context, s *server.MCPServer, out *writer, o Options) *conn {
	c := &conn{
		run:      run,
		server:   s,
		options:  o,
		out:      out,
		workers:  make(chan struct{}, o.Workers),
		inflight: map[string]*request{},
	}
	c.handshake.Store(&handshake{})
	// A name of its own, since one server may serve several connections.
	c.broadcast = &broadcast{id: "stdio-" + rand.Text(), conn: c}
	c.broadcast.outbox.emit = c.emit
	return c
}

// read takes messages until the input ends, and returns nil for a plain end.
func (c *conn) read(in io.Reader) error {
	lines := newLines(in, c.options.MaxMessage)
	for {
		line, long, err := lines.next()
		if c.closed() {
			return nil
		}
		if long {
			c.refuse(peekID(line), *invalid(fmt.Sprintf("The message is longer than %d bytes.", c.options.MaxMessage)))
		} else if line = bytes.Trim(line, " \t\r"); len(line) > 0 {
			c.receive(line)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read message: %w", err)
		}
	}
}

// receive routes one message. Only initialize, ping and notifications run here,
// on the reader: nothing may overtake the first, and the others are short.
func (c *conn) receive(line []byte) {
	e, fault := parse(line)
	switch {
	case e.isResponse: // never answered, whatever is wrong with it
		if fault == nil {
			c.asks.deliver(e)
		}
	case fault != nil:
		c.refuse(e.id, *fault)
	case e.isRequest:
		c.accept(e, line)
	case e.method == string(mcp.MethodNotificationCancelled):
		c.cancel(e.requestID)
	default:
		s := c.newSession(e)
		c.handle(c.server.WithContext(c.run, s), line)
		s.outbox.close()
	}
}

// accept starts a request, or refuses it.
func (c *conn) accept(e envelope, line []byte) {
	r := c.newRequest(e, line)
	fault, ok := c.admit(r)
	switch {
	case fault != nil:
		r.cancel(nil)
		c.refuse(r.id, *fault)
	case !ok:
		r.cancel(nil)
	case r.inline():
		c.serve(r)
	default:
		go c.serve(r)
	}
}

// admit enters r into the requests in flight. It says why not, or reports false
// if the connection is closing.
func (c *conn) admit(r *request) (*RPCError, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return nil, false
	}
	if _, ok := c.inflight[r.key]; ok {
		return invalid("A request with this id is in flight."), false
	}
	if len(c.inflight) >= c.options.MaxInFlight && !r.inline() {
		return &RPCError{
			Code:    mcp.INTERNAL_ERROR,
			Message: fmt.Sprintf("Too many requests: %d are in flight. Try again when one of them is answered.", c.options.MaxInFlight),
		}, false
	}
	c.inflight[r.key] = r
	c.running.Add(1)
	return nil, true
}

// cancel ends the request in flight with the given id: its context is cancelled,
// and nothing more is sent for it.
func (c *conn) cancel(id json.RawMessage) {
	key, ok := idKey(id)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.inflight[key]; ok {
		r.cancelled.Store(true)
		r.cancel(context.Canceled)
	}
}

// finish takes r out of the requests in flight, so that its id may be used
// again, and reports whether it may still be answered.
func (c *conn) finish(r *request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inflight[r.key] == r {
		delete(c.inflight, r.key)
	}
	return !r.cancelled.Load()
}

// close accepts nothing more, ends waiting for the client and all
// subscriptions. The channel it returns is closed when the last request has been
// answered.
func (c *conn) close() (idle <-chan struct{}) {
	c.mu.Lock()
	c.closing = true
	for _, r := range c.inflight {
		if r.session.listening {
			r.cancel(nil) // not cancelled by the client: its result is due
		}
	}
	c.mu.Unlock()
	c.asks.close()

	done := make(chan struct{})
	go func() {
		c.running.Wait()
		c.broadcast.outbox.close()
		close(done)
	}()
	return done
}

func (c *conn) closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// handle is HandleMessage without its panics: their text may quote a note.
func (c *conn) handle(ctx context.Context, line []byte) (answer mcp.JSONRPCMessage) {
	defer func() {
		if p := recover(); p != nil {
			c.options.Log.Error("panic while handling a message", "panic", p, "stack", string(debug.Stack()))
			answer = nil
		}
	}()
	return c.server.HandleMessage(ctx, line)
}

// refuse answers a message that does not become a request.
func (c *conn) refuse(id json.RawMessage, e RPCError) {
	line, err := errorLine(id, e)
	if err == nil {
		err = c.out.send(line, always)
	}
	c.lost("refusal", err)
}

// emit sends a notification that no request owns.
func (c *conn) emit(n mcp.JSONRPCNotification) {
	c.notify(outgoing{Method: n.Method, Params: params(n, nil)}, always)
}

// notify sends a notification if still says so.
func (c *conn) notify(n outgoing, still func() bool) {
	line, err := n.line()
	if err == nil {
		err = c.out.send(line, still)
	}
	c.lost(n.Method, err)
}

// lost logs that something could not be sent, unless the whole connection is
// gone: Serve returns that.
func (c *conn) lost(what string, err error) {
	if err != nil && !errors.Is(err, ErrClosed) && c.out.err() == nil {
		c.options.Log.Error("a message could not be sent", "message", what, "error", err)
	}
}
