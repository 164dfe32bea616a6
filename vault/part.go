package vault

import (
	"io"
	"time"

	"vault-mcp/internal/fingerprint"
)

// Part is some bytes of a file, and what the whole of it was when they were
// read.
type Part struct {
	// Bytes are those that were asked for; fewer at the end of the file.
	Bytes []byte
	// Size is the length of the whole file in bytes.
	Size int64
	// ModTime is as in Content.
	ModTime time.Time
	// Hash is that of the whole file.
	Hash fingerprint.Content
}

// ReadPart is Read for n bytes from an offset on. The whole file passes by for
// its hash, so that parts with one hash belong together, but no more than the
// part is ever in memory.
func (v *Vault) ReadPart(p Path, from, n, max int64) (Part, error) {
	s := &span{from: from, n: n}
	c, err := v.read(p, reading{max: max, want: &p.node, part: s})
	if err != nil {
		return Part{}, err
	}
	return Part{Bytes: c.Bytes, Size: s.size, ModTime: c.ModTime, Hash: s.hash}, nil
}

// span is which bytes of a file are kept, and what passing over all of them
// found out.
type span struct {
	from, n int64
	size    int64
	hash    fingerprint.Content
}

// window is how much of a file is in memory beside the part that is kept.
const window = 64 << 10

// fill is the function fill for a span.
func (s *span) fill(r io.Reader, size, max int64) ([]byte, error) {
	if size > max {
		return nil, &TooLargeError{Size: size, Max: max}
	}
	h := fingerprint.NewHasher()
	kept := make([]byte, 0, min(s.n, clip(size, s.from)))
	buf := make([]byte, window)
	for at := int64(0); ; {
		n, err := r.Read(buf)
		h.Write(buf[:n])
		start, end := clip(s.from, at), clip(s.from+s.n, at)
		kept = append(kept, buf[min(start, int64(n)):min(end, int64(n))]...)
		if at += int64(n); at > max {
			return nil, &TooLargeError{Size: at, Max: max}
		}
		if err == io.EOF {
			s.size, s.hash = at, h.Content()
			return kept, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// clip is how far a lies behind b, at least 0.
func clip(a, b int64) int64 { return max(a-b, 0) }
