package hitl

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/change"
)

// Call is a call that may need a person.
type Call struct {
	// Vault is the id of the vault.
	Vault, Tool, Caller string
	Hash                fingerprint.Call
	// Token is what a person gave the caller, or "".
	Token string
	// Client is how the person behind the call can be reached.
	Client Reach

	// Floor says why a person is needed. It and the rest is known once the call is
	// planned.
	Floor string
	// Parts are what the confirmation is bound to, and Marks the same by name.
	Parts [][]byte
	Marks []Mark
	// Summary says in one sentence what would be done, and Notes what the person
	// should know besides.
	Summary string
	Notes   []string
	// Undo says whether it can be taken back.
	Undo string
	// Preview is the unified diff, made when it is needed: whole for the person, or
	// as much as the caller may see, because a form passes through its client.
	Preview func(whole bool) string
	// Knows reports whether the caller may know of a target that has changed.
	Knows func(name string) bool
	// Dry says that nothing will be done.
	Dry bool

	title   string // that several notes have
	options []Option
	chosen  *chosen
	back    *signed // what came back with a retry, checked
	yes     *Answer // and what the person said
	wait    bool    // nobody has said anything yet, but somebody may at a console
	going   bool    // somebody said that they open the page
}

// Gate decides whether the calls on one vault may run. Its methods may be called
// at the same time.
type Gate struct {
	Store Store
	Keys  Keys
	// Memory is shared by the gates of a process.
	Memory *Memory
	// Life is how long a grant and a state are good.
	Life time.Duration
	// Takes reports whether a way of approving counts, when a person is asked and
	// when what they approved is used. Shim is whether older clients are asked by forms
	// as well.
	Takes func(Route) bool
	Shim  bool
	// Watched reports whether a console or page is open that shows requests.
	Watched func() bool
	// Pages are where people answer whose clients open addresses and show no forms.
	Pages Pages
	// Patience is how long a call waits for a person at most, and Pause how often it
	// looks for an answer.
	Patience, Pause time.Duration
	// Event is told what happens: names and ids, never what a note or a person says.
	Event func(ctx context.Context, name string, attrs ...any)
}

// Patience is how long a call waits for a person at most: real clients give up
// after 60 seconds.
const Patience = 50 * time.Second

// confirmKey is the key of the form in a modern round trip.
const confirmKey = "confirm"

// Answered looks at what came with a call, before anything else is done with it:
// a no counts even if the gate would no longer apply, and what was done once is
// told even if it could not be planned again. It fails with *ProtocolError for what
// is altered, foreign or malformed, and with a fault for a no, for nobody, and for
// what came too late.
func (g *Gate) Answered(ctx context.Context, c *Call) error {
	if c.Token != "" {
		_, _, err := g.tokenOf(ctx, c)
		return err
	}
	if !c.Client.Modern || c.Client.State == "" {
		return nil
	}
	s, err := decodeState(g.Keys, c.Client.State)
	void := errors.Is(err, errStateVoid)
	if err != nil && !void {
		return invalidState("altered")
	}
	if part := s.foreign(c); part != "" && !void {
		return invalidState("foreign").with("differs", part)
	}
	var answer *Answer
	raw, answered := c.Client.Answers[confirmKey]
	if answered && (void || s.Phase == phaseConfirm) {
		a, err := ParseAnswer(raw)
		if err != nil {
			return malformedAnswer(err)
		}
		answer = &a
	}
	if void {
		return g.late(ctx, c, nil)
	}
	r, gr, err := g.Store.Find(ctx, s.Request)
	if errors.Is(err, ErrNoRequest) {
		return g.late(ctx, c, nil)
	}
	if err != nil {
		return err
	}
	if s.State != r.State.Shown(r.ID) || s.Candidates != candidateDigest(r) || s.Phase != r.phase() && (s.Phase != phaseVisit || r.phase() != phaseConfirm) {
		return invalidState("foreign").with("differs", "state")
	}
	if answered && s.Phase == phaseChoose {
		a, err := answerOf(r, raw)
		if err != nil {
			return malformedAnswer(err)
		}
		answer = &a
	}
	if answered && s.Phase == phaseVisit {
		a, err := ParseConsent(raw)
		if err != nil {
			return malformedAnswer(err)
		}
		answer = &Answer{Action: a}
	}
	if r.Status != Open && r.Status != Approved {
		return g.ended(ctx, c, r, gr)
	}
	now, err := g.Store.Now(ctx)
	if err != nil {
		return err
	}
	if s.late(now) && (answer == nil || !answer.Refuses()) { // a no is never too late
		return g.late(ctx, c, r)
	}
	c.back, c.yes = &s, answer
	if answer == nil || s.Phase == phaseConfirm && answer.Approves() {
		return nil
	}
	if answer.Action == Cancel && r.Status == Approved {
		c.yes = nil // nobody answered here, but somebody has elsewhere
		return nil
	}
	after := now.Sub(time.UnixMilli(s.Issued))
	switch s.Phase {
	case phaseChoose:
		return g.settle(ctx, c, r, *answer, after)
	case phaseVisit:
		c.going, c.yes = answer.Action == Accept, nil
		return g.consented(ctx, c, r, s.Consent, answer.Action, after)
	}
	return g.no(ctx, c, r, *answer, after)
}

