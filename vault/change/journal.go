package change

import (
	"context"
	"time"

	"vault-mcp/internal/fingerprint"
)

// Outcome is how the applying of a plan ended.
type Outcome string

// The outcomes.
const (
	// Applied: every edit was made.
	Applied Outcome = "applied"
	// NotApplied: none was, and nothing was written.
	NotApplied Outcome = "not_applied"
	// RolledBack: something failed after the first edit, and those made were taken
	// back.
	RolledBack Outcome = "rolled_back"
	// Indeterminate: something failed, and not everything could be taken back; the
	// entry names the files.
	Indeterminate Outcome = "indeterminate"
)

// Record is what the journal keeps of one change.
type Record struct {
	// ID is the execution's id, of 16 hex digits: the change_id of the wire.
	ID           string
	Tool, Caller string
	Call         fingerprint.Call
	// Key is the idempotency key, if the call has one, and Grant the approval
	// that it spends.
	Key, Grant string
	// Undoes is the id of the change that this one takes back.
	Undoes  string
	Began   time.Time
	Ended   time.Time
	Summary string
	Outcome Outcome // "" as long as it is open
	// Foreign are the paths that something else had changed, so that they were
	// left alone.
	Foreign []string
	// Receipt is what the caller was answered.
	Receipt []byte
	Edits   []Edit
}

// Journal keeps records. Each method is one transaction that is on the disk
// when it returns.
type Journal interface {
	// Begin claims the idempotency key, spends the grant and writes the record,
	// before-images included. With an error nothing of that has happened.
	Begin(ctx context.Context, r *Record) error
	// End closes a record.
	End(ctx context.Context, r *Record) error
	// Keep keeps content of a file that something else wrote, and that was about to
	// be replaced.
	Keep(ctx context.Context, path string, content []byte, now time.Time) error
	// Open are the records that began and have not ended, oldest first.
	Open(ctx context.Context) ([]*Record, error)
}
