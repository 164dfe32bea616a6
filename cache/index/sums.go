package index

import (
	"encoding/binary"
	"hash/crc32"
)

// sum is a checksum of a row. SQLite has none: a disk that gives back other
// bytes than it was given would make answers wrong without anybody noticing.
type sum uint32

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// add goes on with at most nine numbers.
func (s sum) add(numbers ...int64) sum {
	var b [9 * 8]byte
	for i, n := range numbers {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(n))
	}
	return sum(crc32.Update(uint32(s), castagnoli, b[:8*len(numbers)]))
}

// bytes goes on with a text and its length. None is the same as an empty one.
func (s sum) bytes(b []byte) sum {
	return sum(crc32.Update(uint32(s.add(int64(len(b)))), castagnoli, b))
}

func (m *meta) sum() sum {
	return sum(0).add(m.epoch, m.base, m.rev, int64(m.words), int64(m.state), int64(m.done), int64(m.total), m.checked, m.forgotten).
		bytes([]byte(m.settings)).bytes(m.birth[:])
}
