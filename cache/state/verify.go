package state

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// AuditReport is what Verify found.
type AuditReport struct {
	// Rows are those that are kept, First and Last their numbers; 0 if none is.
	Rows, First, Last int64
	// Head is the beginning of the hash of the last row, for comparing.
	Head string
	// Faults say in a sentence each what was changed, removed, reordered, cut off or
	// not signed, at most MaxFaults; More tells that there are others.
	Faults []string
	More   bool
}

// MaxFaults is how many faults a report names.
const MaxFaults = 50

func (r *AuditReport) fault(format string, args ...any) {
	if r.More = len(r.Faults) == MaxFaults; !r.More {
		r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
	}
}

// Verify looks through the whole audit, as it is at one moment. Whoever has
// changed it is found, unless they also have the key of the server.
func (s *Store) Verify(ctx context.Context) (r AuditReport, err error) {
	if s.signer == nil {
		return r, ErrNoSigner
	}
	err = s.read(ctx, func(t *transaction) error {
		r = AuditReport{}
		h, err := t.head()
		if errors.Is(err, errHead) {
			r.fault("%s", err)
			err = nil
		}
		if err != nil {
			return err
		}
		if err := t.verifyRows(ctx, h, &r); err != nil {
			return err
		}
		return t.verifyJournal(&r)
	})
	return r, err
}

// verifyRows follows the chain from the last row that was dropped to the head.
func (t *transaction) verifyRows(ctx context.Context, h auditHead, r *AuditReport) error {
	last, hash := h.from, h.fromHash
	err := t.rows(func(rows *sql.Rows) error {
		var row AuditRow
		var kept []byte
		if err := row.scan(rows, &kept); err != nil {
			// A column of another type: no row of this program.
			r.fault("A row after row %d cannot be read.", last)
			return ctx.Err()
		}
		if row.Seq != last+1 {
			r.fault("%s", missing(last+1, row.Seq-1))
		}
		if !bytes.Equal(row.hash(hash), kept) && row.Seq == last+1 {
			r.fault("Row %d is not what it was, or where it was.", row.Seq)
		}
		if row.Kind == AuditBreak {
			r.fault("Row %d was written behind a head that this server had not signed.", row.Seq)
		}
		last, hash = row.Seq, kept
		if r.Rows++; r.First == 0 {
			r.First = row.Seq
		}
		r.Last = row.Seq
		return ctx.Err()
	}, "SELECT "+auditColumns+", hash FROM audit ORDER BY seq")
	if err != nil {
		return err
	}
	r.Head = short(hash)
	switch {
	case last < h.seq:
		r.fault("%s", missing(last+1, h.seq))
	case last > h.seq:
		r.fault("The head says that row %d is the last, and there are rows up to %d.", h.seq, last)
	case !bytes.Equal(hash, h.hash):
		r.fault("The head is not that of row %d.", last)
	}
	return nil
}

func missing(from, to int64) string {
	if from >= to {
		return fmt.Sprintf("Row %d is missing.", from)
	}
	return fmt.Sprintf("Rows %d to %d are missing.", from, to)
}

// verifyJournal finds changes and requests that were kept after the audit's first
// and have no row: an older head that was put back with its signature is found
// by what has happened since.
func (t *transaction) verifyJournal(r *AuditReport) error {
	for _, kept := range []struct{ what, query string }{
		{"Change", `SELECT c.id FROM changes c WHERE c.seq > (SELECT c2.seq FROM audit a JOIN changes c2 ON c2.id = a.change_id WHERE a.kind = 'begin' ORDER BY a.seq LIMIT 1)
			AND NOT EXISTS (SELECT 1 FROM audit b WHERE b.change_id = c.id AND b.change_id <> '' AND b.kind = 'begin') ORDER BY c.seq`},
		{"Request", `SELECT q.request_id FROM requests q WHERE q.seq > (SELECT q2.seq FROM audit a JOIN requests q2 ON q2.request_id = a.request_id WHERE a.kind = 'request' ORDER BY a.seq LIMIT 1)
			AND q.request_id NOT IN (SELECT request_id FROM audit WHERE kind = 'request') ORDER BY q.seq`},
	} {
		err := t.rows(func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			r.fault("%s %s is not in the audit.", kept.what, id)
			return err
		}, kept.query)
		if err != nil {
			return err
		}
	}
	return nil
}
