package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"vault-mcp/cache"
	"vault-mcp/cache/index/facts"
	"vault-mcp/cache/index/terms"
)

// Schema is the number in the name of the database. Another layout of the
// tables is another schema, so that an older program beside this one keeps its
// own file.
const Schema = 3

// layout are the tables. A row of files is a file of the vault, or with path
// NULL a number that is free. rev is the number of the transaction that wrote
// the row, so that other processes find what is new; a row that only was looked
// at again keeps it. Of a note, hash and facts say what is in it, and problem
// why its content could not be read. seen is when it was read. removed has the
// paths that vanished, with the rev of the transaction that found it. sum is a
// checksum of its row.
const layout = `
CREATE TABLE IF NOT EXISTS meta (
	id INTEGER PRIMARY KEY CHECK (id = 1), settings TEXT NOT NULL,
	epoch INTEGER NOT NULL, base INTEGER NOT NULL, rev INTEGER NOT NULL, words INTEGER NOT NULL,
	state INTEGER NOT NULL, done INTEGER NOT NULL, total INTEGER NOT NULL, checked INTEGER NOT NULL,
	birth BLOB NOT NULL, forgotten INTEGER NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS files (
	id INTEGER PRIMARY KEY, path TEXT, size INTEGER, mtime INTEGER, seen INTEGER, rev INTEGER NOT NULL,
	hash BLOB, problem TEXT, facts BLOB, sum INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS files_rev ON files (rev);
CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, vector BLOB, sum INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS words (first INTEGER PRIMARY KEY, list BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS removed (path TEXT PRIMARY KEY, rev INTEGER NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS problems (path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
`

// The states of what is stored.
const (
	isEmpty   = iota // being built for the first time
	isChecked        // complete, but being compared with the files
	isReady          // as the files are
)

// meta is the one row that says how far the index is.
type meta struct {
	settings string
	// epoch counts the indexers. One that finds another epoch than its own has
	// lost its place.
	epoch int64
	// base is the rev at which all rows were thrown away last: who has read less
	// reads everything anew.
	base, rev int64
	// words is the number of the next term.
	words uint32
	state int
	// done of total files have been read, while state is not isReady.
	done, total int
	// checked is when the files were last compared, in nanoseconds.
	checked int64
	// birth is new whenever all rows are, and known to nobody else.
	birth birth
	// forgotten is the newest rev whose removed paths are no longer known.
	forgotten int64
}

// store is an open database. One goroutine uses it at a time.
type store struct {
	db   *sql.DB
	conn *sql.Conn
	path string
	info fs.FileInfo
	// logged is set if there is a log of writes beside the database.
	logged bool
	// version is the data_version that the memory is up to date with.
	version int64
	stmts   map[string]*sql.Stmt
}

func databasePath(dir string) string { return filepath.Join(dir, fmt.Sprintf("index-%d.db", Schema)) }

// openStore opens or makes the database. settings name what else the rows
// depend on: if they differ, all rows are thrown away.
func openStore(ctx context.Context, path, settings string) (*store, error) {
	if err := plain(path, path+"-wal", path+"-shm"); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the index: %w", err)
	}
	info, err := f.Stat()
	f.Close()
	if err != nil {
		return nil, fmt.Errorf("open the index: %w", err)
	}
	// No mmap: a database that another program cuts short must not kill this one.
	dsn := cache.DatabaseURL(path) +
		"?_pragma=busy_timeout(5000)&_pragma=page_size(8192)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)" +
		"&_pragma=cache_size(-4096)&_pragma=journal_size_limit(16777216)"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("open the index: %w", err)
	}
	s := &store{db: db, path: path, info: info, stmts: map[string]*sql.Stmt{}}
	if err := s.prepare(ctx, settings); err != nil {
		if damaged(err) && s.replaced() { // by another process, which found it first
			err = errReplaced
		}
		s.close()
		return nil, fmt.Errorf("open the index: %w", err)
	}
	s.logged = !s.unlogged()
	return s, nil
}

func (s *store) prepare(ctx context.Context, settings string) (err error) {
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return err
	}
	settings = fmt.Sprintf("%d %s %s", facts.Version, terms.Format(), settings)
	var tables int
	if err := s.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'table'").Scan(&tables); err != nil {
		return err
	}
	if tables >= 6 {
		if m, err := s.meta(ctx); err == nil && m.settings == settings {
			return nil
		} else if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return s.transaction(ctx, func() error {
		if _, err := s.conn.ExecContext(ctx, layout); err != nil {
			return err
		}
		m, err := s.meta(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			m = meta{settings: settings, words: 1, state: isEmpty, birth: newBirth()}
			return s.exec(ctx, "INSERT INTO meta VALUES (1, ?, 0, 0, 0, 1, ?, 0, 0, 0, ?, 0, ?)", settings, isEmpty, m.birth[:], m.sum())
		}
		if err != nil || m.settings == settings {
			return err
		}
		m.settings = settings
		return s.reset(ctx, &m)
	})
}