// late is an answer after its time.
func (g *Gate) late(ctx context.Context, c *Call, r *Request) error {
	g.event(ctx, EventAnswered, c, TooLate)
	return expired(c, r)
}

// tokenOf is what a token redeems, if it was given for this call and can still be
// used.
func (g *Gate) tokenOf(ctx context.Context, c *Call) (*Request, *Grant, error) {
	r, gr, err := g.Store.Redeem(ctx, TokenHash(c.Token))
	if errors.Is(err, ErrNoRequest) {
		return nil, nil, invalidToken(c, "unknown", nil)
	}
	if err != nil {
		return nil, nil, err
	}
	if r.Vault != c.Vault || r.Tool != c.Tool || r.Caller != c.Caller || r.Call != c.Hash {
		return nil, nil, invalidToken(c, "foreign", nil)
	}
	if r.Status != Approved {
		return nil, nil, g.ended(ctx, c, r, gr)
	}
	return r, gr, nil
}

// no is an answer other than a yes, after a time. Without an error the call goes
// on to wait for somebody at a console.
func (g *Gate) no(ctx context.Context, c *Call, r *Request, a Answer, after time.Duration) error {
	if after < g.Memory.quick() && c.Client.Terminal == "" {
		g.answered(ctx, c, r, Unattended)
		if g.Watched() && !c.wait {
			c.wait, c.yes = true, nil
			return nil
		}
		g.Memory.unattended()
		if a.Refuses() {
			return declined(c, r)
		}
		return notObtained(c, r)
	}
	g.Memory.attended()
	if !a.Refuses() {
		g.answered(ctx, c, r, Cancelled)
		return notObtained(c, r)
	}
	g.answered(ctx, c, r, Refused)
	route, by := g.routeOf(c)
	// One that was used, or is no longer there, stays what it is: a no comes too late
	// for it.
	if err := g.Store.End(ctx, r.ID, Declined, route, by, Open, Approved); err != nil && !errors.Is(err, ErrStatus) {
		return err
	}
	g.Memory.decline(r.Vault, r.Tool, r.Marks, time.Now())
	return declined(c, r)
}

// routeOf is the route by which the client of a call answers, and who attests.
func (g *Gate) routeOf(c *Call) (Route, string) {
	switch {
	case c.Client.Terminal != "":
		return RouteCommand, c.Client.Terminal
	case c.Client.Modern:
		return RouteState, Client
	}
	return RouteShim, Client
}

// Confirm lets a call run, asks for it, or refuses it. A nil error comes with the
// permit that the run spends.
func (g *Gate) Confirm(ctx context.Context, c *Call) (*change.Permit, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, g.Patience, errPatience)
	defer cancel()
	if c.Client.unsolicited() {
		return nil, unasked()
	}
	switch {
	case c.chosen != nil:
		return g.byChoice(ctx, c)
	case c.Token != "":
		return g.byToken(ctx, c)
	case c.back != nil && (c.yes != nil || c.going || !c.wait):
		return g.byState(ctx, c)
	}
	return g.plain(ctx, c)
}

