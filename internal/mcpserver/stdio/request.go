package stdio

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// request is one request in flight.
type request struct {
	id     json.RawMessage // as sent, and as answered
	key    string
	method mcp.MCPMethod
	line   []byte

	ctx       context.Context
	cancel    context.CancelCauseFunc
	cancelled atomic.Bool // by the client: nothing more is sent
	session   *session
	slot      *Slot
}

func (c *conn) newRequest(e envelope, line []byte) *request {
	r := &request{id: e.id, method: mcp.MCPMethod(e.method), line: line, session: c.newSession(e)}
	r.key, _ = idKey(e.id)
	r.ctx, r.cancel = context.WithCancelCause(c.run)

	s := r.session
	switch r.method {
	case mcp.MethodToolsCall, mcp.MethodResourcesRead, mcp.MethodPromptsGet, mcp.MethodCompletionComplete:
		s.turn.workers = c.workers
	case mcp.MethodSubscriptionsListen:
		if s.modern { // mcp-go refuses it otherwise
			s.listening = true
			s.id += "-" + r.key
		}
	}
	s.outbox.emit = c.emitter(r, e.progressToken)
	r.ctx, r.slot = WithSlot(c.server.WithContext(r.ctx, s))
	return r
}

// newSession makes the session of one message. A modern request knows nothing of
// a handshake.
func (c *conn) newSession(e envelope) *session {
	s := &session{id: c.broadcast.id, conn: c, modern: e.modern()}
	if !s.modern {
		s.state = *c.handshake.Load()
	}
	s.outbox.emit = c.emit
	return s
}

// inline is whether the reader waits for the answer.
func (r *request) inline() bool {
	return r.method == mcp.MethodInitialize || r.method == mcp.MethodPing
}

func (r *request) live() bool { return !r.cancelled.Load() }

// serve runs one admitted request to its end.
func (c *conn) serve(r *request) {
	defer c.running.Done()
	defer r.cancel(nil)
	defer r.session.turn.give()
	// Not r.ctx alone: the end of run reaches it after it has reached others.
	if !r.session.turn.take(r.ctx) || c.run.Err() != nil {
		c.answer(r, func() ([]byte, error) {
			return errorLine(r.id, RPCError{Code: mcp.INTERNAL_ERROR, Message: "The server is shutting down; the request did not run."})
		})
		return
	}
	reply := c.handleRequest(r)
	r.session.outbox.close() // what the handler sent goes out before the answer
	c.answer(r, func() ([]byte, error) { return r.render(reply) })
}

func (c *conn) handleRequest(r *request) mcp.JSONRPCMessage {
	if r.session.listening && c.server.RegisterSession(r.ctx, r.session) == nil {
		defer c.server.UnregisterSession(c.run, r.session.id)
	}
	reply := c.handle(r.ctx, r.line)
	c.publish(r, reply)
	return reply
}

// publish makes what a request negotiated known to later requests.
func (c *conn) publish(r *request, reply mcp.JSONRPCMessage) {
	if _, ok := reply.(mcp.JSONRPCResponse); !ok || r.session.modern {
		return
	}
	switch r.method {
	case mcp.MethodInitialize:
		h := r.session.read()
		c.handshake.Store(&h)
	case mcp.MethodSetLogLevel:
		h := *c.handshake.Load()
		h.level = r.session.read().level
		c.handshake.Store(&h)
	}
}

// answer writes the one answer of r, unless it was cancelled.
func (c *conn) answer(r *request, render func() ([]byte, error)) {
	if !r.live() {
		c.finish(r)
		return
	}
	line, err := guard(render)
	if err != nil {
		c.lost(string(r.method), err)
		line, _ = errorLine(r.id, internalError)
	}
	c.lost(string(r.method), c.out.send(line, func() bool { return c.finish(r) }))
}

// guard turns a panic of a result's own encoding into an error.
func guard(render func() ([]byte, error)) (line []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while encoding an answer: %v", p)
		}
	}()
	return render()
}

var internalError = RPCError{Code: mcp.INTERNAL_ERROR, Message: "internal error"}

// render makes the answer: what the handler put into the slot, or what mcp-go
// returned. No reply is a panic, already logged.
func (r *request) render(reply mcp.JSONRPCMessage) ([]byte, error) {
	if e := r.slot.Err(); e != nil {
		return errorLine(r.id, *e)
	}
	if result := r.slot.Result(); result != nil {
		return rawResultLine(r.id, result)
	}
	switch m := reply.(type) {
	case mcp.JSONRPCResponse:
		if result, ok := m.Result.(mcp.SubscriptionsListenResult); ok {
			result.EnsureResultMeta().SetSubscriptionID(r.id)
		}
		return answerLine(r.id, "result", m.Result)
	case mcp.JSONRPCError:
		return answerLine(r.id, "error", m.Error)
	}
	return errorLine(r.id, internalError)
}

// emitter sends the notifications of r's session for as long as r may send. The
// ids in them are those that the client sent, not what mcp-go made of them. A
// subscription begins with its acknowledgement: what is quicker waits for it.
func (c *conn) emitter(r *request, token json.RawMessage) func(mcp.JSONRPCNotification) {
	send := func(n mcp.JSONRPCNotification, own map[string]any) {
		c.notify(outgoing{Method: n.Method, Params: params(n, own)}, r.live)
	}
	if !r.session.listening {
		return func(n mcp.JSONRPCNotification) {
			if n.Method == string(mcp.MethodNotificationProgress) && token != nil {
				n.Params.AdditionalFields = with(n.Params.AdditionalFields, "progressToken", token)
			}
			send(n, nil)
		}
	}
	tag := map[string]any{mcp.MetaKeySubscriptionID: r.id}
	var early []mcp.JSONRPCNotification
	acknowledged := false
	return func(n mcp.JSONRPCNotification) {
		if !acknowledged && n.Method != mcp.MethodNotificationSubscriptionsAcknowledged {
			early = append(early, n)
			return
		}
		acknowledged = true
		send(n, tag)
		for _, n := range early {
			send(n, tag)
		}
		early = nil
	}
}

// params are the parameters of n, with own added to its metadata. The maps of n
// may be shared with other sessions.
func params(n mcp.JSONRPCNotification, own map[string]any) any {
	fields := n.Params.AdditionalFields
	if meta := n.Params.Meta; len(meta)+len(own) > 0 {
		for k, v := range own {
			meta = with(meta, k, v)
		}
		fields = with(fields, "_meta", meta)
	}
	if fields == nil {
		return nil
	}
	return fields
}

// with is m and one more entry.
func with(m map[string]any, key string, value any) map[string]any {
	c := maps.Clone(m)
	if c == nil {
		c = map[string]any{}
	}
	c[key] = value
	return c
}
