package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
)

const columns = "id, path, size, mtime, seen, rev, hash, problem, facts, sum"

// row reads one row of files; its texts are kept in a.
func row(rows *sql.Rows, a *arena) (id uint32, e entry, err error) {
	var path, hash, problem, blob sql.RawBytes
	var size, mtime, seen sql.NullInt64
	var stored sum
	if err := rows.Scan(&id, &path, &size, &mtime, &seen, &e.rev, &hash, &problem, &blob, &stored); err != nil {
		return 0, entry{}, err
	}
	if stored != rowSum(id, e.rev, size.Int64, mtime.Int64, path, hash, problem, blob) {
		return 0, entry{}, errDamaged
	}
	e.path, e.problem, e.facts = a.keep(path), a.keep(problem), facts.Blob(a.keep(blob))
	e.size, e.mtime, e.seen = size.Int64, mtime.Int64, seen.Int64
	copy(e.hash[:], hash)
	e.note, e.canvas = isNote(e.path), isCanvas(e.path)
	return id, e, nil
}

// rowSum is the checksum of a row of files. When it was looked at is not in it,
// for that is written alone.
func rowSum(id uint32, rev, size, mtime int64, texts ...[]byte) sum {
	s := sum(0).add(int64(id), rev, size, mtime)
	for _, b := range texts {
		s = s.bytes(b)
	}
	return s
}

func isNote(path string) bool   { return vault.Kind(path) == vault.Note }
func isCanvas(path string) bool { return vault.Kind(path) == vault.Canvas }

// isRead reports whether a file is read for what is in it.
func isRead(path string) bool { return isNote(path) || isCanvas(path) }

// load reads all rows into a new model.
func (s *store) load(ctx context.Context) (*Model, meta, error) {
	if _, err := s.moved(ctx); err != nil { // before anything is read
		return nil, meta{}, err
	}
	if _, err := s.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return nil, meta{}, err
	}
	defer s.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	m, err := s.meta(ctx)
	if err != nil {
		return nil, meta{}, err
	}
	entries := make([]entry, 1) // by id; 0 is not used
	var paths []string
	var a arena
	err = s.rows(ctx, "SELECT "+columns+" FROM files ORDER BY id", func(rows *sql.Rows) error {
		id, e, err := row(rows, &a)
		if err != nil {
			return err
		}
		// A row that is free stays, so that no number is missing.
		if id != uint32(len(entries)) || id >= isPlace {
			return errDamaged
		}
		entries = append(entries, e)
		if e.path != "" {
			paths = append(paths, e.path)
		}
		return nil
	})
	if err != nil {
		return nil, meta{}, err
	}
	model := newModel(paths)
	if err := model.load(entries); err != nil {
		return nil, meta{}, err
	}
	model.trim()
	model.rev, model.birth = m.rev, m.birth
	gone, err := s.removedSince(ctx, -1)
	if err != nil {
		return nil, meta{}, err
	}
	model.remember(gone, m.forgotten)
	return model, m, nil
}

func (m *Model) trim() {
	for _, p := range []*postings{&m.links, &m.tags, &m.aliases, &m.properties} {
		p.trim()
	}
}

// since are the rows written after a rev.
func (s *store) since(ctx context.Context, rev int64) (ids []uint32, entries []entry, err error) {
	var a arena
	err = s.rows(ctx, "SELECT "+columns+" FROM files WHERE rev > ?", func(rows *sql.Rows) error {
		id, e, err := row(rows, &a)
		ids, entries = append(ids, id), append(entries, e)
		return err
	}, rev)
	return ids, entries, err
}

// rows calls f for every row of a query. What f cannot take is damaged.
func (s *store) rows(ctx context.Context, query string, f func(*sql.Rows) error, args ...any) error {
	stmt, err := s.statement(ctx, query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil && !errors.Is(err, errWords) {
			return fmt.Errorf("%w: %w", errDamaged, err)
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// write stores a row, with a vector if there is one.
func (s *store) write(ctx context.Context, id uint32, e *entry) error {
	if e.path == "" {
		if err := s.exec(ctx, "DELETE FROM texts WHERE id = ?", id); err != nil {
			return err
		}
		return s.exec(ctx, "INSERT OR REPLACE INTO files (id, rev, sum) VALUES (?, ?, ?)", id, e.rev, rowSum(id, e.rev, 0, 0, nil, nil, nil, nil))
	}
	var hash, blob []byte // nil is NULL
	var problem any
	if e.hash != (fingerprint.Content{}) {
		hash = e.hash[:]
	}
	if e.problem != "" {
		problem = e.problem
	}
	if e.facts != "" {
		blob = []byte(e.facts)
	}
	check := rowSum(id, e.rev, e.size, e.mtime, []byte(e.path), hash, []byte(e.problem), blob)
	return s.exec(ctx, "INSERT OR REPLACE INTO files ("+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		id, e.path, e.size, e.mtime, e.seen, e.rev, hash, problem, blob, check)
}

// writeVector stores what text a note has.
func (s *store) writeVector(ctx context.Context, id uint32, vector []byte) error {
	return s.exec(ctx, "INSERT OR REPLACE INTO texts (id, vector, sum) VALUES (?, ?, ?)", id, vector, vectorSum(id, vector))
}

func vectorSum(id uint32, vector []byte) sum { return sum(0).add(int64(id)).bytes(vector) }