var errPatience = errors.New("nobody has answered in time")

// byToken is a call that carries what a person gave its caller.
func (g *Gate) byToken(ctx context.Context, c *Call) (*change.Permit, error) {
	r, gr, err := g.tokenOf(ctx, c)
	if err != nil {
		return nil, err
	}
	return g.granted(ctx, c, r, gr)
}

// ended explains why a request that is neither open nor approved lets nothing
// run.
func (g *Gate) ended(ctx context.Context, c *Call, r *Request, gr *Grant) error {
	switch r.Status {
	case Used:
		g.event(ctx, EventAnswered, c, Replayed)
		return invalidToken(c, "used", gr)
	case Expired:
		g.event(ctx, EventAnswered, c, TooLate)
		if c.Token == "" {
			return expired(c, r)
		}
		return invalidToken(c, "expired", gr)
	case Declined:
		return declined(c, r)
	case Abandoned:
		return invalidToken(c, "abandoned", gr)
	default:
		return invalidToken(c, "superseded", gr)
	}
}

// granted spends the grant of a request that has one, if the state is still the
// one that was approved.
func (g *Gate) granted(ctx context.Context, c *Call, r *Request, gr *Grant) (*change.Permit, error) {
	if r.Status != Approved || gr == nil {
		return nil, g.ended(ctx, c, r, gr)
	}
	if g.differs(c, r) {
		return nil, g.drift(ctx, c, r)
	}
	if !g.Takes(gr.Route) {
		return nil, g.distrusted(ctx, c, r)
	}
	if gr.Route.Person() {
		g.Memory.attended()
	}
	if c.back != nil && c.back.Consent != "" {
		if err := g.arrived(ctx, c, r, c.back.Consent); err != nil {
			return nil, err
		}
	}
	return &change.Permit{Grant: gr.ID, Vault: r.Vault, State: r.State, Choice: gr.Choice}, nil
}

// distrusted ends the request of an approval that came by a way that no longer
// counts, and raises a fresh one, as if what the person saw had changed: a person
// who is asked by what counts can still approve. Left approved, the request would
// keep them from being asked until its grant expires, and the approval would be
// good again as soon as a server takes such ways. The call that finds this is
// refused; the next one asks.
func (g *Gate) distrusted(ctx context.Context, c *Call, r *Request) error {
	err := g.Store.End(ctx, r.ID, Superseded, "", "", Approved)
	if err != nil && !errors.Is(err, ErrStatus) {
		return err
	}
	if len(r.Candidates) > 0 { // the call asks which note is meant before all else
		e := notCounted(c, r)
		e.Recovery = ""
		return e
	}
	fresh, err := g.raise(ctx, c)
	if err != nil {
		return err
	}
	return notCounted(c, fresh)
}

// differs reports whether the call is about another state than a request.
func (g *Gate) differs(c *Call, r *Request) bool {
	return seal(g.Keys, kidOf(r.State), c.Parts) != r.State
}

// byState is a retry that brings a person's yes, or nothing.
func (g *Gate) byState(ctx context.Context, c *Call) (*change.Permit, error) {
	r, gr, err := g.Store.Find(ctx, c.back.Request)
	if err != nil {
		return nil, err
	}
	if r.Status != Open {
		return g.granted(ctx, c, r, gr)
	}
	if c.back.Phase != phaseVisit && !g.Takes(RouteState) {
		return nil, notObtainedByForm(c)
	}
	if g.differs(c, r) {
		return nil, g.drift(ctx, c, r)
	}
	switch {
	case c.going:
		return g.await(ctx, c, r)
	case c.yes == nil:
		return g.ask(ctx, c, r, c.back.Offer+1) // good, and nothing was answered
	}
	return g.approve(ctx, c, r, *c.yes)
}

