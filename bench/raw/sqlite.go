package main

import (
	"io"

	"modernc.org/sqlite"
)

// db is one connection straight on the driver, without the pool of
// database/sql and its cost. The types of the driver's interfaces stay
// unnamed, since only the cache imports that package.
type db struct {
	prepare func(query string) (stmt, error)
	close   func() error
}

type stmt struct {
	exec  func(args ...any) error
	query func(row func([]any), args ...any) error
}

const pragmas = "?_pragma=page_size(8192)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)" +
	"&_pragma=cache_size(-65536)&_pragma=temp_store(MEMORY)"

func open(name string) (*db, error) {
	c, err := (&sqlite.Driver{}).Open("file:" + name + pragmas)
	if err != nil {
		return nil, err
	}
	return &db{close: c.Close, prepare: func(query string) (stmt, error) {
		s, err := c.Prepare(query)
		if err != nil {
			return stmt{}, err
		}
		exec := func(args ...any) error {
			_, err := s.Exec(values(s.Exec, args))
			return err
		}
		return stmt{exec, func(row func([]any), args ...any) error {
			rows, err := s.Query(values(s.Query, args))
			if err != nil {
				return err
			}
			defer rows.Close()
			cells := make([]any, len(rows.Columns()))
			into := values(s.Exec, cells)
			for {
				switch err := rows.Next(into); err {
				case nil:
				case io.EOF:
					return nil
				default:
					return err
				}
				for i := range into {
					cells[i] = into[i]
				}
				row(cells)
			}
		}}, nil
	}}, nil
}

// values are args in the type that of takes.
func values[V, R any](of func([]V) (R, error), args []any) []V {
	_ = of
	out := make([]V, len(args))
	for i, a := range args {
		if a != nil {
			out[i] = a.(V)
		}
	}
	return out
}

// run executes statements that are needed once.
func (d *db) run(queries ...string) error {
	for _, q := range queries {
		s, err := d.prepare(q)
		if err == nil {
			err = s.exec()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
