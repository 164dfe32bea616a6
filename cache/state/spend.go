package state

import (
	"context"

	"vault-mcp/vault/change"
)

// Spend uses the permit of a call up that is no change: it reads, or acts outside
// the notes. With an error nothing has happened; where the permit cannot be spent
// that is change.ErrNoGrant. The record counts as indeterminate until Ended, so
// that no other process takes it for a change that has to be taken back, and the
// permit stays spent whatever becomes of this one.
func (s *Store) Spend(ctx context.Context, r *change.Record) error {
	r.Outcome = change.Indeterminate
	return s.write(ctx, func(t *transaction) error {
		if err := t.spend(r, s.clock); err != nil {
			return err
		}
		return t.insert(r)
	})
}

// Ended keeps what became of such a call.
func (s *Store) Ended(ctx context.Context, r *change.Record) error {
	return s.write(ctx, func(t *transaction) error {
		err := t.exec("UPDATE changes SET outcome = ?, ended = ? WHERE id = ? AND outcome = ?",
			string(r.Outcome), column(r.Ended), r.ID, string(change.Indeterminate))
		if err != nil {
			return err
		}
		return t.auditChange(r.Ended, AuditEnd, r)
	})
}
