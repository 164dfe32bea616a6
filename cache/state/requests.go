package state

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/change"
)

// requestsLayout holds what a person was asked and has approved. What a grant
// was used for is a change with the grant's id as its approval.
const requestsLayout = `CREATE TABLE requests (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT NOT NULL UNIQUE, vault TEXT NOT NULL, tool TEXT NOT NULL, caller TEXT NOT NULL,
	call_hash TEXT NOT NULL, state_fp TEXT NOT NULL, floor_reason TEXT NOT NULL, summary TEXT NOT NULL, preview TEXT NOT NULL,
	marks TEXT NOT NULL, candidates TEXT NOT NULL, method TEXT NOT NULL, mode TEXT NOT NULL, negotiated TEXT NOT NULL, fallback TEXT NOT NULL,
	raised_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, status TEXT NOT NULL, answered_at INTEGER NOT NULL, route TEXT NOT NULL);
CREATE INDEX requests_call ON requests (call_hash, caller);
CREATE INDEX requests_open ON requests (caller) WHERE status = 'open';
CREATE TABLE grants (
	grant_id TEXT PRIMARY KEY, request_id TEXT NOT NULL UNIQUE REFERENCES requests (request_id), token_hash BLOB, route TEXT NOT NULL,
	attested_by TEXT NOT NULL, vault TEXT NOT NULL, tool TEXT NOT NULL, caller TEXT NOT NULL, call_hash TEXT NOT NULL,
	state_fp TEXT NOT NULL, choice TEXT NOT NULL, max_uses INTEGER NOT NULL DEFAULT 1, uses INTEGER NOT NULL DEFAULT 0,
	issued_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, consumed_at INTEGER NOT NULL DEFAULT 0,
	released_at INTEGER NOT NULL DEFAULT 0, revoked_at INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE UNIQUE INDEX grants_token ON grants (token_hash) WHERE token_hash IS NOT NULL;
CREATE INDEX changes_approval ON changes (approval) WHERE approval <> '';
CREATE VIEW executions AS SELECT id AS execution_id, NULLIF(approval, '') AS grant_id, call AS call_hash, tool, caller, began AS started_at,
	ended AS finished_at, outcome, receipt FROM changes;`

// decisionLayout adds why no form was sent for a request, and to executions the
// vault, and which run of its grant each is: one that was given back is used again.
const decisionLayout = `ALTER TABLE requests ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE changes ADD COLUMN vault TEXT NOT NULL DEFAULT '';
UPDATE changes SET vault = coalesce((SELECT a.vault FROM audit a WHERE a.change_id = changes.id AND a.kind = 'begin'), '');
DROP VIEW executions;
CREATE VIEW executions AS SELECT id AS execution_id, NULLIF(approval, '') AS grant_id, call AS call_hash, tool, NULLIF(vault, '') AS vault, caller,
	(SELECT count(*) FROM changes e WHERE c.approval <> '' AND e.approval <> '' AND e.approval = c.approval AND e.seq < c.seq) + 1 AS attempt,
	began AS started_at, ended AS finished_at, outcome, receipt FROM changes c;`

// toldLayout adds whether it can be undone, and what else the person should know.
const toldLayout = `ALTER TABLE requests ADD COLUMN undo TEXT NOT NULL DEFAULT '';
ALTER TABLE requests ADD COLUMN notes TEXT NOT NULL DEFAULT '[]';`

// Requests is the state as the confirmation gate needs it.
func (s *Store) Requests() hitl.Store { return requests{s} }

type requests struct{ s *Store }

// now is the greater of the clock and the highest time ever kept.
func (t *transaction) now(clock func() time.Time) (time.Time, error) {
	var highest int64
	if err := t.row("SELECT highest FROM clock").Scan(&highest); err != nil {
		return time.Time{}, err
	}
	if wall := clock(); wall.UnixNano() > highest {
		return wall, nil
	}
	return time.Unix(0, highest), nil
}

