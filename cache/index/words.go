package index

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"vault-mcp/cache/index/terms"
)

// errWords says that another process has given away numbers of terms that this
// one has given to others. The dictionary must be loaded anew.
var errWords = errors.New("numbers of terms were given twice")

// words is the dictionary in memory with how much of it is stored.
type words struct {
	*terms.Dictionary
	stored uint32
}

// loadWords reads the stored terms from number stored on.
func (s *store) loadWords(ctx context.Context, w *words, to uint32) error {
	if w.stored >= to {
		return nil
	}
	err := s.rows(ctx, "SELECT first, list, sum FROM words WHERE first >= ? ORDER BY first", func(rows *sql.Rows) error {
		var first uint32
		var list sql.RawBytes
		var stored sum
		if err := rows.Scan(&first, &list, &stored); err != nil {
			return err
		}
		if stored != wordsSum(first, list) {
			return fmt.Errorf("%w: the terms from %d on are not those that were written", errDamaged, first)
		}
		if first != w.stored {
			return fmt.Errorf("%w: terms from %d on are missing", errDamaged, w.stored)
		}
		for len(list) > 0 {
			size, n := binary.Uvarint(list)
			if n <= 0 || size > uint64(len(list)-n) {
				return fmt.Errorf("%w: the terms from %d on cannot be read", errDamaged, first)
			}
			if err := w.Load(w.stored, list[n:n+int(size)]); err != nil {
				return fmt.Errorf("%w: %w", errWords, err)
			}
			w.stored++
			list = list[n+int(size):]
		}
		return nil
	}, w.stored)
	if err == nil && w.stored != to {
		return fmt.Errorf("%w: %d of %d terms are there", errDamaged, w.stored, to)
	}
	return err
}

// storeWords writes the terms that were added, and returns the number of the
// next. It needs a transaction; only when that has succeeded are they stored.
func (s *store) storeWords(ctx context.Context, w *words) (uint32, error) {
	var list []byte
	next := w.stored
	for id, term := range w.Added(w.stored) {
		list = binary.AppendUvarint(list, uint64(len(term)))
		list = append(list, term...)
		next = id + 1
	}
	if next == w.stored {
		return next, nil
	}
	return next, s.exec(ctx, "INSERT INTO words (first, list, sum) VALUES (?, ?, ?)", w.stored, list, wordsSum(w.stored, list))
}

func wordsSum(first uint32, list []byte) sum { return sum(0).add(int64(first)).bytes(list) }
