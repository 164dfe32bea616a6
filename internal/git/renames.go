package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"path"
	"slices"
)

const (
	// maxPairs bounds the pairs of files that are compared by content, and
	// maxCompared the bytes that are read for it.
	maxPairs    = 10_000
	maxCompared = 16 << 20
	// maxSimilar is the most bytes of a file that is compared by content.
	maxSimilar = 1 << 20
	// similarEnough is the share of bytes, in percent, that makes a rename.
	similarEnough = 50
)

// renames turns pairs of a deleted and an added file into renames: those with the
// same content, and if they are not too many those with similar content. With a
// path, only a rename to it is looked for. The changes stay sorted by path.
func (o *objects) renames(ctx context.Context, changes []Change, only string) ([]Change, error) {
	var gone, new []int
	for i, c := range changes {
		switch {
		case c.Status == 'D' && c.OldMode != submoduleMode:
			gone = append(gone, i)
		case c.Status == 'A' && c.NewMode != submoduleMode && (only == "" || c.Path == only):
			new = append(new, i)
		}
	}
	if len(gone) == 0 || len(new) == 0 {
		return changes, nil
	}
	m := matcher{o: o, changes: changes, from: map[int]int{}, used: map[int]bool{}}
	m.exact(gone, new)
	if err := m.similar(ctx, gone, new); err != nil {
		return nil, err
	}
	out := make([]Change, 0, len(changes)-len(m.from))
	for i, c := range changes {
		if m.used[i] {
			continue
		}
		if from, ok := m.from[i]; ok {
			old := changes[from]
			c.Status, c.From, c.Old, c.OldMode = 'R', old.Path, old.Old, old.OldMode
		}
		out = append(out, c)
	}
	return out, nil
}

// matcher finds which deleted file became which added one.
type matcher struct {
	o       *objects
	changes []Change
	// from is the deleted one of an added one; used are those deleted ones.
	from map[int]int
	used map[int]bool
}

func (m *matcher) take(from, to int) { m.from[to], m.used[from] = from, true }

// sameKind reports whether both are files, or both symbolic links.
func (m *matcher) sameKind(from, to int) bool {
	return m.changes[from].OldMode&typeBits == m.changes[to].NewMode&typeBits
}

func (m *matcher) sameName(from, to int) bool {
	return path.Base(m.changes[from].Path) == path.Base(m.changes[to].Path)
}

// exact pairs files of the same content, first those that kept their name.
func (m *matcher) exact(gone, new []int) {
	byID := map[ID][]int{}
	for _, i := range gone {
		byID[m.changes[i].Old] = append(byID[m.changes[i].Old], i)
	}
	for _, named := range []bool{true, false} {
		for _, to := range new {
			if _, done := m.from[to]; done {
				continue
			}
			id := m.changes[to].New
			at := slices.IndexFunc(byID[id], func(from int) bool {
				return m.sameKind(from, to) && (!named || m.sameName(from, to))
			})
			if at >= 0 {
				m.take(byID[id][at], to)
				byID[id] = slices.Delete(byID[id], at, at+1)
			}
		}
	}
}

// similar pairs what is left by how much of the content is the same.
func (m *matcher) similar(ctx context.Context, gone, new []int) error {
	gone = slices.DeleteFunc(gone, func(i int) bool { return m.used[i] || m.changes[i].OldMode&typeBits != fileMode&typeBits })
	new = slices.DeleteFunc(new, func(i int) bool {
		_, done := m.from[i]
		return done || m.changes[i].NewMode&typeBits != fileMode&typeBits
	})
	if len(gone) == 0 || len(new) == 0 || len(gone)*len(new) > maxPairs {
		return nil
	}
	left := int64(maxCompared)
	read := func(ids []int, id func(Change) ID) (map[int]pieces, error) {
		all := map[int]pieces{}
		for _, i := range ids {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			at, err := wantOID(id(m.changes[i]))
			if err != nil {
				return nil, err
			}
			b, err := m.o.blob(at, min(maxSimilar, left))
			if missing := (*RefusedError)(nil); errors.Is(err, ErrTooLarge) || errors.As(err, &missing) && missing.Kind == "missing" {
				continue // in a partial clone files of old are not there
			}
			if err != nil {
				return nil, err
			}
			left -= int64(len(b))
			all[i] = cutPieces(b)
		}
		return all, nil
	}
	before, err := read(gone, func(c Change) ID { return c.Old })
	if err != nil {
		return err
	}
	after, err := read(new, func(c Change) ID { return c.New })
	if err != nil {
		return err
	}
	type pair struct{ from, to, score int }
	var pairs []pair
	for _, to := range new {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, from := range gone {
			if s := before[from].like(after[to]); s >= similarEnough {
				pairs = append(pairs, pair{from, to, s})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		name := func(p pair) int { return int(flag(m.sameName(p.from, p.to))) }
		return cmp.Or(b.score-a.score, name(b)-name(a))
	})
	for _, p := range pairs {
		if _, done := m.from[p.to]; !done && !m.used[p.from] {
			m.take(p.from, p.to)
		}
	}
	return nil
}

// pieces is a text as the number of bytes in equal pieces of it, whatever their
// order.
type pieces struct {
	size  int
	bytes map[uint64]int
}

var pieceSeed = maphash.MakeSeed()

// cutPieces cuts a text after each line end, and where a line is long after 64 bytes.
func cutPieces(b []byte) pieces {
	p := pieces{len(b), map[uint64]int{}}
	for len(b) > 0 {
		n := min(len(b), 64)
		if at := bytes.IndexByte(b[:n], '\n'); at >= 0 {
			n = at + 1
		}
		p.bytes[maphash.Bytes(pieceSeed, b[:n])] += n
		b = b[n:]
	}
	return p
}

// like is the share of the larger text, in percent, that both have.
func (p pieces) like(q pieces) int {
	size := max(p.size, q.size)
	if min(p.size, q.size)*100 < size*similarEnough || min(p.size, q.size) == 0 {
		return 0
	}
	same := 0
	for piece, n := range p.bytes {
		same += min(n, q.bytes[piece])
	}
	return same * 100 / size
}
