package state

import (
	"bytes"
	"compress/flate"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"vault-mcp/internal/fingerprint"
)

// ErrNoContent says that the content of a file is not kept: it was too large,
// or so old that it was dropped.
var ErrNoContent = errors.New("the content is no longer kept")

// blob is content that is to be kept under its hash.
type blob struct {
	hash    fingerprint.Content
	content []byte
	packed  []byte // nil if content is kept as it is
}

// keep stores content once, whoever refers to it.
func (t *transaction) keep(hash fingerprint.Content, content []byte) error {
	return t.keepAll([]blob{{hash: hash, content: content}})
}

// batchRows is how many rows one statement looks for or stores: most of the time
// of a short row is that of its statement.
const batchRows = 100

// keepAll stores each content once.
func (t *transaction) keepAll(list []blob) error {
	for part := range slices.Chunk(list, batchRows) {
		part, err := t.missing(part)
		if err != nil {
			return err
		}
		packAll(part)
		args := make([]any, 0, 4*len(part))
		for _, b := range part {
			data, packed := b.content, 0
			if b.packed != nil {
				data, packed = b.packed, 1
			}
			if data == nil {
				data = []byte{}
			}
			args = append(args, b.hash[:], len(b.content), packed, data)
		}
		if len(part) == 0 {
			continue
		}
		if err := t.exec("INSERT INTO blobs (hash, size, packed, data) VALUES "+tuples(len(part), 4), args...); err != nil {
			return err
		}
	}
	return nil
}

// missing are those that are not kept yet, each once.
func (t *transaction) missing(list []blob) (missing []blob, err error) {
	there := map[fingerprint.Content]bool{}
	args := make([]any, len(list))
	for i := range list {
		args[i] = list[i].hash[:]
	}
	err = t.rows(func(rows *sql.Rows) error {
		var hash []byte
		err := rows.Scan(&hash)
		there[fingerprint.Content(hash)] = true
		return err
	}, "SELECT hash FROM blobs WHERE hash IN ("+marks(len(args))+")", args...)
	for _, b := range list {
		if !there[b.hash] {
			there[b.hash] = true
			missing = append(missing, b)
		}
	}
	return missing, err
}

// tuples are the marks of so many rows of a statement.
func tuples(n, columns int) string {
	return strings.TrimSuffix(strings.Repeat("("+marks(columns)+"),", n), ",")
}

// packable is the size in bytes below which packing is not worth its time.
const packable = 512

// packers pack; each has over a megabyte of tables.
var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // a constant level
	}
	return w
}}

// packAll packs what gets smaller by it, on all processors.
func packAll(list []blob) {
	next := make(chan *blob)
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		all.Go(func() {
			w := packers.Get().(*flate.Writer)
			defer packers.Put(w)
			for b := range next {
				if small := pack(w, b.content); len(small) < len(b.content) {
					b.packed = small
				}
			}
		})
	}
	for i := range list {
		if len(list[i].content) > packable {
			next <- &list[i]
		}
	}
	close(next)
	all.Wait()
}

func pack(w *flate.Writer, b []byte) []byte {
	var out bytes.Buffer
	w.Reset(&out)
	w.Write(b) // a buffer takes everything
	w.Close()
	return out.Bytes()
}

// content is what was kept under a hash. It is checked: a damaged state must not
// end up in a note.
func (t *transaction) content(hash fingerprint.Content) ([]byte, error) {
	var size, packed int64
	var data []byte
	err := t.row("SELECT size, packed, data FROM blobs WHERE hash = ?", hash[:]).Scan(&size, &packed, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNoContent
	}
	if err != nil {
		return nil, err
	}
	if packed != 0 {
		data, err = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), size+1))
		if err != nil {
			return nil, fmt.Errorf("content %s in the state is damaged: %w", hash, err)
		}
	}
	if fingerprint.OfContent(data) != hash {
		return nil, fmt.Errorf("content %s in the state is damaged", hash)
	}
	return data, nil
}
