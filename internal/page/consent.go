package page

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/elicit"
)

// Consents are the consents of one vault whose ids let somebody in. Each is for the
// request that its Call names: who comes with it sees and answers that one only.
type Consents struct {
	// Registry decides what may still happen with a consent.
	Registry *hitl.Registry
	// Party is for whom consents were offered; those of others let nobody in.
	Party hitl.Party
	// Requests keeps the requests.
	Requests hitl.Store
	// Life is how long an approval is good.
	Life time.Duration
}

// Path is where on a page somebody gets in by the id of a consent: once, as long
// as it is offered or pending.
func Path(id string) string { return hitl.VisitPath + id }

// errOver means that a consent lets nothing happen any more.
var errOver = errors.New("this address is no longer good")

// visit is the request to which a consent leads, if it lets somebody in.
func (p *Page) visit(ctx context.Context, id string) (consent, bool) {
	if p.Consents == nil || !hitl.Opaque(id) {
		return consent{}, false
	}
	for _, c := range p.Consents() {
		k, err := c.Registry.Store.FindConsent(ctx, id)
		if err != nil {
			continue
		}
		who := consent{c, id, k.Call}
		now, err := c.Requests.Now(ctx)
		return who, err == nil && k.Party == c.Party && who.waits(ctx, now)
	}
	return consent{}, false
}

// first reports whether nobody has come with a consent yet, and keeps that
// somebody has. The caller holds the lock.
func (p *Page) first(id string) bool {
	key, now := hash(id), p.now()
	for k, at := range p.visited {
		if now.Sub(at) > hitl.RequestLife+hitl.ConsentWindow {
			delete(p.visited, k) // it is over by itself
		}
	}
	if _, been := p.visited[key]; been {
		return false
	}
	if p.visited == nil {
		p.visited = map[string]time.Time{}
	}
	p.visited[key] = now
	return true
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte("vault-mcp page v1 " + secret))
	return string(sum[:])
}

// consent is one that has let somebody in.
type consent struct {
	Consents
	id, request string
}

// waits reports whether an answer still counts.
func (c consent) waits(ctx context.Context, now time.Time) bool {
	k, err := c.Registry.Store.FindConsent(ctx, c.id)
	return err == nil && k.Waits(now)
}

// approve approves the request, which is the outside's evidence: the consent is
// complete with the id of the grant.
func (c consent) approve(ctx context.Context, choice string) error {
	ruling, err := c.Registry.Answered(ctx, c.Party, c.id, hitl.Accept)
	if err != nil {
		return err
	}
	if ruling != hitl.RulingPending {
		return errOver
	}
	g, err := c.Requests.Approve(ctx, c.request, hitl.Approval{Route: hitl.RoutePage, By: elicit.Account(), Choice: choice, Life: c.Life})
	if err != nil {
		return err
	}
	// The grant stands from here on: should this process die now, the call finds it.
	ruling, err = c.Registry.Complete(ctx, c.Party, c.id, g.ID)
	if err == nil && ruling != hitl.RulingCompleted {
		err = errors.Join(errOver, c.Requests.End(ctx, c.request, hitl.Abandoned, hitl.RoutePage, elicit.Account(), hitl.Approved))
	}
	return err
}

// decline declines the request, and ends the consent.
func (c consent) decline(ctx context.Context) error {
	err := c.Requests.End(ctx, c.request, hitl.Declined, hitl.RoutePage, elicit.Account(), hitl.Open, hitl.Approved)
	if err != nil {
		return err
	}
	ruling, err := c.Registry.Answered(ctx, c.Party, c.id, hitl.Decline)
	if err == nil && ruling == hitl.RulingPending {
		_, err = c.Registry.Abandon(ctx, c.Party, c.id)
	}
	return err
}
