package hitl

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"vault-mcp/vault/change"
)

// Pages is the page of this very server, for the people whose clients open
// addresses and show no forms.
type Pages struct {
	// Open starts the page, if it is not open yet, and tells its origin on loopback.
	Open func() (origin string, err error)
	// Consents keeps what became of the addresses that were shown.
	Consents *Registry
	// User is the account that this server runs for: who opens the page has to be the
	// same.
	User string
}

// VisitPath is where the page takes the id of a consent, as the login for that one
// request; the id follows.
const VisitPath = "/c/"

// visitWords are all that a client shows with an address: what is asked stands on
// the page, so that nothing of it passes through the client.
func (c *Call) visitWords() string {
	return "A call of " + Display(c.Tool) + " on the vault " + Display(c.Vault) + " waits for your approval. The page shows what it would do, and takes your yes or no."
}

// sends is the admission of what is put before a person through the client: a form,
// or, for a client that declares URL mode alone, and for what no form may ask, the
// address of this server's own page.
func (g *Gate) sends(c *Call) Admission {
	a := c.admission()
	if a.Admitted || !g.visits(c) || len(c.options) > 0 {
		return a
	}
	return admit("", ModeURL, a.Negotiated)
}

// visits reports whether the person behind a call can be sent to the page, and
// what they do there counts. A client that shows forms is asked by a form, unless
// it is none that may be sent.
func (g *Gate) visits(c *Call) bool {
	if g.Pages.Open == nil || c.Client.Terminal != "" || !c.Client.URLs || !g.Takes(RoutePage) || g.Memory.alone() {
		return false
	}
	return !c.Client.Forms || c.admission().Wanted == ModeURL
}

func (g *Gate) party(c *Call) Party { return Party{c.Vault, g.Pages.User} }

// visit sends the person to the page by an address of its own for this offer. A
// client of the era with states comes back with one; an older one is sent the
// address and the call waits, or is refused with the address where the server sends
// no requests. Without an error and a permit there is no page.
func (g *Gate) visit(ctx context.Context, c *Call, r *Request, offer int) (*change.Permit, error) {
	a, err := g.address(ctx, c, r)
	if a == nil || err != nil {
		return nil, err
	}
	switch {
	case c.Client.Modern:
		return nil, g.offer(ctx, c, r, &NeedsInput{Key: confirmKey, Address: a}, offer)
	case c.Client.Visit != nil && g.Shim:
		return g.awaitVisit(ctx, c, r, a)
	}
	g.follow(c, r, a.ID)
	return nil, urlRequired(a)
}

// address is a new address for a request; nil where there is no page, or what it
// gives may not be shown.
func (g *Gate) address(ctx context.Context, c *Call, r *Request) (*Address, error) {
	origin, err := g.Pages.Open()
	if err != nil {
		return nil, nil // which was logged, and leaves the command
	}
	var random [16]byte
	rand.Read(random[:]) // never fails
	id := hex.EncodeToString(random[:])
	a := &Address{URL: origin + VisitPath + id, ID: id, Message: c.visitWords()}
	if d := AdmitURL(a.URL, a.ID, Origins{Own: origin}, c.admission().Negotiated); !d.Admitted {
		return nil, nil
	}
	if err := g.Pages.Consents.Offer(ctx, &Consent{ID: id, Party: g.party(c), Call: r.ID}); err != nil {
		return nil, err
	}
	return a, nil
}

// urlRequired is the error of 2025-11-25 that says that an address has to be
// opened first.
func urlRequired(a *Address) *ProtocolError {
	return &ProtocolError{URLRequired, "A person has to open an address first, and approve the call there.", map[string]any{
		"elicitations": []map[string]string{{"mode": string(ModeURL), "elicitationId": a.ID, "url": a.URL, "message": a.Message}},
	}}
}

// consented takes what a client says that a person did with an address. An accept
// is the consent to open it, and never an approval: the call waits for the page.
func (g *Gate) consented(ctx context.Context, c *Call, r *Request, id string, a Action, after time.Duration) error {
	if _, err := g.Pages.Consents.Answered(ctx, g.party(c), id, a); err != nil {
		return err
	}
	if a == Accept {
		g.event(ctx, EventAnswered, c, Consented, "request_id", r.ID)
		return nil
	}
	return g.no(ctx, c, r, Answer{Action: a}, after)
}

// awaitVisit is await with an address that is sent first.
func (g *Gate) awaitVisit(ctx context.Context, c *Call, r *Request, a *Address) (permit *change.Permit, err error) {
	going := false // somebody said that they open it
	w := g.awaiting(ctx, c, r, &permit)
	w.send = func(ctx context.Context) (json.RawMessage, error) { return c.Client.Visit(ctx, *a) }
	w.replied = func(got reply, after time.Duration) (bool, error) {
		if got.err != nil {
			return false, g.failed(ctx, c, r, got.err, func() error { return notObtained(c, r) })
		}
		action, err := ParseConsent(got.raw)
		if err != nil {
			return false, malformedAnswer(err)
		}
		going = action == Accept
		return false, g.consented(ctx, c, r, a.ID, action, after)
	}
	err = g.wait(ctx, c, r, w)
	if going {
		g.follow(c, r, a.ID)
	}
	if permit == nil {
		return nil, err
	}
	return permit, g.arrived(ctx, c, r, a.ID)
}

// arrived enters in the registry that the call which waits for an address has its
// answer. What may run, and how often, is decided by the grant alone.
func (g *Gate) arrived(ctx context.Context, c *Call, r *Request, id string) error {
	_, _, err := g.Pages.Consents.Retry(ctx, g.party(c), id, r.ID)
	return err
}

// follow tells a client of 2025-11-25 when a person has answered at an address that
// it was told of, now or after its call has ended.
func (g *Gate) follow(c *Call, r *Request, id string) {
	if c.Client.Follow == nil {
		return
	}
	c.Client.Follow(id, func(ctx context.Context) bool {
		now, _, err := g.Store.Find(ctx, r.ID)
		return err == nil && now.Status != Open || errors.Is(err, ErrNoRequest)
	})
}
