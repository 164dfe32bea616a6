package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"vault-mcp/hitl"
)

// Approval is who approved a change, and how.
type Approval struct {
	Request string
	Route   hitl.Route
	// By is hitl.Client, or the account of a person.
	By string
	At time.Time
}

// approval is who approved a change; nil if nobody had to.
func (t *transaction) approval(id string) (*Approval, error) {
	a := &Approval{}
	var at int64
	err := t.row("SELECT g.request_id, g.route, g.attested_by, g.issued_at FROM changes c JOIN grants g ON g.grant_id = c.approval WHERE c.id = ?", id).
		Scan(&a.Request, &a.Route, &a.By, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	a.At = time.Unix(0, at)
	return a, err
}

// Audited is a row of the audit with what it has to do with.
type Audited struct {
	AuditRow
	// Approval is that behind a change, as the audit has it; nil if there is none.
	Approval *Approval
	// Did is the id of the change that a request or an approval led to, and Became
	// what became of that; "" where there is none.
	Did, Became string
	// Paths are those that the change was about, the first of them; More counts the
	// others.
	Paths []string
	More  int
}

// maxAuditedPaths is how many paths a row is listed with.
const maxAuditedPaths = 20

// AuditFilter chooses rows. What is zero does not count.
type AuditFilter struct {
	Tool, Caller, Outcome string
	// Path is a note, file or folder, by its path then.
	Path         string
	Since, Until time.Time // Until is not within
	// Limit is how many rows there are at most; 0 is no bound.
	Limit int
}

// audited finds to each row the change that it is about or led to.
const audited = `WITH led AS (SELECT a.*, CASE WHEN a.change_id <> '' THEN a.change_id ELSE coalesce((
		SELECT c.id FROM grants g JOIN changes c ON c.approval = g.grant_id WHERE g.request_id = a.request_id ORDER BY c.seq DESC LIMIT 1), '') END AS led FROM audit a)
	SELECT ` + auditColumns + `, led, coalesce((SELECT outcome FROM changes WHERE id = led), ''),
		(SELECT json_object('r', p.request_id, 'w', p.route, 'b', p.attested_by, 't', p.at) FROM audit p
			WHERE l.change_id <> '' AND p.grant_id = l.grant_id AND p.grant_id <> '' AND p.kind = 'approved' AND p.seq < l.seq ORDER BY p.seq DESC LIMIT 1),
		(SELECT json_group_array(path) FROM (SELECT path FROM edits WHERE change = led UNION SELECT dest FROM edits WHERE change = led AND dest <> '' ORDER BY 1))
	FROM led l WHERE (? = '' OR tool = ?) AND (? = '' OR caller = ?) AND (? = '' OR outcome = ?) AND at >= ? AND (? = 0 OR at < ?)
		AND (? = '' OR EXISTS (SELECT 1 FROM edits e WHERE e.change = led
			AND (e.path = ? OR e.dest = ? OR substr(e.path, 1, length(?)) = ? OR substr(e.dest, 1, length(?)) = ?)))
	ORDER BY seq DESC LIMIT ?`

// Audit lists rows, the newest first.
func (s *Store) Audit(ctx context.Context, f AuditFilter) (list []Audited, err error) {
	since, until := bound(f.Since), bound(f.Until)
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	folder := f.Path + "/"
	err = s.read(ctx, func(t *transaction) error {
		return t.rows(func(rows *sql.Rows) error {
			a, err := scanAudited(rows)
			list = append(list, a)
			return err
		}, audited, f.Tool, f.Tool, f.Caller, f.Caller, f.Outcome, f.Outcome, since, until, until,
			f.Path, f.Path, f.Path, folder, folder, folder, folder, limit)
	})
	return list, err
}

// bound is a time that a person wrote, as it is compared: columns reach from 1678
// to 2262, and nothing was audited before 1970. None is 0.
func bound(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.Year() >= 2262:
		return math.MaxInt64
	case t.Year() < 1970:
		return 1
	}
	return t.UnixNano()
}

func scanAudited(rows *sql.Rows) (a Audited, err error) {
	var led, became, paths string
	var behind sql.NullString
	if err := a.scan(rows, &led, &became, &behind, &paths); err != nil {
		return a, err
	}
	if a.Change == "" {
		a.Did, a.Became = led, became
	}
	if behind.Valid {
		var p struct {
			R, W, B string
			T       int64
		}
		if err := json.Unmarshal([]byte(behind.String), &p); err != nil {
			return a, fmt.Errorf("row %d of the audit: %w", a.Seq, err)
		}
		a.Approval = &Approval{p.R, hitl.Route(p.W), p.B, time.Unix(0, p.T)}
	}
	if err := json.Unmarshal([]byte(paths), &a.Paths); err != nil {
		return a, fmt.Errorf("row %d of the audit: %w", a.Seq, err)
	}
	if n := len(a.Paths) - maxAuditedPaths; n > 0 {
		a.Paths, a.More = a.Paths[:maxAuditedPaths], n
	}
	return a, nil
}
