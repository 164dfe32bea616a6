package state

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/vault/change"
)

// auditLayout holds what was asked, approved, refused and done. Rows are only
// ever added, and dropped from the old end; the head says how many there were,
// with the hash of the last, and from which one on they are kept.
const auditLayout = `CREATE TABLE audit (
	seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, tool TEXT NOT NULL, caller TEXT NOT NULL, vault TEXT NOT NULL,
	call_hash TEXT NOT NULL, request_id TEXT NOT NULL, grant_id TEXT NOT NULL, change_id TEXT NOT NULL, route TEXT NOT NULL,
	attested_by TEXT NOT NULL, outcome TEXT NOT NULL, code TEXT NOT NULL, reason TEXT NOT NULL, hash BLOB NOT NULL);
CREATE INDEX audit_change ON audit (change_id) WHERE change_id <> '';
CREATE INDEX audit_grant ON audit (grant_id) WHERE grant_id <> '';
CREATE TABLE audit_head (
	id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL, from_seq INTEGER NOT NULL, from_hash BLOB NOT NULL,
	mac TEXT NOT NULL);`

// Signer signs the head of the audit, so that nobody can cut rows off or make
// them anew who does not have its key. It is the key ring in the state folder.
type Signer interface {
	// Sign signs a message for a label.
	Sign(label string, msg []byte) string
	// Verify checks what Sign made.
	Verify(label string, msg []byte, sig string) error
}

// ErrNoSigner means that the state was opened for reading alone: what cannot be
// signed into the audit is not done.
var ErrNoSigner = errors.New("the state was opened without the key that signs its audit")

// auditLabel keeps the signature of a head from being one of something else.
const auditLabel = "audit"

// AuditKind is what a row of the audit tells.
type AuditKind string

// The kinds. A request that ended without being used has its status as its kind.
const (
	AuditRequest    AuditKind = "request"                  // a person is asked
	AuditApproved   AuditKind = AuditKind(hitl.Approved)   // and says yes
	AuditDeclined   AuditKind = AuditKind(hitl.Declined)   // or no
	AuditSuperseded AuditKind = AuditKind(hitl.Superseded) // or is asked anew
	AuditAbandoned  AuditKind = AuditKind(hitl.Abandoned)  // or gives it up
	AuditExpired    AuditKind = AuditKind(hitl.Expired)    // or does not answer
	AuditBegin      AuditKind = "begin"                    // a change begins, and spends its approval
	AuditEnd        AuditKind = "end"                      // a change has ended
	AuditRelease    AuditKind = "release"                  // an approval is given back
	AuditRefused    AuditKind = "refused"                  // the gate has refused a call
	AuditBreak      AuditKind = "break"                    // the head was not signed by this server
)

// AuditRow is one row. It holds names, ids and codes; never a note's text, a
// form's value or a token.
type AuditRow struct {
	// Seq counts from 1; the store sets it.
	Seq  int64
	At   time.Time
	Kind AuditKind
	// Tool, Caller and Vault are ids; Call is the hash of the call.
	Tool, Caller, Vault, Call string
	// Request, Grant and Change are ids, "" where there is none.
	Request, Grant, Change string
	// Route and By tell how a person answered and who attests it.
	Route, By string
	// Outcome, Code and Reason tell what became of it.
	Outcome, Code, Reason string
}

const auditColumns = "seq, at, kind, tool, caller, vault, call_hash, request_id, grant_id, change_id, route, attested_by, outcome, code, reason"

// values are the columns of a row in their order.
func (r *AuditRow) values() []any {
	return []any{r.Seq, r.At.UnixNano(), string(r.Kind), r.Tool, r.Caller, r.Vault, r.Call, r.Request, r.Grant, r.Change, r.Route, r.By, r.Outcome, r.Code, r.Reason}
}

// scan reads the columns of a row, and more behind them.
func (r *AuditRow) scan(row interface{ Scan(...any) error }, more ...any) error {
	var at int64
	into := []any{&r.Seq, &at, &r.Kind, &r.Tool, &r.Caller, &r.Vault, &r.Call, &r.Request, &r.Grant, &r.Change, &r.Route, &r.By, &r.Outcome, &r.Code, &r.Reason}
	err := row.Scan(append(into, more...)...)
	r.At = time.Unix(0, at)
	return err
}

