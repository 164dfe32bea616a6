package terms

import (
	"encoding/binary"
	"errors"
	"iter"
)

// Vector is what is stored of a note's text: which terms it has, how often, and
// how many tokens in all. It is a compact form of bytes, about an eighth of the
// text, and has a meaning only beside the dictionary that encoded it. The empty
// vector is that of an empty text.
//
// The form is the number of tokens, then for each term in the order of ids twice
// the distance to the id before, plus one if the term occurs more than once, and
// in that case the count; all as varints.
type Vector []byte

var errVector = errors.New("not a vector of terms")

// pair is a term or a document, and how often.
type pair struct{ id, count uint32 }

// appendPair writes how far an id is from the one before, and a count of at
// least 1.
func appendPair(b []byte, distance, count uint32) []byte {
	if count == 1 {
		return binary.AppendUvarint(b, uint64(distance)<<1)
	}
	b = binary.AppendUvarint(b, uint64(distance)<<1|1)
	return binary.AppendUvarint(b, uint64(count))
}

// sizeOf is the number of bytes of a varint.
func sizeOf(v uint64) uint32 {
	n := uint32(1)
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

func sizeOfPair(distance, count uint32) uint32 {
	if distance < 0x40 && count == 1 { // nearly all
		return 1
	}
	n := sizeOf(uint64(distance) << 1)
	if count > 1 {
		n += sizeOf(uint64(count))
	}
	return n
}

// appendVector encodes pairs of id<<32|count, which are in order.
func appendVector(b []byte, length int, pairs []uint64) []byte {
	b = binary.AppendUvarint(b, uint64(length))
	last := uint32(0)
	for _, p := range pairs {
		id := uint32(p >> 32)
		b = appendPair(b, id-last, uint32(p))
		last = id
	}
	return b
}

// decode appends the terms of a vector to dst. It refuses what no dictionary
// with so many terms has encoded.
func (v Vector) decode(dst []pair, terms uint32) (_ []pair, length uint32, err error) {
	if len(v) == 0 {
		return dst, 0, nil
	}
	n, i := binary.Uvarint(v)
	if i <= 0 || n > 1<<32-1 {
		return dst, 0, errVector
	}
	id, sum := uint64(0), uint64(0)
	for first := true; i < len(v); first = false {
		d, count := uint64(v[i]), uint64(1)
		if i++; d >= 0x80 {
			if d, i = varint(v, i-1); i < 0 {
				return dst, 0, errVector
			}
		}
		if d&1 != 0 {
			if count, i = varint(v, i); i < 0 || count < 2 {
				return dst, 0, errVector
			}
		}
		if d >>= 1; d >= uint64(terms)-id || d == 0 && !first || count > n-sum {
			return dst, 0, errVector
		}
		id, sum = id+d, sum+count
		dst = append(dst, pair{uint32(id), uint32(count)})
	}
	if sum != n {
		return dst, 0, errVector
	}
	return dst, uint32(n), nil
}

// varint reads a varint at i and returns the place behind it, or -1.
func varint(b []byte, i int) (v uint64, next int) {
	if i+1 < len(b) {
		if b[i] < 0x80 {
			return uint64(b[i]), i + 1
		}
		if b[i+1] < 0x80 { // most are this short
			return uint64(b[i]&0x7f) | uint64(b[i+1])<<7, i + 2
		}
	}
	return longVarint(b, i)
}

func longVarint(b []byte, i int) (v uint64, next int) {
	v, n := binary.Uvarint(b[i:])
	if n <= 0 {
		return 0, -1
	}
	return v, i + n
}

// Length is the number of tokens, 0 if the vector is damaged.
func (v Vector) Length() int {
	n, _ := binary.Uvarint(v)
	return int(n)
}

// Terms lists the ids of the vector's terms in order and how often each occurs;
// nothing if it is damaged.
func (v Vector) Terms() iter.Seq2[uint32, int] {
	return func(yield func(uint32, int) bool) {
		pairs, _, err := v.decode(nil, 1<<32-1)
		if err != nil {
			return
		}
		for _, p := range pairs {
			if !yield(p.id, int(p.count)) {
				return
			}
		}
	}
}
