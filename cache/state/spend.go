package state

import (
	"context"

	"vault-mcp/vault/change"
)

// Spend uses the permit of a call up that is no change: it reads, or acts outside
// the notes. With an error nothing has happened; where the permit cannot be spent
// that is change.ErrNoGrant, and where the idempotency key was used ErrKeyTaken.
// The record counts as indeterminate until Ended, so that no other process takes
// it for a change that has to be taken back, and the permit stays spent whatever
// becomes of this one.
func (s *Store) Spend(ctx context.Context, r *change.Record) error {
	r.Outcome = change.Indeterminate
	return s.write(ctx, func(t *transaction) error {
		if err := t.claim(r); err != nil {
			return err
		}
		if err := t.spend(r, s.clock); err != nil {
			return err
		}
		return t.insert(r)
	})
}

// Intend keeps what an effect is about to do, before it does it.
func (s *Store) Intend(ctx context.Context, r *change.Record, intent []byte) error {
	err := s.write(ctx, func(t *transaction) error {
		return t.exec("UPDATE changes SET intent = ? WHERE id = ?", intent, r.ID)
	})
	if err == nil {
		r.Intent = intent
	}
	return err
}

// Ended keeps what became of such a call. One that was not applied gives its
// permit back and may be made again with its key.
func (s *Store) Ended(ctx context.Context, r *change.Record) error {
	return s.write(ctx, func(t *transaction) error {
		n, err := t.changed("UPDATE changes SET outcome = ?, ended = ?, receipt = ? WHERE id = ? AND outcome = ? AND ended = 0",
			string(r.Outcome), column(r.Ended), r.Receipt, r.ID, string(change.Indeterminate))
		if err != nil || n == 0 { // another process has settled it
			return err
		}
		if err := t.auditChange(r.Ended, AuditEnd, r); err != nil {
			return err
		}
		if r.Outcome == change.NotApplied {
			if err := t.release(r, s.clock); err != nil {
				return err
			}
		}
		if r.Outcome != change.Applied && r.Outcome != change.Indeterminate {
			return t.exec("DELETE FROM keys WHERE change = ?", r.ID)
		}
		return nil
	})
}

// Unsettled are the effects that no process has ended, oldest first. Whoever
// holds LockEffects knows that their processes are dead.
func (s *Store) Unsettled(ctx context.Context) (list []*change.Record, err error) {
	return s.records(ctx, false, "SELECT id FROM changes WHERE outcome = 'indeterminate' AND ended = 0 AND intent IS NOT NULL ORDER BY seq")
}
