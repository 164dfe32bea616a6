package change

import (
	"context"
	"errors"
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
	// Failed: a call that is no change used its permit, and came to nothing.
	Failed Outcome = "failed"
)

// Record is what the journal keeps of one change.
type Record struct {
	// ID is the execution's id, of 16 hex digits: the change_id of the wire.
	ID           string
	Tool, Caller string
	// Vault is its id; "" in what was kept before the journal knew it.
	Vault string
	Call  fingerprint.Call
	// Key is the idempotency key, if the call has one.
	Key string
	// Permit is the approval that it spends, or nil. Of a record that was read only
	// the grant is known.
	Permit *Permit
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
	// Intent is what an effect has said that it is about to do, as JSON: {} as long as
	// it has said nothing and so done nothing, nil for what is no effect.
	Intent []byte
	Edits  []Edit
}

// Permit is a person's approval with what it is bound to besides the tool, the
// caller and the call: only where all of it is so is it spent.
type Permit struct {
	Grant, Vault string
	State        fingerprint.State
	// Choice is what the person chose where there was something to choose.
	Choice string
}

// ErrNoGrant means that the permit of a record cannot be spent: it was used,
// taken back or has expired meanwhile, or is bound to something else.
var ErrNoGrant = errors.New("the approval cannot be spent")

// Journal keeps records. Each method is one transaction that is on the disk
// when it returns.
type Journal interface {
	// Begin claims the idempotency key, spends the permit and writes the record,
	// before-images included. With an error nothing of that has happened; where the
	// permit cannot be spent that is ErrNoGrant.
	Begin(ctx context.Context, r *Record) error
	// End closes a record. One of a change that has written nothing gives the permit
	// back.
	End(ctx context.Context, r *Record) error
	// Keep keeps content of a file that something else wrote, and that was about to
	// be replaced.
	Keep(ctx context.Context, path string, content []byte, now time.Time) error
	// Open are the records that began and have not ended, oldest first.
	Open(ctx context.Context) ([]*Record, error)
}
