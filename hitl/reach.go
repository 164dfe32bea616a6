package hitl

import (
	"context"
	"encoding/json"
)

// Reach is how the person behind a call can be reached.
type Reach struct {
	// Modern is whether a form is answered by calling again (2026-07-28).
	Modern bool
	// Forms and URLs are what the client can show, for this very request.
	Forms, URLs bool
	// State and Answers are what a retry of a modern call carries.
	State   string
	Answers map[string]json.RawMessage
	// Ask sends a form of an older protocol, or shows it at the terminal of the
	// person who makes the call, and returns the result as the client sent it. It is
	// nil where that is impossible.
	Ask func(context.Context, Form) (json.RawMessage, error)
	// Visit sends an address in an older protocol, and returns the result as the
	// client sent it; nil where that is impossible. Follow tells such a client when what
	// it sent its person to is over, also after the call; nil where the protocol has no
	// word for it.
	Visit  func(context.Context, Address) (json.RawMessage, error)
	Follow func(id string, over func(context.Context) bool)
	// Terminal is the account of the person whose terminal Ask uses, or "".
	Terminal string
	// Idle is called before waiting for a person, and what it returns when that is
	// over; it may be nil.
	Idle func() (resume func())
	// Progress tells the client that the call still waits; it may be nil.
	Progress func(message string)
}
