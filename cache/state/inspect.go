package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"vault-mcp/cache"
	"vault-mcp/hitl"
	"vault-mcp/vault/change"
)

// ErrOlder says that the layout of the state is an older one, which the next
// server brings up to date.
var ErrOlder = errors.New("the state has the layout of an older version of this program; the next call of a server brings it up to date")

// Inspect opens the state in a folder for looking at it alone: nothing is made or
// brought up to date. The errors are ErrNewer, ErrOlder, and those of reading.
// With a signer the audit can be verified.
func Inspect(ctx context.Context, dir string, signer Signer) (*Store, error) {
	db, err := sql.Open("sqlite", cache.ReadOnlyURL(filepath.Join(dir, fileName)))
	if err != nil {
		return nil, fmt.Errorf("open the state: %w", err)
	}
	s := &Store{db: db, dir: dir, signer: signer, clock: time.Now, applying: newLock(dir, "apply.lock"), acting: newLock(dir, "effects.lock")}
	if s.conn, err = db.Conn(ctx); err == nil {
		var version int
		err = s.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
		switch {
		case err != nil:
		case version > len(migrations):
			err = ErrNewer
		case version < len(migrations):
			err = ErrOlder
		}
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open the state: %w", err)
	}
	return s, nil
}

// Layout is the number of this program's layout of the state.
func Layout() int { return len(migrations) }

// Uncertain are the changes, newest first and at most limit, that could be neither
// made as a whole nor taken back, since a time.
func (s *Store) Uncertain(ctx context.Context, since time.Time, limit int) (list []*change.Record, err error) {
	return s.records(ctx, false, "SELECT id FROM changes WHERE outcome = ? AND intent IS NULL AND ended > ? ORDER BY seq DESC LIMIT ?",
		string(change.Indeterminate), since.UnixNano(), limit)
}

// Unused are the requests that a person has approved and no call has come back
// for yet, oldest first, as long as the approval is good.
func (s *Store) Unused(ctx context.Context) (list []*hitl.Request, err error) {
	return s.found(ctx, "r.status = 'approved' AND g.expires_at > ?", hitl.Approved)
}
