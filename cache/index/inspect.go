package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"vault-mcp/cache"
)

// Stored is what the database of an index says of itself.
type Stored struct {
	// Complete is set once all notes were read; until then Done of Total were.
	Complete    bool
	Done, Total int
	// Checked is when the files were compared last; zero if they never were.
	Checked time.Time
	// Files is how many files the index knows, and Unread how many notes and
	// folders could not be read.
	Files, Unread int
	// First are some of the unread ones.
	First []Skipped
}

// Inspect looks at the database in a state folder, for which nothing is opened,
// made or loaded otherwise. Where there is none the error is fs.ErrNotExist; else
// Reason says what it means.
func Inspect(ctx context.Context, dir string, first int) (got Stored, err error) {
	path := databasePath(dir)
	if err := plain(path); err != nil {
		return got, err
	}
	if _, err := os.Lstat(path); err != nil {
		return got, err
	}
	db, err := sql.Open("sqlite", cache.ReadOnlyURL(path))
	if err != nil {
		return got, fmt.Errorf("open the index: %w", err)
	}
	s := &store{db: db, path: path, stmts: map[string]*sql.Stmt{}}
	defer s.close()
	if s.conn, err = db.Conn(ctx); err != nil {
		return got, fmt.Errorf("open the index: %w", err)
	}
	var tables int
	if err := s.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return got, fmt.Errorf("read the index: %w", err)
	}
	m, err := s.meta(ctx)
	if tables == 0 || errors.Is(err, sql.ErrNoRows) { // made a moment ago, or by who ended then
		return got, fs.ErrNotExist
	}
	if err != nil {
		return got, fmt.Errorf("read the index: %w", err)
	}
	got.Complete, got.Done, got.Total = m.state != isEmpty, m.done, m.total
	if m.checked > 0 {
		got.Checked = time.Unix(0, m.checked)
	}
	const unread = ` FROM (SELECT path, problem AS reason FROM files WHERE path IS NOT NULL AND problem <> '' UNION ALL SELECT path, reason FROM problems)`
	err = errors.Join(
		s.conn.QueryRowContext(ctx, "SELECT count(path) FROM files").Scan(&got.Files),
		s.conn.QueryRowContext(ctx, "SELECT count(*)"+unread).Scan(&got.Unread),
		s.rows(ctx, "SELECT path, reason"+unread+fmt.Sprintf(" ORDER BY path LIMIT %d", first), func(rows *sql.Rows) error {
			var k Skipped
			err := rows.Scan(&k.Path, &k.Reason)
			got.First = append(got.First, k)
			return err
		}))
	if err != nil {
		return got, fmt.Errorf("read the index: %w", err)
	}
	return got, nil
}
