package state

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"time"

	"vault-mcp/hitl"
)

// consentsLayout holds the addresses that people were asked to open. Their ids
// let somebody in, so only hashes are kept, as of tokens.
const consentsLayout = `CREATE TABLE consents (
	id_hash BLOB PRIMARY KEY, tenant TEXT NOT NULL, user TEXT NOT NULL, call TEXT NOT NULL, status TEXT NOT NULL, result TEXT NOT NULL,
	offered_at INTEGER NOT NULL, accepted_at INTEGER NOT NULL DEFAULT 0, finished_at INTEGER NOT NULL DEFAULT 0,
	applied_at INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX consents_offered ON consents (offered_at);`

var _ hitl.Consents = (*Store)(nil)

// OfferConsent implements hitl.Consents.
func (s *Store) OfferConsent(ctx context.Context, c *hitl.Consent) error {
	return s.write(ctx, func(t *transaction) error {
		now, err := t.tick(s.clock)
		if err != nil {
			return err
		}
		if err := t.exec("DELETE FROM consents WHERE offered_at <= ?", now.Add(-hitl.RequestLife).UnixNano()); err != nil {
			return err
		}
		c.Offered = now
		n, err := t.changed("INSERT INTO consents (id_hash, tenant, user, call, status, result, offered_at) VALUES (?, ?, ?, ?, ?, '', ?) ON CONFLICT DO NOTHING",
			consentKey(c.ID), c.Tenant, c.User, c.Call, string(c.Status), now.UnixNano())
		if err == nil && n == 0 {
			err = hitl.ErrConsentTaken
		}
		return err
	})
}

// ChangeConsent implements hitl.Consents. For an id that is not known nothing is
// written, so who tries many of them does not keep the disk busy.
func (s *Store) ChangeConsent(ctx context.Context, id string, f func(c *hitl.Consent, now time.Time) (keep bool)) error {
	return s.write(ctx, func(t *transaction) error {
		c, err := t.consent(id)
		if err != nil {
			return err
		}
		now, err := t.tick(s.clock)
		if err != nil || !f(c, now) {
			return err
		}
		return t.exec("UPDATE consents SET status = ?, result = ?, accepted_at = ?, finished_at = ?, applied_at = ? WHERE id_hash = ?",
			string(c.Status), c.Result, column(c.Accepted), column(c.Finished), column(c.Applied), consentKey(id))
	})
}

// FindConsent implements hitl.Consents.
func (s *Store) FindConsent(ctx context.Context, id string) (c *hitl.Consent, err error) {
	err = s.read(ctx, func(t *transaction) error {
		c, err = t.consent(id)
		return err
	})
	return c, err
}

func (t *transaction) consent(id string) (*hitl.Consent, error) {
	c := &hitl.Consent{ID: id}
	var offered, accepted, finished, applied int64
	err := t.row("SELECT tenant, user, call, status, result, offered_at, accepted_at, finished_at, applied_at FROM consents WHERE id_hash = ?", consentKey(id)).
		Scan(&c.Tenant, &c.User, &c.Call, &c.Status, &c.Result, &offered, &accepted, &finished, &applied)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, hitl.ErrNoConsent
	}
	if err != nil {
		return nil, err
	}
	c.Offered, c.Accepted, c.Finished, c.Applied = instant(offered), instant(accepted), instant(finished), instant(applied)
	return c, nil
}

func consentKey(id string) []byte {
	sum := sha256.Sum256([]byte("vault-mcp consent v1 " + id))
	return sum[:]
}

// column is a time as it is kept; none is 0.
func column(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}
