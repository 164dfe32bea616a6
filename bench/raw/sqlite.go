package main

import (
	"context"
	"database/sql"

	_ "modernc.org/sqlite" // the driver
)

// db is one connection.
type db struct {
	pool *sql.DB
	conn *sql.Conn
}

type stmt struct{ s *sql.Stmt }

const pragmas = "?_pragma=page_size(8192)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)" +
	"&_pragma=cache_size(-65536)&_pragma=temp_store(MEMORY)"

func open(name string) (*db, error) {
	pool, err := sql.Open("sqlite", "file:"+name+pragmas)
	if err != nil {
		return nil, err
	}
	conn, err := pool.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	return &db{pool, conn}, nil
}

func (d *db) close() error {
	if err := d.conn.Close(); err != nil {
		return err
	}
	return d.pool.Close()
}

func (d *db) prepare(query string) (stmt, error) {
	s, err := d.conn.PrepareContext(context.Background(), query)
	return stmt{s}, err
}

func (s stmt) exec(args ...any) error {
	_, err := s.s.Exec(args...)
	return err
}

// query calls row with the cells of each row.
func (s stmt) query(row func([]any), args ...any) error {
	rows, err := s.s.Query(args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	cells, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		row(cells)
	}
	return rows.Err()
}

// run executes statements that are needed once.
func (d *db) run(queries ...string) error {
	for _, q := range queries {
		if _, err := d.conn.ExecContext(context.Background(), q); err != nil {
			return err
		}
	}
	return nil
}
