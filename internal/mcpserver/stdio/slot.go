package stdio

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
)

// RPCError is a JSON-RPC error object: what [SetError] answers with, and, as a
// Go error, what a client answered to a request of the server.
type RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e RPCError) Error() string { return fmt.Sprintf("%s (JSON-RPC error %d)", e.Message, e.Code) }

// Slot takes the final answer of one request from its handler, past what
// mcp-go can express: an error with a code of its own, or a result that is
// already JSON. The zero value is empty and ready.
type Slot struct {
	answer atomic.Pointer[slotAnswer]
}

type slotAnswer struct {
	result json.RawMessage
	err    *RPCError
}

type slotKey struct{}

// WithSlot returns a context whose handlers can put an answer into the returned
// slot. Transports other than this one use it to honour [SetError] and
// [SetResult] too.
func WithSlot(ctx context.Context) (context.Context, *Slot) {
	s := new(Slot)
	return context.WithValue(ctx, slotKey{}, s), s
}

// SetError makes e the answer of the request that ctx belongs to, whatever its
// handler returns, and reports whether the transport can do so. If not, answer
// with an ordinary result.
func SetError(ctx context.Context, e RPCError) bool {
	return put(ctx, &slotAnswer{err: &e})
}

// SetResult makes raw the result of the request that ctx belongs to, whatever
// its handler returns, and reports whether the transport can do so. If not,
// answer with an ordinary result.
//
// raw must be one complete JSON object, valid (only its frame is looked at), with
// all that the era of the request asks for: nothing is added to it. It must not
// change afterwards.
func SetResult(ctx context.Context, raw json.RawMessage) bool {
	return put(ctx, &slotAnswer{result: raw})
}

// put stores an answer; the last one counts.
func put(ctx context.Context, a *slotAnswer) bool {
	s, ok := ctx.Value(slotKey{}).(*Slot)
	if ok {
		s.answer.Store(a)
	}
	return ok
}

// Result is the result that was set last, or nil.
func (s *Slot) Result() json.RawMessage {
	if a := s.answer.Load(); a != nil {
		return a.result
	}
	return nil
}

// Err is the error that was set last, or nil.
func (s *Slot) Err() *RPCError {
	if a := s.answer.Load(); a != nil {
		return a.err
	}
	return nil
}
