// Package state owns what must not be lost: the journal of changes with the
// content of the files before and after, snapshots of notes, and idempotency
// keys. It is one SQLite file, state.db, in the vault's state folder, shared by
// all processes on the vault; every transaction is on the disk when it returns.
//
// The program never deletes it, and only migrates it forward: a program that
// finds a newer schema than its own refuses to write, with ErrNewer.
package state

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	_ "modernc.org/sqlite"

	"vault-mcp/cache"
)

// fileName is the database in the state folder.
const fileName = "state.db"

// ErrNewer says that a newer program has changed the layout of the state.
var ErrNewer = errors.New("the state belongs to a newer version of this program, which should be used instead")

// migrations lead from nothing to the layout of today. They are only ever added
// to: the checksum of each is kept in the database.
var migrations = []string{
	`CREATE TABLE blobs (hash BLOB PRIMARY KEY, size INTEGER NOT NULL, packed INTEGER NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE changes (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, tool TEXT NOT NULL, caller TEXT NOT NULL, call TEXT NOT NULL,
	key TEXT NOT NULL, approval TEXT NOT NULL, undoes TEXT NOT NULL, began INTEGER NOT NULL, ended INTEGER NOT NULL,
	outcome TEXT NOT NULL, summary TEXT NOT NULL, strange TEXT NOT NULL, receipt BLOB);
CREATE INDEX changes_open ON changes (seq) WHERE outcome = '';
CREATE TABLE edits (
	change TEXT NOT NULL, n INTEGER NOT NULL, kind INTEGER NOT NULL, path TEXT NOT NULL, dest TEXT NOT NULL, dir INTEGER NOT NULL,
	before BLOB NOT NULL, after BLOB NOT NULL, mode INTEGER NOT NULL, upkeep INTEGER NOT NULL, PRIMARY KEY (change, n)) WITHOUT ROWID;
CREATE INDEX edits_path ON edits (path);
CREATE INDEX edits_dest ON edits (dest) WHERE dest <> '';
CREATE TABLE snapshots (
	id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL, at INTEGER NOT NULL,
	change TEXT NOT NULL, label TEXT NOT NULL);
CREATE INDEX snapshots_path ON snapshots (path, id);
CREATE TABLE keys (
	caller TEXT NOT NULL, key TEXT NOT NULL, tool TEXT NOT NULL, call TEXT NOT NULL, change TEXT NOT NULL, at INTEGER NOT NULL,
	PRIMARY KEY (caller, key)) WITHOUT ROWID;
CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), highest INTEGER NOT NULL);
INSERT INTO clock (id, highest) VALUES (1, 0);`,
	// Hashes come in no order: ordered by them, each content got a page of its own
	// that had to be found and written. Now they are written one behind the other.
	`ALTER TABLE blobs RENAME TO ordered;
CREATE TABLE blobs (hash BLOB PRIMARY KEY, size INTEGER NOT NULL, packed INTEGER NOT NULL, data BLOB NOT NULL);
INSERT INTO blobs SELECT hash, size, packed, data FROM ordered;
DROP TABLE ordered;`,
	// Without it each change that is listed looks through all of them.
	`CREATE INDEX changes_undoes ON changes (undoes) WHERE undoes <> '';`,
	requestsLayout,
	auditLayout,
	consentsLayout,
	decisionLayout,
	// What an effect was about to do when its process died.
	`ALTER TABLE changes ADD COLUMN intent BLOB;
CREATE INDEX changes_unsettled ON changes (seq) WHERE outcome = 'indeterminate' AND ended = 0 AND intent IS NOT NULL;`,
	toldLayout,
}

// Store is the open state of one vault. Its methods may be called at the same
// time.
type Store struct {
	db   *sql.DB
	mu   sync.Mutex // guards conn: one statement at a time in this process
	conn *sql.Conn
	dir  string
	// signer signs the head of the audit; nil if the state is only read.
	signer Signer
	// tell gets the rows of the audit that a transaction has written; it may be nil.
	tell func([]AuditRow)
	// clock is the wall clock.
	clock func() time.Time
	// applying is held by who applies a plan, acting by who runs an effect.
	applying, acting *lock
}

// Open opens or makes the state in a folder that exists and is private. Without
// a signer nothing can be written that the audit has to tell. The error is for
// the person who runs the server.
func Open(ctx context.Context, dir string, signer Signer) (*Store, error) {
	dsn := cache.DatabaseURL(filepath.Join(dir, fileName)) +
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(ON)&_pragma=cache_size(-2048)"
	if runtime.GOOS == "darwin" {
		dsn += "&_pragma=fullfsync(1)&_pragma=checkpoint_fullfsync(1)"
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("open the state: %w", err)
	}
	s := &Store{db: db, dir: dir, signer: signer, clock: time.Now, applying: newLock(dir, "apply.lock"), acting: newLock(dir, "effects.lock")}
	if err := s.connect(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open the state: %w", err)
	}
	return s, nil
}

