// Package governor decides how much: the size of an answer, the pages that a
// long one comes in, and how many calls a caller may make.
package governor

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"vault-mcp/internal/fault"
)

// CursorLife is how long a cursor may be used after it was made.
const CursorLife = 10 * time.Minute

// PointLife is how long a point may be used after it was made.
const PointLife = 90 * 24 * time.Hour

// cursorLabel separates the key of cursors from every other key.
const cursorLabel = "cursor v1"

// maxCursor bounds a cursor that comes in, in bytes.
const maxCursor = 8 << 10

// Signer signs and verifies under the server's key ring; secrets.Ring does.
type Signer interface {
	// Sign returns "kid.hmac" over msg.
	Sign(label string, msg []byte) string
	// Verify reports whether sig was made over msg by a key of the ring.
	Verify(label string, msg []byte, sig string) error
}

// Binding is what a cursor is good for: the next page of the same call.
type Binding struct {
	Caller, Vault, Tool string
	// Args is the hash of the call's arguments without the cursor, and for a
	// point without the limit.
	Args string
}

// payload is what a cursor carries. It is signed, not secret: a position names
// only what its caller was already shown.
type payload struct {
	Caller   string          `json:"c"`
	Vault    string          `json:"v"`
	Tool     string          `json:"t"`
	Args     string          `json:"a"`
	Expires  int64           `json:"e"`
	Position json.RawMessage `json:"p"`
}

// Cursors makes and reads cursors.
type Cursors struct{ Signer Signer }

// Next makes the cursor of the page that begins behind position.
func (c Cursors) Next(b Binding, position any) (string, error) {
	return c.sign(b, position, CursorLife)
}

// Point makes a cursor for a caller that comes back after days: not to a page,
// but to what has happened since.
func (c Cursors) Point(b Binding, position any) (string, error) {
	return c.sign(b, position, PointLife)
}

func (c Cursors) sign(b Binding, position any, life time.Duration) (string, error) {
	pos, err := json.Marshal(position)
	if err != nil {
		return "", err
	}
	msg, err := json.Marshal(payload{b.Caller, b.Vault, b.Tool, b.Args, time.Now().Add(life).Unix(), pos})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(msg) + "." + c.Signer.Sign(cursorLabel, msg), nil
}

// Read checks a cursor against the call that brings it and decodes its
// position. Its faults are invalid_input with details.reason: invalid (not one
// of ours, or altered), foreign (another caller's), request_mismatch (another
// tool, vault or other arguments), expired.
func (c Cursors) Read(b Binding, cursor string, position any) error {
	body, sig, ok := strings.Cut(cursor, ".")
	// Decoding base64 passes over line ends, which no cursor of ours has.
	if !ok || len(cursor) > maxCursor || strings.ContainsAny(cursor, "\r\n") {
		return cursorFault("invalid", "The cursor is none that this server made.")
	}
	msg, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil || c.Signer.Verify(cursorLabel, msg, sig) != nil {
		return cursorFault("invalid", "The cursor is none that this server made, or it was altered.")
	}
	var p payload
	if err := json.Unmarshal(msg, &p); err != nil {
		return cursorFault("invalid", "The cursor is none that this server made.")
	}
	switch {
	case p.Caller != b.Caller:
		return cursorFault("foreign", "The cursor was made for another caller.")
	case p.Tool != b.Tool || p.Vault != b.Vault || p.Args != b.Args:
		return cursorFault("request_mismatch", "The cursor belongs to a call with other arguments; repeat them unchanged, with only the cursor added.")
	case time.Now().Unix() >= p.Expires:
		return Expired("The cursor has expired; start again without one.")
	}
	if err := json.Unmarshal(p.Position, position); err != nil {
		return cursorFault("invalid", "The cursor is none that this tool made.")
	}
	return nil
}

// Expired is the fault of a cursor that was good once.
func Expired(message string) error { return cursorFault("expired", message) }

func cursorFault(reason, message string) error {
	return fault.New(fault.InvalidInput, "%s", message).With("argument", "cursor").With("reason", reason)
}
