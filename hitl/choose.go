package hitl

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"vault-mcp/internal/fault"
	"vault-mcp/vault/change"
)

// Settled is the answer to a call that a person has ended by declining its
// question. It is an error so that nothing behind the gate is reached; the call
// has not failed.
type Settled struct {
	Outcome string `json:"outcome"`
}

// Error says that.
func (s *Settled) Error() string { return "the person has ended the call: " + s.Outcome }

// Ambiguous says that several notes have the title of a call. Not more than
// MaxOptions of them are named.
func Ambiguous(title string, paths []string) *fault.Error {
	return fault.New(fault.PathAmbiguous, "%d notes are called %q, and nobody has said which is meant.", len(paths), Display(title)).
		With("candidates", paths[:min(len(paths), MaxOptions)]).With("total", len(paths))
}

// Chosen is the path that a person has chosen for the call, or "". Nothing is
// claimed by it before Confirm.
func (c *Call) Chosen() string {
	if c == nil || c.chosen == nil {
		return ""
	}
	return c.chosen.path
}

// chosen is what a person has chosen, and in which request.
type chosen struct {
	path    string
	request string
}

func (c *Call) choose(r *Request, path string) { c.chosen = &chosen{path, r.ID} }

// Choose asks a person which of several notes a call means, and returns its path.
// What they chose earlier and is still good is taken. It fails with *NeedsInput,
// with *Settled if they decline, with *ProtocolError if the client could open an
// address and show no form, and with path_ambiguous where nobody can be asked.
func (g *Gate) Choose(ctx context.Context, c *Call, title string, options []Option) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, g.Patience, errPatience)
	defer cancel()
	if c.Client.unsolicited() {
		return "", unasked()
	}
	c.among(title, options)
	r, gr, err := g.asking(ctx, c)
	if err != nil {
		return "", err
	}
	switch {
	case r != nil && r.Status == Approved:
		return c.elsewhere(r, gr)
	case r != nil && r.Status == Declined && !g.differs(c, r):
		now, err := g.Store.Now(ctx)
		if err != nil {
			return "", err
		}
		if now.Sub(r.Answered) < rest {
			return "", refusedAgain(c, r)
		}
	}
	if !g.canChoose(c) {
		return "", Unchosen(c, title, options)
	}
	return g.question(ctx, c, r)
}

// elsewhere takes the choice that came with an approval.
func (c *Call) elsewhere(r *Request, gr *Grant) (string, error) {
	if gr == nil || r.candidate(gr.Choice) == nil {
		return "", unknowing(c)
	}
	c.choose(r, gr.Choice)
	return gr.Choice, nil
}

// question puts a question before the person: in r, if that still fits.
func (g *Gate) question(ctx context.Context, c *Call, r *Request) (path string, err error) {
	offer := 1
	if c.back != nil {
		offer = c.back.Offer + 1 // good, and nothing was answered
	}
	if offer > maxOffers && !c.wait {
		return "", unknowing(c)
	}
	if r == nil || r.Status != Open || g.differs(c, r) {
		if r, err = g.raise(ctx, c); err != nil {
			return "", err
		}
	}
	if r.Status == Approved { // by now, for the same call made twice at a time
		r, gr, err := g.Store.Find(ctx, r.ID)
		if err != nil {
			return "", err
		}
		return g.pickedElsewhere(ctx, c, r, gr)
	}
	if c.Floor != "" && g.Memory.declined(c.Vault, c.Tool, c.Marks, time.Now()) {
		return "", declined(c, r)
	}
	switch {
	case c.wait:
		return g.put(ctx, c, r, nil)
	case c.Client.Modern:
		return "", g.offer(ctx, c, r, &NeedsInput{Key: confirmKey, Form: c.form()}, offer)
	}
	return g.put(ctx, c, r, func(ctx context.Context) (json.RawMessage, error) { return c.Client.Ask(ctx, c.form()) })
}

// asking is the request that a call comes with, or the latest one of the same
// call. One that was about a single note, or about others, is drift.
func (g *Gate) asking(ctx context.Context, c *Call) (*Request, *Grant, error) {
	var r *Request
	var gr *Grant
	var err error
	switch {
	case c.Token != "":
		r, gr, err = g.tokenOf(ctx, c)
	case c.back != nil:
		r, gr, err = g.Store.Find(ctx, c.back.Request)
	default:
		r, gr, err = g.Store.Latest(ctx, c.Vault, c.Tool, c.Caller, c.Hash)
		if r == nil || r.Status != Approved || c.Dry {
			return r, gr, err
		}
	}
	if err == nil && g.differs(c, r) {
		err = g.supersede(ctx, c, r, changedMarks(r.Marks, c.Marks))
	}
	return r, gr, err
}

