// Package fingerprint owns every hash that a decision rests on, in three types
// that cannot be mixed: Content (the bytes of one file), Call (a tool and its
// canonical arguments) and State (what a confirmation is about).
//
// It does no I/O and imports nothing of this module.
package fingerprint

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// Content is the SHA-256 of a file's bytes. The zero value stands for a file
// that is absent.
type Content [sha256.Size]byte

// OfContent hashes the bytes of one file.
func OfContent(b []byte) Content { return sha256.Sum256(b) }

// Hasher hashes the bytes of one file as they come.
type Hasher struct{ h hash.Hash }

// NewHasher makes a Hasher that has seen no bytes.
func NewHasher() Hasher { return Hasher{sha256.New()} }

// Write takes the next bytes.
func (h Hasher) Write(b []byte) { h.h.Write(b) }

// Content is the hash of all bytes so far.
func (h Hasher) Content() (c Content) {
	h.h.Sum(c[:0])
	return c
}

// String is the content_hash of the wire: 64 hex digits, "" for an absent file.
func (c Content) String() string {
	if c == (Content{}) {
		return ""
	}
	return hex.EncodeToString(c[:])
}

// Call names one call: the first 32 hex digits of SHA-256 over the tool, one
// blank, and the canonical arguments.
type Call string

// OfCall hashes a tool name and arguments that Canonical returned.
func OfCall(tool string, canonical []byte) Call {
	h := sha256.New()
	h.Write([]byte(tool))
	h.Write([]byte{' '})
	h.Write(canonical)
	return Call(hex.EncodeToString(h.Sum(nil))[:32])
}

// State is what a confirmation is about, as "kid.hmac". It is computed over
// content, never over times, so touching a file is no drift.
type State string

// stateDomain separates these hashes from every other use of the same key.
const stateDomain = "vault-mcp state v1"

// Seal computes the State of parts under the key that kid names. Parts are
// length-prefixed: moving a byte from one part to its neighbour changes the
// result.
func Seal(kid string, key []byte, parts ...[]byte) State {
	m := hmac.New(sha256.New, key)
	put := func(p []byte) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		m.Write(n[:])
		m.Write(p)
	}
	put([]byte(stateDomain))
	for _, p := range parts {
		put(p)
	}
	return State(kid + "." + base64.RawURLEncoding.EncodeToString(m.Sum(nil)))
}

// Shown is a state as a caller sees it: salted with the request that it belongs
// to, so that it tells nothing about notes that the caller may not read, and
// does not tell that two requests are about the same. It has 32 hex digits.
func (s State) Shown(request string) string {
	h := sha256.New()
	for _, p := range []string{"vault-mcp shown state v1", request, string(s)} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}