func (s *store) close() {
	for _, stmt := range s.stmts {
		stmt.Close()
	}
	if s.conn != nil {
		s.conn.Close()
	}
	s.db.Close()
}

// replaced reports whether the file at the path is another than the open one,
// or the log that belongs to it is gone: who opens it then sees something else.
func (s *store) replaced() bool {
	info, err := os.Lstat(s.path)
	return err != nil || !os.SameFile(info, s.info) || s.logged && s.unlogged()
}

func (s *store) unlogged() bool {
	_, wal := os.Lstat(s.path + "-wal")
	_, shm := os.Lstat(s.path + "-shm")
	return errors.Is(wal, fs.ErrNotExist) || errors.Is(shm, fs.ErrNotExist)
}

// plain refuses to open what is there but no file: writing through a link would
// change another file, and a pipe would never open.
func plain(paths ...string) error {
	for _, p := range paths {
		if info, err := os.Lstat(p); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("open %q: %w", p, errIrregular)
		}
	}
	return nil
}

// transaction runs f as one unit, alone among all processes.
func (s *store) transaction(ctx context.Context, f func() error) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	return s.end(ctx, f())
}

// begin begins a transaction; only this connection writes until its end.
func (s *store) begin(ctx context.Context) error {
	_, err := s.conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	return err
}

// end ends a transaction: err is what became of it, and is returned if that is
// not nil.
func (s *store) end(ctx context.Context, err error) error {
	// Half a transaction must not stay open because a caller went away.
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		_, err = s.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		s.conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

// statement is a prepared statement, made once.
func (s *store) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := s.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, query)
	if err == nil {
		s.stmts[query] = stmt
	}
	return stmt, err
}

func (s *store) exec(ctx context.Context, query string, args ...any) error {
	stmt, err := s.statement(ctx, query)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(ctx, args...)
	return err
}

func (s *store) meta(ctx context.Context) (m meta, err error) {
	stmt, err := s.statement(ctx, "SELECT settings, epoch, base, rev, words, state, done, total, checked, birth, forgotten, sum FROM meta")
	if err != nil {
		return m, err
	}
	rows, err := stmt.QueryContext(ctx)
	if err != nil {
		return m, err
	}
	defer rows.Close()
	if !rows.Next() {
		return m, cmp.Or(rows.Err(), sql.ErrNoRows)
	}
	var b []byte
	var stored sum
	err = rows.Scan(&m.settings, &m.epoch, &m.base, &m.rev, &m.words, &m.state, &m.done, &m.total, &m.checked, &b, &m.forgotten, &stored)
	copy(m.birth[:], b)
	if err != nil || stored != m.sum() {
		return m, errDamaged
	}
	return m, rows.Err()
}

func (s *store) setMeta(ctx context.Context, m meta) error {
	return s.exec(ctx, "UPDATE meta SET settings = ?, epoch = ?, base = ?, rev = ?, words = ?, state = ?, done = ?, total = ?, checked = ?, birth = ?, forgotten = ?, sum = ?",
		m.settings, m.epoch, m.base, m.rev, m.words, m.state, m.done, m.total, m.checked, m.birth[:], m.forgotten, m.sum())
}

// reset throws all rows away. It needs a transaction.
func (s *store) reset(ctx context.Context, m *meta) error {
	m.rev++
	m.base, m.words, m.state, m.done, m.total = m.rev, 1, isEmpty, 0, 0
	m.forgotten = 0
	m.birth = newBirth()
	for _, table := range []string{"files", "texts", "words", "problems", "removed"} {
		if _, err := s.conn.ExecContext(ctx, "DELETE FROM "+table); err != nil {
			return err
		}
	}
	return s.setMeta(ctx, *m)
}

// moved reports whether other connections have written since the last call.
func (s *store) moved(ctx context.Context) (bool, error) {
	stmt, err := s.statement(ctx, "PRAGMA data_version")
	if err != nil {
		return false, err
	}
	var version int64
	if err := stmt.QueryRowContext(ctx).Scan(&version); err != nil {
		return false, err
	}
	moved := version != s.version
	s.version = version
	return moved, nil
}

// damaged reports whether err says that the database cannot be used any more.
func damaged(err error) bool {
	const other, corrupt, constraint, mismatch, notDatabase = 1, 11, 19, 20, 26
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case other, constraint, mismatch: // tables or rows are not those that were written
			return true
		case corrupt, notDatabase:
			return true
		}
	}
	return errors.Is(err, errDamaged) || errors.Is(err, sql.ErrNoRows)
}

// errDamaged says that the rows contradict each other.
var errDamaged = errors.New("the index contradicts itself")

// setAside moves a damaged database out of the way, in place of an older one.
func setAside(path string) error {
	aside := strings.TrimSuffix(path, ".db") + ".damaged"
	if os.Rename(path, aside) != nil {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