// tick is now, kept: a clock that is set back from here on prolongs nothing.
func (t *transaction) tick(clock func() time.Time) (time.Time, error) {
	now, err := t.now(clock)
	if err == nil {
		err = t.exec("UPDATE clock SET highest = ?", now.UnixNano())
	}
	return now, err
}

// Now implements hitl.Store.
func (q requests) Now(ctx context.Context) (now time.Time, err error) {
	err = q.s.read(ctx, func(t *transaction) error {
		now, err = t.now(q.s.clock)
		return err
	})
	return now, err
}

const requestColumns = `SELECT r.request_id, r.vault, r.tool, r.caller, r.call_hash, r.state_fp, r.floor_reason, r.summary, r.undo, r.notes, r.preview, r.marks,
	r.candidates, r.method, r.mode, r.negotiated, r.fallback, r.reason, r.raised_at, r.expires_at, r.status, r.answered_at, r.route,
	g.grant_id, g.route, g.attested_by, g.choice, g.uses, g.issued_at, g.expires_at, g.consumed_at, g.released_at, g.revoked_at,
	(SELECT id FROM changes WHERE approval = g.grant_id ORDER BY seq DESC LIMIT 1)
	FROM requests r LEFT JOIN grants g ON g.request_id = r.request_id `

// scanRequest reads one row of requestColumns. What has run out of its time
// counts as expired, whether that was kept yet or not.
func scanRequest(row interface{ Scan(...any) error }, now time.Time) (*hitl.Request, *hitl.Grant, error) {
	r := &hitl.Request{}
	g := &hitl.Grant{}
	var notes, marks, candidates string
	var raised, expires, answered int64
	var id, route, by, choice, changed sql.NullString
	var uses, issued, until, consumed, released, revoked sql.NullInt64
	err := row.Scan(&r.ID, &r.Vault, &r.Tool, &r.Caller, &r.Call, &r.State, &r.Floor, &r.Summary, &r.Undo, &notes, &r.Preview, &marks,
		&candidates, &r.Method, &r.Mode, &r.Negotiated, &r.Fallback, &r.Reason, &raised, &expires, &r.Status, &answered, &r.Route,
		&id, &route, &by, &choice, &uses, &issued, &until, &consumed, &released, &revoked, &changed)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(json.Unmarshal([]byte(notes), &r.Notes), json.Unmarshal([]byte(marks), &r.Marks), json.Unmarshal([]byte(candidates), &r.Candidates)); err != nil {
		return nil, nil, fmt.Errorf("request %s in the state is damaged: %w", r.ID, err)
	}
	r.Raised, r.Expires, r.Answered = instant(raised), instant(expires), instant(answered)
	if !id.Valid {
		g = nil
	} else {
		*g = hitl.Grant{
			ID: id.String, RequestID: r.ID, Route: hitl.Route(route.String), By: by.String, Choice: choice.String, Uses: int(uses.Int64),
			Issued: instant(issued.Int64), Expires: instant(until.Int64), Consumed: instant(consumed.Int64),
			Released: instant(released.Int64), Revoked: instant(revoked.Int64), Change: changed.String,
		}
	}
	late := (r.Status == hitl.Open || r.Status == hitl.Declined) && !now.Before(r.Expires)
	if late || r.Status == hitl.Approved && g != nil && !now.Before(g.Expires) {
		r.Status = hitl.Expired
	}
	return r, g, nil
}

