// Package fault owns the one error type that crosses the boundary to a caller.
//
// Everything exported in an Error is safe to show: no path of the machine, no
// stack, no text of a note. What went wrong underneath is kept as an
// unexported cause, for the log alone.
package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
)

// Error is a refusal or failure as a caller sees it.
type Error struct {
	// Code says what kind of failure it is; see codes.go.
	Code Code
	// Message is one or two plain sentences, safe to show.
	Message string
	// Details are machine-readable facts about this failure, safe to show.
	Details map[string]any
	// Recovery replaces the code's own advice. Only elicit_required may set
	// it (the command that a person runs): all other advice depends on the
	// code alone, so that it cannot leak an argument.
	Recovery string

	cause error
}

// New makes an Error with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// With returns a copy of e with one more detail.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Details = maps.Clone(e.Details)
	if c.Details == nil {
		c.Details = map[string]any{}
	}
	c.Details[key] = value
	return &c
}

// Because returns a copy of e that keeps err as its cause, for the log.
func (e *Error) Because(err error) *Error {
	c := *e
	c.cause = err
	return &c
}

// Error is the code and the message, as it is shown. The cause is not in it.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap is the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Retryable reports whether the same call may succeed later unchanged.
func (e *Error) Retryable() bool { return table[e.Code].Retryable }

// Advice is what the caller should do next.
func (e *Error) Advice() string {
	if e.Recovery != "" {
		return e.Recovery
	}
	return table[e.Code].Recovery
}

// Of turns any error into an Error: one that is in err's chain as it is, a
// cancelled or timed-out context as aborted, anything else as internal with
// err as its hidden cause. Of(nil) is nil.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return New(Aborted, "The call was cancelled before it finished.").Because(err)
	}
	return New(Internal, "Something went wrong inside the server; its log has the details.").Because(err)
}