// canChoose reports whether the client can show a form from which to choose, and
// somebody sits before it.
func (g *Gate) canChoose(c *Call) bool {
	return g.formsFor(c) && (c.Client.Modern || c.Client.Ask != nil && (g.Shim || c.Client.Terminal != ""))
}

// missingCapability is the protocol's code for what the client does not declare.
const missingCapability = -32021

// Unchosen is the answer where a client cannot ask which note is meant.
func Unchosen(c *Call, title string, options []Option) error {
	if c.Client.URLs && !c.Client.Forms {
		return &ProtocolError{missingCapability, "Several notes have the title, and the client shows no form to choose from.",
			map[string]any{"requiredCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}}}
	}
	c.title, c.options = title, options
	return unknowing(c)
}

// unknowing says that nobody has chosen.
func unknowing(c *Call) *fault.Error {
	var paths []string
	for _, o := range c.options {
		paths = append(paths, o.Path)
	}
	return Ambiguous(c.title, paths)
}

// put waits until a person has said which note is meant, by the form that is sent
// first, if there is one, or in another process.
func (g *Gate) put(ctx context.Context, c *Call, r *Request, send func(context.Context) (json.RawMessage, error)) (path string, err error) {
	err = g.wait(ctx, c, r, waiting{
		send: send, told: "A person has to say which note is meant; the call waits.",
		replied: func(got reply, after time.Duration) (bool, error) {
			if got.err != nil {
				return false, g.failed(ctx, c, r, got.err, func() error { return g.unanswered(c, r) })
			}
			a, err := answerOf(r, got.raw)
			if err != nil {
				return false, malformedAnswer(err)
			}
			err = g.settle(ctx, c, r, a, after)
			path = c.Chosen()
			return path != "", err
		},
		answered: func(now *Request, gr *Grant) error {
			path, err = g.pickedElsewhere(ctx, c, now, gr)
			return err
		},
		nobody: func() error { return g.unanswered(c, r) },
	})
	return path, err
}

// pickedElsewhere is what somebody has answered to a question in another process.
func (g *Gate) pickedElsewhere(ctx context.Context, c *Call, r *Request, gr *Grant) (string, error) {
	switch r.Status {
	case Approved:
		return c.elsewhere(r, gr)
	case Declined:
		return "", refusedAgain(c, r)
	}
	return "", g.ended(ctx, c, r, gr)
}

// settle takes what came back for a question, after a time. Without an error
// something was chosen, or the call goes on to wait for somebody at a console.
func (g *Gate) settle(ctx context.Context, c *Call, r *Request, a Answer, after time.Duration) error {
	if a.Action == Accept && !a.Refuses() {
		c.choose(r, a.Note)
		return nil
	}
	outcome := Cancelled
	if a.Refuses() {
		outcome = Refused
	}
	fast := after < g.Memory.quick() && c.Client.Terminal == ""
	if fast {
		outcome = Unattended
		if g.Watched() && !c.wait {
			g.answered(ctx, c, r, outcome)
			c.wait, c.yes = true, nil
			return nil
		}
		g.Memory.unattended()
	} else {
		g.Memory.attended()
	}
	g.answered(ctx, c, r, outcome)
	if !a.Refuses() {
		return g.unanswered(c, r)
	}
	if !fast {
		route, by := g.routeOf(c)
		if err := g.Store.End(ctx, r.ID, Declined, route, by, Open, Approved); err != nil && !errors.Is(err, ErrStatus) {
			return err
		}
		if r.Floor != "" {
			g.Memory.decline(r.Vault, r.Tool, r.Marks, time.Now())
		}
	}
	if a.Action == Decline {
		return &Settled{"declined"}
	}
	return declined(c, r)
}

// refusedAgain is the answer to a call whose question was declined a short while
// ago.
func refusedAgain(c *Call, r *Request) error {
	if r.Floor == "" {
		return &Settled{"declined"}
	}
	return declined(c, r)
}

// unanswered is a question that nobody has answered: its request stays open.
func (g *Gate) unanswered(c *Call, r *Request) error {
	var paths []string
	for _, k := range r.Candidates {
		if c.Knows == nil || c.Knows(k.Path) {
			paths = append(paths, k.Path)
		}
	}
	if r.Floor == "" {
		return fault.New(fault.PathAmbiguous, "Several notes have the title, and nobody has said which is meant.").
			With("candidates", paths).With("total", len(paths))
	}
	return elicit(c, r, approvalNotObtained, "Ask the person first: nobody has said which of the notes is meant, nor approved the call. They can run the command below in a terminal of their own, or choose where they watch; then make the same call again. Or make it with the path of the note that they name. Do not run the command yourself.").
		With("candidates", paths)
}

// byChoice lets a call run whose note a person has chosen, if that and what would
// be done with it are as they were shown. What needs no approval is claimed here,
// so that a choice is good for one run; one that was made elsewhere is spent as an
// approval is.
func (g *Gate) byChoice(ctx context.Context, c *Call) (*change.Permit, error) {
	r, gr, err := g.Store.Find(ctx, c.chosen.request)
	if err != nil {
		return nil, err
	}
	if r.Status != Open && (r.Status != Approved || gr == nil) {
		return nil, g.ended(ctx, c, r, gr)
	}
	if route, _ := g.routeOf(c); r.Status == Open && !g.Takes(route) {
		return nil, notObtainedByForm(c)
	}
	if !g.asChosen(c, r) || c.Floor != "" && r.Floor == "" {
		return nil, g.supersede(ctx, c, r, []string{c.chosen.path})
	}
	if c.Dry && r.Floor != "" {
		return nil, nil // what the person approved is still to come
	}
	if r.Status == Open {
		if r, gr, err = g.claim(ctx, c, r); err != nil || gr == nil {
			return nil, err // nil: it needs no approval
		}
	}
	if !g.Takes(gr.Route) {
		return nil, g.distrusted(ctx, c, r)
	}
	if gr.Choice != c.chosen.path {
		return nil, fault.New(fault.ElicitInvalid, "The person has chosen another note.").
			With("reason", "foreign").With("tool", c.Tool).With("call_hash", string(c.Hash))
	}
	if gr.Route.Person() {
		g.Memory.attended()
	}
	return &change.Permit{Grant: gr.ID, Vault: r.Vault, State: r.State, Choice: gr.Choice}, nil
}

// claim keeps what was chosen through the client. Somebody may have been quicker
// elsewhere: then what they did counts. There is no grant where none is needed.
func (g *Gate) claim(ctx context.Context, c *Call, r *Request) (_ *Request, gr *Grant, err error) {
	route, by := g.routeOf(c)
	if r.Floor == "" {
		err = g.Store.End(ctx, r.ID, Used, route, by, Open)
	} else {
		gr, err = g.Store.Approve(ctx, r.ID, Approval{Route: route, By: by, Choice: c.chosen.path, Life: g.Life})
	}
	if errors.Is(err, ErrStatus) {
		if r, gr, err = g.Store.Find(ctx, r.ID); err == nil && (r.Status != Approved || gr == nil) {
			err = g.ended(ctx, c, r, gr)
		}
		return r, gr, err
	}
	if err == nil {
		g.Memory.attended()
		g.answered(ctx, c, r, Accepted)
	}
	return r, gr, err
}

// asChosen reports whether the note that was chosen, and what would be done, are
// as the person was shown them.
func (g *Gate) asChosen(c *Call, r *Request) bool {
	k := r.candidate(c.chosen.path)
	return k != nil && seal(g.Keys, kidOf(k.State), c.Parts) == k.State
}

// driftedChoice is Drifted for what was planned with the note that a person chose.
func (g *Gate) driftedChoice(ctx context.Context, c *Call, was []Mark) error {
	r, _, err := g.Store.Find(ctx, c.chosen.request)
	if err != nil {
		return err
	}
	return g.supersede(ctx, c, r, changedMarks(was, c.Marks))
}

// lostChoice explains that a call cannot be planned with the note that a person
// chose. One that could not be planned when they were asked either is no drift.
func (g *Gate) lostChoice(ctx context.Context, c *Call, e *fault.Error) error {
	r, gr, err := g.Store.Find(ctx, c.chosen.request)
	switch {
	case err != nil:
		return e
	case r.Status != Open && r.Status != Approved: // somebody was quicker
		return g.ended(ctx, c, r, gr)
	}
	if g.asChosen(c, r) {
		if c.Dry {
			return e
		}
		if err := g.Store.End(ctx, r.ID, Used, "", "", Open, Approved); err != nil && !errors.Is(err, ErrStatus) {
			return err
		}
		return e
	}
	return g.supersede(ctx, c, r, []string{c.chosen.path})
}

// supersede ends a question whose notes are no longer as they were shown. The
// next call asks anew.
func (g *Gate) supersede(ctx context.Context, c *Call, r *Request, changed []string) error {
	g.event(ctx, EventDrift, c, "", "request_id", r.ID)
	if err := g.Store.End(ctx, r.ID, Superseded, "", "", Open, Approved); err != nil && !errors.Is(err, ErrStatus) {
		return err
	}
	e := fault.New(fault.ReplayDrift, "The vault has changed since the person was asked, so nothing was applied and no approval was spent. Make the same call again: the person is asked anew.").
		With("reason", "drift").With("tool", c.Tool).With("vault", c.Vault).With("call_hash", string(c.Hash)).With("request_id", r.ID)
	changed = slices.DeleteFunc(slices.Clone(changed), func(p string) bool { return c.Knows != nil && !c.Knows(p) })
	if len(changed) > 0 {
		e = e.With("changed", changed)
	}
	return e
}