// connect gives the store its connection and the layout of today. It waits for
// other processes that do the same: SQLite's own wait does not hold for the step to
// a write-ahead log, which is taken with the first connection there ever is.
func (s *Store) connect(ctx context.Context) (err error) {
	for until := time.Now().Add(lockTime); ; time.Sleep(lockPause) {
		if s.conn, err = s.db.Conn(ctx); err == nil {
			if err = s.migrate(ctx); err == nil {
				return nil
			}
			s.conn.Close()
			s.conn = nil
		}
		if !busy(err) || time.Now().After(until) {
			return err
		}
	}
}

// At makes the store take another clock for the wall's, for tests; it is called
// before the store is used.
func (s *Store) At(clock func() time.Time) { s.clock = clock }

// Tell makes the store call f with what each transaction has audited, once that
// is on the disk; it is called before the store is used.
func (s *Store) Tell(f func([]AuditRow)) { s.tell = f }

// Exists reports whether a folder holds a state.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, fileName))
	return err == nil
}

// Close ends the use of the state.
func (s *Store) Close() error {
	if s.conn != nil {
		s.conn.Close()
	}
	return s.db.Close()
}

// migrate brings the layout up to date, in one transaction.
func (s *Store) migrate(ctx context.Context) error {
	var version int
	if err := s.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version == len(migrations) {
		return nil
	}
	return s.immediately(ctx, func(tx *transaction) error {
		if err := tx.row("PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version > len(migrations) {
			return ErrNewer
		}
		if version == 0 {
			if err := tx.exec("CREATE TABLE migrations (n INTEGER PRIMARY KEY, sum TEXT NOT NULL)"); err != nil {
				return err
			}
		}
		for n, m := range migrations {
			sum := sha256.Sum256([]byte(m))
			if n < version {
				var was string
				if err := tx.row("SELECT sum FROM migrations WHERE n = ?", n+1).Scan(&was); err != nil {
					return err
				}
				if was != hex.EncodeToString(sum[:]) {
					return fmt.Errorf("step %d of the layout is not the one that made this state", n+1)
				}
				continue
			}
			if err := tx.exec(m); err != nil {
				return err
			}
			if m == auditLayout {
				if err := tx.beginAudit(); err != nil {
					return err
				}
			}
			if err := tx.exec("INSERT INTO migrations (n, sum) VALUES (?, ?)", n+1, hex.EncodeToString(sum[:])); err != nil {
				return err
			}
		}
		return tx.exec(fmt.Sprintf("PRAGMA user_version = %d", len(migrations)))
	})
}

// transaction is a transaction in progress.
type transaction struct {
	ctx    context.Context
	conn   *sql.Conn
	signer Signer
	told   []AuditRow // what it has audited
}

func (t *transaction) exec(query string, args ...any) error {
	_, err := t.conn.ExecContext(t.ctx, query, args...)
	return err
}

// changed runs a statement and tells how many rows it changed.
func (t *transaction) changed(query string, args ...any) (int64, error) {
	r, err := t.conn.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (t *transaction) row(query string, args ...any) *sql.Row {
	return t.conn.QueryRowContext(t.ctx, query, args...)
}

func (t *transaction) rows(f func(*sql.Rows) error, query string, args ...any) error {
	rows, err := t.conn.QueryContext(t.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// write runs f in one transaction that no other process interrupts, if the
// layout is still that of this program.
func (s *Store) write(ctx context.Context, f func(*transaction) error) error {
	var told []AuditRow
	err := s.immediately(ctx, func(tx *transaction) error {
		var version int
		if err := tx.row("PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version != len(migrations) {
			return ErrNewer
		}
		err := f(tx)
		told = tx.told
		return err
	})
	if err == nil && s.tell != nil && len(told) > 0 {
		s.tell(told)
	}
	return err
}

func (s *Store) immediately(ctx context.Context, f func(*transaction) error) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A transaction is not left half done because somebody went away.
	ctx = context.WithoutCancel(ctx)
	if _, err := s.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return refusal(err)
	}
	defer func() {
		if p := recover(); p != nil {
			_, _ = s.conn.ExecContext(ctx, "ROLLBACK")
			panic(p)
		}
		if err != nil {
			_, _ = s.conn.ExecContext(ctx, "ROLLBACK") // the error that matters is err
		}
	}()
	if err := f(&transaction{ctx: ctx, conn: s.conn, signer: s.signer}); err != nil {
		return refusal(err)
	}
	_, err = s.conn.ExecContext(ctx, "COMMIT")
	return refusal(err)
}

// read runs f over one state of the database.
func (s *Store) read(ctx context.Context, f func(*transaction) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer s.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return f(&transaction{ctx: ctx, conn: s.conn, signer: s.signer})
}
