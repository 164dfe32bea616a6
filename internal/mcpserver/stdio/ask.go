package stdio

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// asks are the requests of the server that wait for the client's answer. Their
// ids are the server's own: they may equal ids of the client.
type asks struct {
	mu      sync.Mutex
	closed  bool
	last    int64
	waiting map[string]chan reply // by id, as on the wire
}

type reply struct{ result, err json.RawMessage }

func (a *asks) open() (int64, <-chan reply, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, nil, ErrClosed
	}
	if a.waiting == nil {
		a.waiting = map[string]chan reply{}
	}
	a.last++
	ch := make(chan reply, 1)
	a.waiting[strconv.FormatInt(a.last, 10)] = ch
	return a.last, ch, nil
}

func (a *asks) drop(id int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, strconv.FormatInt(id, 10))
}

// deliver hands a response to who waits for it, if anyone still does.
func (a *asks) deliver(e envelope) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ch, ok := a.waiting[string(e.id)]; ok {
		delete(a.waiting, string(e.id))
		ch <- reply{e.result, e.err}
	}
}

// close ends all waiting, now and later.
func (a *asks) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for id, ch := range a.waiting {
		delete(a.waiting, id)
		close(ch)
	}
}

// ask sends a request to the client and waits for its result. If ctx ends first,
// the client is told.
func (c *conn) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	id, answer, err := c.asks.open()
	if err != nil {
		return nil, err
	}
	defer c.asks.drop(id)
	line, err := outgoing{ID: id, Method: method, Params: params}.line()
	if err != nil {
		return nil, err
	}
	if err := c.out.send(line, always); err != nil {
		return nil, err
	}
	select {
	case r, ok := <-answer:
		if !ok {
			return nil, ErrClosed
		}
		if r.err != nil {
			return nil, clientError(method, r.err)
		}
		return r.result, nil
	case <-ctx.Done():
		c.notify(outgoing{Method: string(mcp.MethodNotificationCancelled), Params: map[string]any{
			"requestId": id, "reason": "The answer is no longer needed.",
		}}, always)
		return nil, context.Cause(ctx)
	}
}

// clientError is an RPCError, or says that the client sent something else.
func clientError(method string, raw json.RawMessage) error {
	var e RPCError
	if err := json.Unmarshal(raw, &e); err != nil {
		return fmt.Errorf("%s: the client's error is malformed: %w", method, err)
	}
	return fmt.Errorf("%s: the client answered: %w", method, e)
}

// Elicit sends elicitation/create with the given params to the client of the
// request that ctx belongs to, and returns the result as the client sent it. The
// worker of the request is given back meanwhile. The error is or wraps an
// [RPCError] if the client refuses, [ErrClosed] if it goes away, the cause of ctx
// if that ends first, and [server.ErrServerInitiatedRequestUnsupported] for a
// request of an era in which servers send none. It does not look at the client's
// capabilities.
func Elicit(ctx context.Context, params any) (json.RawMessage, error) {
	s, ok := server.ClientSessionFromContext(ctx).(*session)
	if !ok || s.modern {
		return nil, server.ErrServerInitiatedRequestUnsupported
	}
	if s.turn.give() {
		defer s.turn.take(ctx)
	}
	return s.conn.ask(ctx, string(mcp.MethodElicitationCreate), params)
}
