package governor

import "vault-mcp/internal/fault"

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
