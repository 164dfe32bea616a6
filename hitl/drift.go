package hitl

import (
	"context"
	"errors"
	"slices"

	"vault-mcp/internal/fault"
	"vault-mcp/vault/change"
)

// drift ends a request whose state is no more, and raises a fresh one.
func (g *Gate) drift(ctx context.Context, c *Call, r *Request) error {
	g.event(ctx, EventDrift, c, "", "request_id", r.ID)
	fresh, err := g.raise(ctx, c) // which supersedes the old one
	if err != nil {
		return err
	}
	return drifted(c, fresh, changedMarks(r.Marks, c.Marks))
}

// Drifted is called with what a call would do now, when the vault turned out to
// be another one after it had a permit: nothing was applied, and nothing spent. If
// the permit was spent meanwhile, by the same call made twice at a time, it is
// that which has changed the vault.
func (g *Gate) Drifted(ctx context.Context, c *Call, p *change.Permit, was []Mark) error {
	if spent := g.spent(ctx, c, p); spent != nil {
		return spent
	}
	if c.chosen != nil {
		return g.driftedChoice(ctx, c, was)
	}
	g.event(ctx, EventDrift, c, "")
	fresh, err := g.raise(ctx, c)
	if err != nil {
		return err
	}
	return drifted(c, fresh, changedMarks(was, c.Marks))
}

// spent says that a permit was spent meanwhile; nil if it was not.
func (g *Gate) spent(ctx context.Context, c *Call, p *change.Permit) error {
	if p == nil {
		return nil
	}
	r, gr, err := g.Store.Granted(ctx, p.Grant)
	if err != nil || r.Status != Used {
		return nil
	}
	return g.ended(ctx, c, r, gr)
}

// Lost is called when a call can no longer be planned: if it had been asked
// about, that is drift. The error is err where it had not.
func (g *Gate) Lost(ctx context.Context, c *Call, p *change.Permit, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || !slices.Contains(ofTheVault, e.Code) {
		return err
	}
	if spent := g.spent(ctx, c, p); spent != nil {
		return spent
	}
	if c.chosen != nil {
		return g.lostChoice(ctx, c, e)
	}
	var r *Request
	var gr *Grant
	var failed error
	switch {
	case c.Token != "":
		r, gr, failed = g.Store.Redeem(ctx, TokenHash(c.Token))
	case c.back != nil:
		r, gr, failed = g.Store.Find(ctx, c.back.Request)
	default:
		r, gr, failed = g.Store.Latest(ctx, c.Vault, c.Tool, c.Caller, c.Hash)
	}
	if failed != nil || r == nil || r.Call != c.Hash || r.Vault != c.Vault || r.Tool != c.Tool || r.Caller != c.Caller {
		return err
	}
	brought := c.Token != "" || c.back != nil
	if brought && r.Status == Used { // since it was looked at: it is that run which has changed the vault
		return g.ended(ctx, c, r, gr)
	}
	asked := r.Status == Approved || r.Status == Open && brought
	if !asked || g.Store.End(ctx, r.ID, Superseded, "", "", r.Status) != nil {
		return err
	}
	g.event(ctx, EventDrift, c, "", "request_id", r.ID)
	return lost(c, e)
}

// ofTheVault are the codes of faults that come with what a vault holds.
var ofTheVault = []fault.Code{fault.NoteNotFound, fault.NotFound, fault.NoteExists, fault.ConcurrentModification, fault.InvalidInput, fault.GitRefused}

// Unspent explains why a permit could not be spent.
func (g *Gate) Unspent(ctx context.Context, c *Call, p *change.Permit) error {
	r, gr, err := g.Store.Granted(ctx, p.Grant)
	switch {
	case errors.Is(err, ErrNoRequest): // it was renewed meanwhile
		return invalidToken(c, "superseded", nil)
	case err != nil:
		return err
	case r.Status == Approved: // bound to something else: nothing of this program does that
		return fault.New(fault.Internal, "The approval does not fit the call; nothing was changed.")
	}
	_, err = g.granted(ctx, c, r, gr)
	return err
}

// changedMarks are the names whose mark is not the same in both lists, sorted.
func changedMarks(was, is []Mark) []string {
	a, b := map[string]string{}, map[string]string{}
	for _, m := range was {
		a[m.Name] += m.Sum + " "
	}
	for _, m := range is {
		b[m.Name] += m.Sum + " "
	}
	var names []string
	for n, s := range a {
		if b[n] != s {
			names = append(names, n)
		}
	}
	for n := range b {
		if _, ok := a[n]; !ok {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}