// instant is a time as a column keeps it; 0 is none.
func instant(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// request is the request with an id; hitl.ErrNoRequest if there is none.
func (t *transaction) request(id string, now time.Time) (*hitl.Request, *hitl.Grant, error) {
	return one(scanRequest(t.row(requestColumns+"WHERE r.request_id = ?", id), now))
}

func one(r *hitl.Request, g *hitl.Grant, err error) (*hitl.Request, *hitl.Grant, error) {
	if errors.Is(err, sql.ErrNoRows) {
		err = hitl.ErrNoRequest
	}
	return r, g, err
}

// look reads one request at the time that it is.
func (q requests) look(ctx context.Context, where string, args ...any) (r *hitl.Request, g *hitl.Grant, err error) {
	err = q.s.read(ctx, func(t *transaction) error {
		now, err := t.now(q.s.clock)
		if err == nil {
			r, g, err = one(scanRequest(t.row(requestColumns+where, args...), now))
		}
		return err
	})
	return r, g, err
}

// Latest implements hitl.Store.
func (q requests) Latest(ctx context.Context, vault, tool, caller string, call fingerprint.Call) (*hitl.Request, *hitl.Grant, error) {
	r, g, err := q.look(ctx, "WHERE r.call_hash = ? AND r.caller = ? AND r.vault = ? AND r.tool = ? ORDER BY r.seq DESC LIMIT 1", string(call), caller, vault, tool)
	if errors.Is(err, hitl.ErrNoRequest) {
		err = nil
	}
	return r, g, err
}

// Find implements hitl.Store.
func (q requests) Find(ctx context.Context, id string) (*hitl.Request, *hitl.Grant, error) {
	return q.look(ctx, "WHERE r.request_id = ?", id)
}

// Redeem implements hitl.Store.
func (q requests) Redeem(ctx context.Context, tokenHash []byte) (*hitl.Request, *hitl.Grant, error) {
	return q.look(ctx, "WHERE g.token_hash = ?", tokenHash)
}

// Granted implements hitl.Store.
func (q requests) Granted(ctx context.Context, grant string) (*hitl.Request, *hitl.Grant, error) {
	return q.look(ctx, "WHERE g.grant_id = ?", grant)
}

// List is every request that a person can answer now, oldest first: open ones,
// and declined ones that can still be approved.
func (s *Store) List(ctx context.Context) (list []*hitl.Request, err error) {
	return s.found(ctx, "r.status IN ('open', 'declined') AND r.expires_at > ?", hitl.Open, hitl.Declined)
}

// found are the requests, oldest first, for which a condition on the time that it is
// holds, and which have one of these states then.
func (s *Store) found(ctx context.Context, condition string, is ...hitl.Status) (list []*hitl.Request, err error) {
	err = s.read(ctx, func(t *transaction) error {
		now, err := t.now(s.clock)
		if err != nil {
			return err
		}
		return t.rows(func(rows *sql.Rows) error {
			r, _, err := scanRequest(rows, now)
			if err == nil && slices.Contains(is, r.Status) {
				list = append(list, r)
			}
			return err
		}, requestColumns+"WHERE "+condition+" ORDER BY r.seq", now.UnixNano())
	})
	return list, err
}

// newID is an id that nobody guesses.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Raise implements hitl.Store.
func (q requests) Raise(ctx context.Context, r *hitl.Request) error {
	if len(r.Preview) > hitl.MaxPreview {
		r.Preview = strings.ToValidUTF8(r.Preview[:hitl.MaxPreview], "") + "\n…\n"
	}
	notes, err := json.Marshal(r.Notes)
	if err != nil {
		return err
	}
	marks, err := json.Marshal(r.Marks)
	if err != nil {
		return err
	}
	candidates, err := json.Marshal(r.Candidates)
	if err != nil {
		return err
	}
	return q.s.write(ctx, func(t *transaction) error {
		now, err := t.tick(q.s.clock)
		if err != nil {
			return err
		}
		// Two calls may have found none at the same time: what one person would be
		// asked twice is one request. They may have approved it by now, too.
		same, _, err := one(scanRequest(t.row(requestColumns+"WHERE r.call_hash = ? AND r.caller = ? AND r.vault = ? AND r.tool = ? AND r.state_fp = ? AND r.status IN ('open', 'approved') AND r.expires_at > ? ORDER BY r.seq DESC LIMIT 1",
			string(r.Call), r.Caller, r.Vault, r.Tool, string(r.State), now.UnixNano()), now))
		if err == nil && same.Status != hitl.Expired {
			*r = *same
			return nil
		}
		if err != nil && !errors.Is(err, hitl.ErrNoRequest) {
			return err
		}
		if err := t.supersede(r, now); err != nil {
			return err
		}
		var open int
		err = t.row("SELECT count(*) FROM requests WHERE caller = ? AND status = 'open' AND expires_at > ?", r.Caller, now.UnixNano()).Scan(&open)
		if err != nil {
			return err
		}
		if open >= hitl.MaxOpen {
			return hitl.ErrTooMany
		}
		if r.ID == "" {
			r.ID = newID()
		}
		r.Raised, r.Expires, r.Status = now, now.Add(hitl.RequestLife), hitl.Open
		err = t.exec(`INSERT INTO requests (request_id, vault, tool, caller, call_hash, state_fp, floor_reason, summary, undo, notes, preview, marks,
			candidates, method, mode, negotiated, fallback, reason, raised_at, expires_at, status, answered_at, route) VALUES (`+places(23)+")",
			r.ID, r.Vault, r.Tool, r.Caller, string(r.Call), string(r.State), r.Floor, r.Summary, r.Undo, string(notes), r.Preview, string(marks),
			string(candidates), r.Method, r.Mode, r.Negotiated, r.Fallback, string(r.Reason), r.Raised.UnixNano(), r.Expires.UnixNano(), string(r.Status), 0, "")
		if err != nil {
			return err
		}
		return t.auditRequest(now, AuditRequest, r, AuditRow{Reason: r.Floor})
	})
}

func places(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// supersede ends what the call of a new request has left behind.
func (t *transaction) supersede(r *hitl.Request, now time.Time) error {
	var ids []string
	err := t.rows(func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT request_id FROM requests WHERE call_hash = ? AND caller = ? AND vault = ? AND tool = ? AND status IN ('open', 'approved', 'declined')",
		string(r.Call), r.Caller, r.Vault, r.Tool)
	for _, id := range ids {
		if err != nil {
			break
		}
		var old *hitl.Request
		if old, _, err = t.request(id, now); err == nil {
			to := hitl.Superseded
			if old.Status == hitl.Expired {
				to = hitl.Expired
			}
			row := AuditRow{}
			if old.State != r.State && to == hitl.Superseded {
				row.Reason = "drift"
			}
			err = t.end(old, to, row, now)
		}
	}
	return err
}

// end sets a status, and takes back a grant that was not used.
func (t *transaction) end(r *hitl.Request, to hitl.Status, row AuditRow, now time.Time) error {
	if err := t.exec("UPDATE requests SET status = ?, answered_at = ?, route = ? WHERE request_id = ?", string(to), now.UnixNano(), row.Route, r.ID); err != nil {
		return err
	}
	if err := t.exec("UPDATE grants SET revoked_at = ? WHERE request_id = ? AND uses = 0 AND revoked_at = 0", now.UnixNano(), r.ID); err != nil {
		return err
	}
	return t.auditRequest(now, AuditKind(to), r, row)
}

// Approve implements hitl.Store.
func (q requests) Approve(ctx context.Context, id string, a hitl.Approval) (g *hitl.Grant, err error) {
	err = q.s.write(ctx, func(t *transaction) error {
		now, err := t.tick(q.s.clock)
		if err != nil {
			return err
		}
		r, was, err := t.request(id, now)
		if err != nil {
			return err
		}
		renew := r.Status == hitl.Approved && was != nil && was.Uses == 0 && a.Route.Person()
		if !renew && r.Status != hitl.Open && !(r.Status == hitl.Declined && a.Route.Person()) {
			return hitl.ErrStatus
		}
		if !r.Offers(a.Choice) {
			return hitl.ErrChoice
		}
		n, err := t.changed("UPDATE requests SET status = 'approved', answered_at = ?, route = ? WHERE request_id = ? AND status = ? AND expires_at > ?",
			now.UnixNano(), string(a.Route), id, string(r.Status), now.UnixNano())
		if err != nil {
			return err
		}
		if n != 1 {
			return hitl.ErrStatus
		}
		g = &hitl.Grant{ID: newID(), RequestID: id, Route: a.Route, By: a.By, Choice: a.Choice, Issued: now, Expires: now.Add(a.Life)}
		if was != nil { // one grant for one request
			g.ID = was.ID
			if err := t.exec("DELETE FROM grants WHERE grant_id = ?", g.ID); err != nil {
				return err
			}
		}
		var token any
		if a.TokenHash != nil {
			token = a.TokenHash
		}
		err = t.exec(`INSERT INTO grants (grant_id, request_id, token_hash, route, attested_by, vault, tool, caller, call_hash, state_fp, choice,
			issued_at, expires_at) VALUES (`+places(13)+")",
			g.ID, id, token, string(a.Route), a.By, r.Vault, r.Tool, r.Caller, string(r.Call), string(r.State), a.Choice, now.UnixNano(), g.Expires.UnixNano())
		if err != nil {
			return err
		}
		return t.auditRequest(now, AuditApproved, r, AuditRow{Grant: g.ID, Route: string(a.Route), By: a.By})
	})
	return g, err
}

// End implements hitl.Store.
func (q requests) End(ctx context.Context, id string, to hitl.Status, route hitl.Route, by string, from ...hitl.Status) error {
	return q.s.write(ctx, func(t *transaction) error {
		now, err := t.tick(q.s.clock)
		if err != nil {
			return err
		}
		r, _, err := t.request(id, now)
		if err != nil {
			return err
		}
		if !slices.Contains(from, r.Status) {
			return hitl.ErrStatus
		}
		return t.end(r, to, AuditRow{Route: string(route), By: by}, now)
	})
}

// spend consumes the grant of a change: one guarded statement, one row or
// change.ErrNoGrant.
func (t *transaction) spend(r *change.Record, clock func() time.Time) error {
	if r.Permit == nil {
		return nil
	}
	now, err := t.tick(clock)
	if err != nil {
		return err
	}
	p := r.Permit
	n, err := t.changed(`UPDATE grants SET uses = uses + 1, consumed_at = ? WHERE grant_id = ? AND uses < max_uses AND revoked_at = 0
		AND expires_at > ? AND vault = ? AND tool = ? AND caller = ? AND call_hash = ? AND state_fp = ? AND choice = ?`,
		now.UnixNano(), p.Grant, now.UnixNano(), p.Vault, r.Tool, r.Caller, string(r.Call), string(p.State), p.Choice)
	if err != nil {
		return err
	}
	if n == 1 {
		n, err = t.changed("UPDATE requests SET status = 'used', answered_at = ? WHERE request_id = (SELECT request_id FROM grants WHERE grant_id = ?) AND status = 'approved'",
			now.UnixNano(), p.Grant)
	}
	if err == nil && n != 1 {
		err = change.ErrNoGrant
	}
	return err
}

// release gives the grant of a change back that has written nothing, with the
// time that it had.
func (t *transaction) release(r *change.Record, clock func() time.Time) error {
	var grant string
	if err := t.row("SELECT approval FROM changes WHERE id = ?", r.ID).Scan(&grant); err != nil || grant == "" {
		return err
	}
	now, err := t.tick(clock)
	if err != nil {
		return err
	}
	n, err := t.changed("UPDATE grants SET uses = uses - 1, consumed_at = 0, released_at = ? WHERE grant_id = ? AND uses > 0 AND revoked_at = 0 AND expires_at > ?",
		now.UnixNano(), grant, now.UnixNano())
	if err != nil || n == 0 {
		return err
	}
	if err := t.exec("UPDATE requests SET status = 'approved' WHERE request_id = (SELECT request_id FROM grants WHERE grant_id = ?) AND status = 'used'", grant); err != nil {
		return err
	}
	return t.auditChange(now, AuditRelease, r)
}
