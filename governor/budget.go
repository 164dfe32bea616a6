package governor

import (
	"math"

	"vault-mcp/internal/fault"
)

// Soft is how much of an answer is enough: what goes beyond is left for another
// call, and the answer says how that is made. 0 is no bound.
type Soft struct {
	// ListBytes is for lists and searches: bytes of both halves of the answer.
	ListBytes int
	// NoteChars is for the text of notes: characters (code points).
	NoteChars int
}

// List is the bytes of a list, where an answer may have hard.
func (s Soft) List(hard int) int { return min(hard, orNone(s.ListBytes)) }

// Chars is the characters of a text.
func (s Soft) Chars() int { return orNone(s.NoteChars) }

func orNone(n int) int {
	if n > 0 {
		return n
	}
	return math.MaxInt
}

// Overflow is the refusal of an answer of size bytes where limit are allowed.
// narrow says how this tool's answer can be made smaller.
func Overflow(size, limit int, narrow string) *fault.Error {
	e := fault.New(fault.Overflow, "The answer has %d bytes; the limit is %d.", size, limit).
		With("result_size", size).With("limit", limit)
	if narrow != "" {
		e = e.With("narrow", narrow)
	}
	return e
}
