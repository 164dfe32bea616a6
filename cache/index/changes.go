package index

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"
)

// maxRemoved is how many removed paths are remembered, the newest.
const maxRemoved = 10_000

// birth names one life of the rows, from when they were begun anew, and is the
// key that points are sealed with.
type birth [aes.BlockSize]byte

func newBirth() (b birth) {
	rand.Read(b[:])
	return b
}

// Point is a moment in the life of the index: behind everything that was found
// to have changed up to then. It tells nothing but whether two points are the
// same: how much has changed is not for everyone to know.
type Point struct {
	// At is sealed.
	At string `json:"a"`
	// Path, if it is set, is the last path of that moment that was told of.
	Path string `json:"p,omitempty"`
}

// Change is a file that has changed or, if Gone is set, a path where none is
// any more.
type Change struct {
	File
	Gone bool

	rev int64
}

// Changes are what has changed since a point.
type Changes struct {
	// List is in the order in which it was found.
	List []Change

	birth birth
	last  int64
}

// After is the point behind the first n changes of the list.
func (c *Changes) After(n int) Point {
	switch {
	case n == len(c.List):
		return Point{At: c.birth.seal(c.last)}
	case n == 0:
		return Point{} // nobody goes on from before the first
	}
	return Point{At: c.birth.seal(c.List[n-1].rev), Path: c.List[n-1].Path}
}

// Now is the point behind all that has changed in the paths that a caller may
// know.
func (m *Model) Now(knows func(path string) bool) Point {
	var last int64
	for i := range m.entries {
		if e := &m.entries[i]; e.rev > last && e.path != "" && knows(e.path) {
			last = e.rev
		}
	}
	for p, rev := range m.gone {
		if rev > last && knows(p) {
			last = rev
		}
	}
	return Point{At: m.birth.seal(last)}
}

// Since is what has changed after a point in the paths that a caller may know.
// It reports false if that cannot be told: the index was begun anew, or the
// point is so old that removed paths have been forgotten.
func (m *Model) Since(p Point, knows func(path string) bool) (*Changes, bool) {
	from, ok := m.birth.open(p.At)
	if !ok || from < m.forgotten || from == m.forgotten && p.Path != "" {
		return nil, false
	}
	c := &Changes{birth: m.birth, last: from}
	add := func(path string, rev int64, change func() Change) {
		if rev < from || rev == from && (p.Path == "" || path <= p.Path) || !knows(path) {
			return
		}
		c.List = append(c.List, change())
		c.last = max(c.last, rev)
	}
	for i := range m.entries {
		if e := &m.entries[i]; e.path != "" {
			add(e.path, e.rev, func() Change { return Change{File{e.path, e.size, time.Unix(0, e.mtime)}, false, e.rev} })
		}
	}
	for path, rev := range m.gone {
		add(path, rev, func() Change { return Change{File{Path: path}, true, rev} })
	}
	slices.SortFunc(c.List, func(a, b Change) int { return cmp.Or(cmp.Compare(a.rev, b.rev), strings.Compare(a.Path, b.Path)) })
	return c, true
}

// seal is a rev as a text that only this life of the index can read.
func (b birth) seal(rev int64) string {
	var block [aes.BlockSize]byte
	binary.BigEndian.PutUint64(block[:], uint64(rev))
	b.cipher().Encrypt(block[:], block[:])
	return hex.EncodeToString(block[:])
}

func (b birth) open(sealed string) (rev int64, ok bool) {
	block, err := hex.DecodeString(sealed)
	if err != nil || len(block) != aes.BlockSize || b == (birth{}) {
		return 0, false
	}
	b.cipher().Decrypt(block, block)
	rev = int64(binary.BigEndian.Uint64(block))
	return rev, rev >= 0 && binary.BigEndian.Uint64(block[8:]) == 0
}

func (b birth) cipher() cipher.Block {
	c, err := aes.NewCipher(b[:])
	if err != nil {
		panic(err) // the length of the key is right
	}
	return c
}

// removal is a path that vanished.
type removal struct {
	path string
	rev  int64
}

func (r removal) sum() sum { return sum(0).add(r.rev).bytes([]byte(r.path)) }

// remember adds removed paths that are not there again, and drops those that
// are, and those of a rev up to forgotten.
func (m *Model) remember(gone []removal, forgotten int64) {
	if m.gone == nil {
		m.gone = map[string]int64{}
	}
	for _, r := range gone {
		if _, back := m.byPath[r.path]; !back {
			m.gone[r.path] = r.rev
		}
	}
	if forgotten > m.forgotten {
		m.forgotten = forgotten
		maps.DeleteFunc(m.gone, func(_ string, rev int64) bool { return rev <= forgotten })
	}
}

// storeGone writes which paths the rows of a transaction have left, and which
// they have taken again.
func (w *writer) storeGone(ctx context.Context, m *meta) error {
	s, model := w.ix.store, w.ix.model
	taken := map[string]bool{}
	for i := range w.entries {
		path := w.entries[i].path
		if taken[path] = true; path == "" {
			continue
		}
		if _, was := model.gone[path]; was {
			if err := s.exec(ctx, "DELETE FROM removed WHERE path = ?", path); err != nil {
				return err
			}
		}
	}
	for i, id := range w.ids {
		if int(id) >= len(model.entries) {
			continue
		}
		old := model.entries[id].path
		if old == w.entries[i].path || taken[old] || old == "" {
			continue
		}
		w.gone = append(w.gone, removal{old, w.rev})
		if err := s.exec(ctx, "INSERT OR REPLACE INTO removed (path, rev, sum) VALUES (?, ?, ?)", old, w.rev, w.gone[len(w.gone)-1].sum()); err != nil {
			return err
		}
	}
	if len(model.gone)+len(w.gone) <= maxRemoved {
		return nil
	}
	// A tenth more than needed, so that this is not done every time.
	revs := slices.Sorted(maps.Values(model.gone))
	for range w.gone {
		revs = append(revs, w.rev)
	}
	m.forgotten = revs[len(revs)-maxRemoved*9/10-1]
	return s.exec(ctx, "DELETE FROM removed WHERE rev <= ?", m.forgotten)
}

// removedSince are the paths that vanished after a rev.
func (s *store) removedSince(ctx context.Context, rev int64) (gone []removal, err error) {
	err = s.rows(ctx, "SELECT path, rev, sum FROM removed WHERE rev > ?", func(rows *sql.Rows) error {
		var r removal
		var stored sum
		err := rows.Scan(&r.path, &r.rev, &stored)
		if err == nil && stored != r.sum() {
			return errDamaged
		}
		gone = append(gone, r)
		return err
	}, rev)
	return gone, err
}
