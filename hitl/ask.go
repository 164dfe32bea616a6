package hitl

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"vault-mcp/vault/change"
)

// maxOffers is how often one call puts a form before the person.
const maxOffers = 2

// NeedsInput is the answer to a modern call that has to come again with what a
// person said. It is an error so that nothing behind the gate is reached.
type NeedsInput struct {
	// Key names what is asked, and State has to come back with its answer.
	Key  string
	Form Form
	// Address is to be opened instead of a form, or nil.
	Address *Address
	State   string
}

// Error says what is missing.
func (n *NeedsInput) Error() string { return "a person has to answer first" }

// ask reaches the person by what the client can do, and by a console that is
// open.
func (g *Gate) ask(ctx context.Context, c *Call, r *Request, offer int) (*change.Permit, error) {
	watched := g.Watched()
	forms := g.formsFor(c)
	switch {
	case forms && c.Client.Modern && offer <= maxOffers:
		return nil, g.offer(ctx, c, r, &NeedsInput{Key: confirmKey, Form: c.form()}, offer)
	case forms && !c.Client.Modern && c.Client.Ask != nil && (g.Shim || c.Client.Terminal != ""):
		return g.awaitForm(ctx, c, r)
	case g.visits(c) && offer <= maxOffers:
		if permit, err := g.visit(ctx, c, r, offer); permit != nil || err != nil {
			return permit, err
		}
	}
	switch {
	case watched:
		return g.await(ctx, c, r)
	case offer > 1:
		return nil, notObtained(c, r)
	}
	return nil, required(c, r)
}

// formsFor reports whether a form reaches the person and its answer counts. At
// the terminal of who makes the call it is no client that answers.
func (g *Gate) formsFor(c *Call) bool {
	return c.Client.Terminal != "" || g.Takes(RouteState) && c.admission().Admitted && !g.Memory.alone()
}

// offer is what is asked, with a state.
func (g *Gate) offer(ctx context.Context, c *Call, r *Request, n *NeedsInput, offer int) error {
	now, err := g.Store.Now(ctx)
	if err != nil {
		return err
	}
	s := signed{
		Request: r.ID, Caller: r.Caller, Vault: r.Vault, Tool: r.Tool, Call: string(r.Call), State: r.State.Shown(r.ID),
		Candidates: candidateDigest(r), Phase: r.phase(), Offer: offer,
		Issued: now.UnixMilli(), Expires: now.Add(g.Life).UnixMilli(),
	}
	if n.Address != nil {
		s.Phase, s.Consent = phaseVisit, n.Address.ID
	}
	if n.State, err = s.encode(g.Keys); err != nil {
		return err
	}
	return n
}

// reply is what came of a form or an address that was sent.
type reply struct {
	raw json.RawMessage
	err error
}

// awaitForm is await with a form that is sent first.
func (g *Gate) awaitForm(ctx context.Context, c *Call, r *Request) (permit *change.Permit, err error) {
	w := g.awaiting(ctx, c, r, &permit)
	w.send = func(ctx context.Context) (json.RawMessage, error) { return c.Client.Ask(ctx, c.form()) }
	w.replied = func(got reply, after time.Duration) (bool, error) {
		permit, err = g.replied(ctx, c, r, got, after)
		return permit != nil, err
	}
	err = g.wait(ctx, c, r, w)
	return permit, err
}

// await waits until a person has answered a request in another process, or on the
// page.
func (g *Gate) await(ctx context.Context, c *Call, r *Request) (permit *change.Permit, err error) {
	err = g.wait(ctx, c, r, g.awaiting(ctx, c, r, &permit))
	return permit, err
}

func (g *Gate) awaiting(ctx context.Context, c *Call, r *Request, permit **change.Permit) waiting {
	return waiting{
		told: "A person has to approve the call; it waits.",
		answered: func(now *Request, gr *Grant) (err error) {
			*permit, err = g.granted(ctx, c, now, gr)
			return err
		},
		nobody: func() error { return notObtained(c, r) },
	}
}

// waiting is how a call waits for a person.
type waiting struct {
	// send sends what is asked through the client first; nil where nothing is.
	send func(context.Context) (json.RawMessage, error)
	told string // to the client while it waits
	// replied takes the reply to it; unless it is done or fails, the call waits
	// on. answered takes what somebody has answered elsewhere, and nobody says that the
	// time is over.
	replied  func(got reply, after time.Duration) (done bool, err error)
	answered func(*Request, *Grant) error
	nobody   func() error
}

// wait waits until a request is answered, or the patience of the call is over.
func (g *Gate) wait(ctx context.Context, c *Call, r *Request, w waiting) error {
	if c.Client.Idle != nil {
		defer c.Client.Idle()()
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	var replies chan reply
	if w.send != nil {
		replies = make(chan reply, 1)
		go func() {
			raw, err := w.send(asking)
			replies <- reply{raw, err}
		}()
	}
	asked, told := time.Now(), time.Now()
	look := time.NewTicker(g.Pause)
	defer look.Stop()
	for {
		select {
		case got := <-replies:
			replies = nil
			if done, err := w.replied(got, time.Since(asked)); done || err != nil {
				return err
			}
		case <-look.C:
			now, gr, err := g.Store.Find(ctx, r.ID)
			if err != nil && ctx.Err() == nil {
				return err
			}
			if err == nil && now.Status != Open {
				return w.answered(now, gr)
			}
			if c.Client.Progress != nil && time.Since(told) >= progressEvery {
				told = time.Now()
				c.Client.Progress(w.told)
			}
		case <-ctx.Done():
			if context.Cause(ctx) == errPatience {
				g.event(context.WithoutCancel(ctx), EventAnswered, c, TimedOut, "request_id", r.ID)
				return w.nobody()
			}
			return ctx.Err()
		}
	}
}

// progressEvery is how often a call that waits says so.
const progressEvery = 5 * time.Second

// replied takes the reply to a form that was sent. With neither a permit nor an
// error the call waits on for a console.
func (g *Gate) replied(ctx context.Context, c *Call, r *Request, got reply, after time.Duration) (*change.Permit, error) {
	if got.err != nil {
		return nil, g.failed(ctx, c, r, got.err, func() error { return notObtained(c, r) })
	}
	a, err := ParseAnswer(got.raw)
	if err != nil {
		return nil, malformedAnswer(err)
	}
	if a.Approves() {
		return g.approve(ctx, c, r, a)
	}
	return nil, g.no(ctx, c, r, a, after)
}

// failed is a form that came to nothing. Without an error the call waits on: the
// loop sees why, or somebody is there at a console.
func (g *Gate) failed(ctx context.Context, c *Call, r *Request, err error, nobody func() error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errPatience) {
		return nil
	}
	g.event(ctx, EventAnswered, c, ClientFault, "request_id", r.ID)
	if g.Watched() {
		return nil
	}
	return nobody()
}
