package hitl

import "context"

// The events of the gate.
const (
	EventRequested = "vault.elicit.requested"
	EventAnswered  = "vault.elicit.answered"
	EventDrift     = "vault.elicit.drift"
	// EventConsumed is one run of what was approved, and EventReleased an approval
	// that is given back because the run has written nothing.
	EventConsumed = "vault.elicit.consumed"
	EventReleased = "vault.elicit.released"
)

// The outcomes of EventAnswered.
const (
	Accepted = "accept"
	// Consented is an accept of an address: somebody wants to open it.
	Consented   = "consent_pending"
	Refused     = "decline"
	Cancelled   = "cancel"
	TimedOut    = "timeout"
	Unattended  = "unattended"
	TooLate     = "expired"
	Replayed    = "replayed"
	ClientFault = "client_error"
)

// answered reports what came back through the client of a call.
func (g *Gate) answered(ctx context.Context, c *Call, r *Request, outcome string) {
	route, _ := g.routeOf(c)
	g.event(ctx, EventAnswered, c, outcome, "request_id", r.ID, "route", string(route))
}

func (g *Gate) event(ctx context.Context, name string, c *Call, outcome string, attrs ...any) {
	if g.Event == nil {
		return
	}
	attrs = append(attrs, "tool", c.Tool, "caller", c.Caller, "vault", c.Vault)
	if outcome != "" {
		attrs = append(attrs, "outcome", outcome)
	}
	g.Event(ctx, name, attrs...)
}