// approve turns a client's yes into a grant. Another process may have been
// quicker: then what that one did counts.
func (g *Gate) approve(ctx context.Context, c *Call, r *Request, a Answer) (*change.Permit, error) {
	route, by := g.routeOf(c)
	g.Memory.attended()
	gr, err := g.Store.Approve(ctx, r.ID, Approval{Route: route, By: by, Life: g.Life})
	if errors.Is(err, ErrStatus) {
		if r, gr, err = g.Store.Find(ctx, r.ID); err == nil {
			return g.granted(ctx, c, r, gr)
		}
	}
	if err != nil {
		return nil, err
	}
	g.answered(ctx, c, r, Accepted)
	return &change.Permit{Grant: gr.ID, Vault: r.Vault, State: r.State, Choice: gr.Choice}, nil
}

// rest is how long a no is remembered.
const rest = 300 * time.Second

// plain is a call that brings nothing with it.
func (g *Gate) plain(ctx context.Context, c *Call) (*change.Permit, error) {
	r, gr, err := g.Store.Latest(ctx, c.Vault, c.Tool, c.Caller, c.Hash)
	if err != nil {
		return nil, err
	}
	if r != nil && r.Status == Approved {
		return g.granted(ctx, c, r, gr)
	}
	if r != nil && r.Status == Declined && !g.differs(c, r) {
		now, err := g.Store.Now(ctx)
		if err != nil {
			return nil, err
		}
		if now.Sub(r.Answered) < rest {
			return nil, declined(c, r)
		}
	}
	if r == nil || r.Status != Open || g.differs(c, r) {
		if r, err = g.raise(ctx, c); err != nil {
			return nil, err
		}
	}
	if r.Status == Approved { // by now, for the same call made twice at a time
		if r, gr, err = g.Store.Find(ctx, r.ID); err != nil {
			return nil, err
		}
		return g.granted(ctx, c, r, gr)
	}
	if g.Memory.declined(c.Vault, c.Tool, c.Marks, time.Now()) {
		return nil, declined(c, r)
	}
	if c.wait {
		return g.await(ctx, c, r)
	}
	return g.ask(ctx, c, r, 1)
}

// raise keeps a new request for a call.
func (g *Gate) raise(ctx context.Context, c *Call) (*Request, error) {
	kid, _ := g.Keys.Key(fingerprintLabel)
	a := g.sends(c)
	r := &Request{
		Bound: Bound{Vault: c.Vault, Tool: c.Tool, Caller: c.Caller, Call: c.Hash, State: seal(g.Keys, kid, c.Parts)},
		Floor: c.Floor, Summary: c.Summary, Undo: c.Undo, Notes: c.Notes, Preview: c.preview(true), Marks: c.Marks, Candidates: g.candidates(c, kid),
		Method: MethodCall, Mode: string(a.Wanted), Negotiated: a.Negotiated.String(), Fallback: string(a.Fallback), Reason: a.Reason,
	}
	err := g.Store.Raise(ctx, r)
	if errors.Is(err, ErrTooMany) {
		return nil, fault.New(fault.Throttled, "%d calls wait for a person already. They can be approved, declined or abandoned with vault-mcp elicit.", MaxOpen).
			With("retry_after_ms", time.Minute.Milliseconds())
	}
	if err == nil {
		g.event(ctx, EventRequested, c, "", "request_id", r.ID, "mode", r.Mode, "negotiated", r.Negotiated, "reason", string(r.Reason))
	}
	return r, err
}

func (c *Call) preview(whole bool) string {
	if c.Preview == nil {
		return ""
	}
	return c.Preview(whole)
}

// MarkOf is the mark of a target with a name.
func MarkOf(name string, state []byte) Mark {
	sum := sha256.Sum256(state)
	return Mark{name, base64.RawURLEncoding.EncodeToString(sum[:12])}
}

// TokenHash is what is kept of a token.
func TokenHash(token string) []byte {
	sum := sha256.Sum256([]byte("vault-mcp token v1 " + token))
	return sum[:]
}

// candidateDigest is what a state says of the candidates, salted.
func candidateDigest(r *Request) string {
	if len(r.Candidates) == 0 {
		return ""
	}
	h := sha256.New()
	h.Write([]byte(r.ID))
	_ = json.NewEncoder(h).Encode(r.Candidates) // strings alone
	return hex.EncodeToString(h.Sum(nil))[:32]
}
