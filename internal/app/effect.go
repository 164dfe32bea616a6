package app

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	kept "vault-mcp/cache/state"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/vault/change"
)

// Act implements dispatch.Applier. One effect runs at a time on a vault, of all
// processes: who has the lock knows that the others that are open are dead.
func (a *App) Act(ctx context.Context, c *dispatch.Call) (any, error) {
	if !c.Tool.Mutates() && c.Permit == nil {
		b, err := c.Tool.Begin(ctx, &c.Call)
		if err != nil {
			return nil, err
		}
		defer b.Release()
		return b.Run(ctx)
	}
	w := a.writers[c.View.ID]
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	release, err := w.store.LockEffects(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := w.settleEffects(ctx); err != nil {
		return nil, err
	}
	b, err := c.Tool.Begin(ctx, &c.Call)
	if err != nil {
		return nil, a.Lost(ctx, c, err)
	}
	defer b.Release()
	if c.Permit != nil {
		now, err := c.Tool.Targets(ctx, &c.Call)
		if err != nil {
			return nil, a.Lost(ctx, c, err)
		}
		same := now.Equal(c.Targets)
		if c.Targets = now; !same {
			return nil, a.Drifted(ctx, c, c.Plan)
		}
	}
	return a.spendOn(ctx, w, c, b.Run)
}

// spendOn spends the permit of a call on an effect that holds what it is about.
func (a *App) spendOn(ctx context.Context, w *writer, c *dispatch.Call, run func(context.Context) (any, error)) (out any, err error) {
	r := &change.Record{
		ID: change.NewID(), Tool: c.Tool.Name, Caller: c.Caller.ID, Vault: c.View.ID, Call: c.Hash, Key: c.Key(), Permit: c.Permit,
		Began: time.Now(), Summary: c.Targets.Summary, Intent: []byte(noIntent),
	}
	switch err := w.store.Spend(ctx, r); {
	case err == change.ErrNoGrant:
		return nil, w.gate.Unspent(ctx, c.Asked, c.Permit)
	case err == kept.ErrKeyTaken:
		return nil, fault.New(fault.IdempotencyInFlight, "Another call with this idempotency key came first.")
	case err != nil:
		return nil, err
	}
	c.OnIntent(r.ID, func(ctx context.Context, intent json.RawMessage) error { return w.store.Intend(ctx, r, intent) })
	err = errors.New("it did not come back") // of a panic
	defer func() {
		ending := context.WithoutCancel(ctx) // what was done is kept, whoever still waits for it
		w.became(ending, r, err == nil)
		switch known := err != nil && fault.Of(err).Code == fault.IndeterminateOutcome; {
		case known:
			r.Outcome = change.Indeterminate // as its tool says
		case r.Outcome == change.Indeterminate:
			err = unsure(r, err)
		case r.Outcome == change.Applied && err != nil:
			out, err = json.RawMessage(r.Receipt), nil // it is there, whatever went wrong after
		}
		if e := w.store.Ended(ending, r); e != nil {
			a.opts.Log.Warn("what became of an effect could not be kept", "tool", r.Tool, "err", e)
		}
	}()
	if err = c.Reveal(ctx); err != nil {
		return nil, err
	}
	if out, err = run(ctx); err == nil {
		r.Receipt, err = json.Marshal(out)
	}
	return out, err
}

// noIntent is the intent of an effect that has done nothing yet.
const noIntent = "{}"

// became says in a record what became of its effect. One that told no intent has
// done nothing; of another one its tool looks.
func (w *writer) became(ctx context.Context, r *change.Record, well bool) {
	r.Ended = time.Now()
	switch {
	case well:
		r.Outcome = change.Applied
		return
	case string(r.Intent) == noIntent:
		r.Outcome = change.NotApplied
		return
	}
	r.Outcome = change.Indeterminate
	t := w.app.all.Tool(r.Tool)
	if t == nil || t.Settle == nil {
		return
	}
	if done, known := t.Settle(ctx, w.app.views[w.at], r.Intent); known {
		if r.Outcome = change.Failed; done {
			r.Outcome = change.Applied
			r.Receipt, _ = json.Marshal(map[string]any{"done": true, "change_id": r.ID}) // cannot fail
		}
	}
}

// unsure is the fault of an effect of which nobody can say whether it was done.
func unsure(r *change.Record, cause error) error {
	return fault.New(fault.IndeterminateOutcome, "%s was interrupted, and it cannot be said whether it was done: look before it is tried again.", r.Tool).
		With("change_id", r.ID).Because(cause)
}

// settleEffects finds out what became of the effects of dead processes. None is
// run again. The lock of effects is held.
func (w *writer) settleEffects(ctx context.Context) error {
	list, err := w.store.Unsettled(ctx)
	for _, r := range list {
		if err == nil {
			w.became(ctx, r, false)
			err = w.store.Ended(ctx, r)
		}
	}
	return err
}