// hash is that of a row behind the one with a hash. Each text has its length
// before it, so that no two rows have the same bytes.
func (r *AuditRow) hash(previous []byte) []byte {
	b := append([]byte("vault-mcp audit row v1"), previous...)
	for _, v := range r.values() {
		switch v := v.(type) {
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		case string:
			b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
			b = append(b, v...)
		}
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// auditHead is what is signed.
type auditHead struct {
	seq      int64  // of the last row
	hash     []byte // of the last row
	from     int64  // of the last row that was dropped; 0 is none
	fromHash []byte // of that row
	mac      string
}

func newHead() auditHead {
	return auditHead{hash: make([]byte, sha256.Size), fromHash: make([]byte, sha256.Size)}
}

func (h *auditHead) message() []byte {
	return fmt.Appendf(nil, "audit head v1 %d %x %d %x", h.seq, h.hash, h.from, h.fromHash)
}

// head reads the head. It fails with errHead where it is missing or was signed
// by nobody.
func (t *transaction) head() (auditHead, error) {
	h := auditHead{}
	err := t.row("SELECT seq, hash, from_seq, from_hash, mac FROM audit_head").Scan(&h.seq, &h.hash, &h.from, &h.fromHash, &h.mac)
	if errors.Is(err, sql.ErrNoRows) {
		return newHead(), fmt.Errorf("%w: it is missing", errHead)
	}
	if err != nil {
		return h, err
	}
	if err := t.signer.Verify(auditLabel, h.message(), h.mac); err != nil {
		return h, fmt.Errorf("%w: %w", errHead, err)
	}
	return h, nil
}

// errHead means that the head of the audit is not this server's.
var errHead = errors.New("the head of the audit was not signed by this server")

// setHead signs the head and writes it.
func (t *transaction) setHead(h auditHead) error {
	return t.exec("INSERT OR REPLACE INTO audit_head (id, seq, hash, from_seq, from_hash, mac) VALUES (1, ?, ?, ?, ?, ?)",
		h.seq, h.hash, h.from, h.fromHash, t.signer.Sign(auditLabel, h.message()))
}

// beginAudit signs the head of an audit without rows. It is done once, with the
// layout: a head that is missing later was taken away.
func (t *transaction) beginAudit() error {
	if t.signer == nil {
		return ErrNoSigner
	}
	return t.setHead(newHead())
}

// audit adds a row to what the transaction does: both are there, or neither.
func (t *transaction) audit(r AuditRow) error {
	if t.signer == nil {
		return ErrNoSigner
	}
	h, err := t.head()
	if errors.Is(err, errHead) {
		h, err = t.breakAudit(r.At, err)
	}
	if err == nil {
		err = t.addRow(&h, r)
	}
	if err == nil {
		err = t.setHead(h)
	}
	if err != nil {
		return fmt.Errorf("write the audit: %w", err)
	}
	return nil
}

func (t *transaction) addRow(h *auditHead, r AuditRow) error {
	r.Seq = h.seq + 1
	h.seq, h.hash = r.Seq, r.hash(h.hash)
	t.told = append(t.told, r)
	return t.exec("INSERT INTO audit ("+auditColumns+", hash) VALUES ("+places(16)+")", append(r.values(), h.hash)...)
}

// breakAudit goes on behind a head that was not signed by this server, and says
// so in a row that stays: signing it anew would hide what was done to it.
func (t *transaction) breakAudit(at time.Time, why error) (auditHead, error) {
	h := newHead()
	var first int64
	err := t.row("SELECT seq, hash, (SELECT min(seq) FROM audit) FROM audit ORDER BY seq DESC LIMIT 1").Scan(&h.seq, &h.hash, &first)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return h, err
	}
	if err == nil {
		h.from = first - 1
	}
	err = t.row("SELECT from_hash FROM audit_head WHERE from_seq = ?", h.from).Scan(&h.fromHash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return h, err
	}
	return h, t.addRow(&h, AuditRow{At: at, Kind: AuditBreak, Reason: why.Error()})
}

// auditRequest is a row about a request and what became of it.
func (t *transaction) auditRequest(now time.Time, kind AuditKind, r *hitl.Request, row AuditRow) error {
	row.At, row.Kind, row.Outcome = now, kind, string(kind)
	row.Tool, row.Caller, row.Vault, row.Call, row.Request = r.Tool, r.Caller, r.Vault, string(r.Call), r.ID
	return t.audit(row)
}

// auditChange is a row about a change.
func (t *transaction) auditChange(at time.Time, kind AuditKind, r *change.Record) error {
	return t.audit(AuditRow{
		At: at, Kind: kind, Tool: r.Tool, Caller: r.Caller, Vault: r.Vault, Call: string(r.Call), Grant: grantOf(r), Change: r.ID,
		Outcome: string(r.Outcome),
	})
}

// Refused adds a row for a call that the gate has refused. Tool, Caller, Vault,
// Call, Code and Reason are taken from r.
func (s *Store) Refused(ctx context.Context, r AuditRow) error {
	return s.write(ctx, func(t *transaction) error {
		now, err := t.now(s.clock)
		if err != nil {
			return err
		}
		r.At, r.Kind, r.Outcome = now, AuditRefused, string(AuditRefused)
		return t.audit(r)
	})
}

const (
	// auditAge is how long rows are kept, and auditRows how many at most.
	auditAge  = 400 * 24 * time.Hour
	auditRows = 500_000
)

// pruneAudit drops the oldest rows, and keeps the hash of the last of them, with
// which the chain of the others begins.
func (t *transaction) pruneAudit(now time.Time, age time.Duration, rows int64) error {
	if t.signer == nil {
		return ErrNoSigner
	}
	h, err := t.head()
	if errors.Is(err, errHead) {
		return nil // the next row says so; until then nothing is lost
	}
	if err != nil {
		return err
	}
	var young int64
	err = t.row("SELECT coalesce((SELECT seq FROM audit WHERE at >= ? ORDER BY seq LIMIT 1), ?)", now.Add(-age).UnixNano(), h.seq+1).Scan(&young)
	if err != nil {
		return err
	}
	last := max(young-1, h.seq-rows)
	if last <= h.from {
		return nil
	}
	var hash []byte
	err = t.row("SELECT hash FROM audit WHERE seq = ?", last).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // somebody has removed it, which Verify should find
	}
	if err != nil {
		return err
	}
	h.from, h.fromHash = last, hash
	if err := t.exec("DELETE FROM audit WHERE seq <= ?", last); err != nil {
		return err
	}
	return t.setHead(h)
}

// short is a hash as people compare it.
func short(hash []byte) string { return hex.EncodeToString(hash)[:min(16, 2*len(hash))] }
