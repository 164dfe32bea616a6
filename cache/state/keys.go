package state

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/change"
)

// keyLife is how long a call with an idempotency key is answered again.
const keyLife = 24 * time.Hour

// Seen finds the change that a call with an idempotency key has made before;
// nil if there is none. The same key with another call is
// idempotency_key_mismatch, and with one that is being made just now
// idempotency_in_flight. Where nobody can say what became of it, it is
// indeterminate_outcome.
func (s *Store) Seen(ctx context.Context, caller, key, tool string, call fingerprint.Call, now time.Time) (r *change.Record, err error) {
	err = s.read(ctx, func(t *transaction) error {
		var usedBy, usedCall, id string
		var at int64
		err := t.row("SELECT tool, call, change, at FROM keys WHERE caller = ? AND key = ?", caller, key).Scan(&usedBy, &usedCall, &id, &at)
		if errors.Is(err, sql.ErrNoRows) || err == nil && now.Sub(time.Unix(0, at)) > keyLife {
			return nil
		}
		if err != nil {
			return err
		}
		if usedBy != tool || usedCall != string(call) {
			return fault.New(fault.IdempotencyKeyMismatch, "The idempotency key was used for another call.")
		}
		r, err = t.record(id, false)
		switch {
		case err != nil:
		case r.Outcome == "", r.Outcome == change.Indeterminate && r.Ended.IsZero():
			err = fault.New(fault.IdempotencyInFlight, "The call with this idempotency key is being made.")
		case r.Outcome == change.Indeterminate:
			err = fault.New(fault.IndeterminateOutcome, "The call with this idempotency key was interrupted, and it cannot be said whether it was done: look before it is tried again.").
				With("change_id", r.ID)
		}
		return err
	})
	return r, err
}

// Earlier is the content that a path had at a time, if it has been changed
// since by this program.
func (s *Store) Earlier(ctx context.Context, path string, at time.Time) (content []byte, ok bool, err error) {
	err = s.read(ctx, func(t *transaction) error {
		var hash []byte
		err := t.row("SELECT hash FROM snapshots WHERE path = ? AND at >= ? ORDER BY id LIMIT 1", path, at.UnixNano()).Scan(&hash)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		var h fingerprint.Content
		copy(h[:], hash)
		content, err = t.content(h)
		ok = err == nil
		return err
	})
	return content, ok, err
}
