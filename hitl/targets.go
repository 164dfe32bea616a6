// Package hitl decides whether a call may run without a person.
package hitl

// Floor says whether a tool needs a person on every real run, and why. The
// zero value is no floor: then what the change does decides.
type Floor struct{ reason string }

// Always is the floor of a tool that needs a person on every real run.
func Always(reason string) Floor { return Floor{reason} }

// Reason is why a person is needed; "" where none is.
func (f Floor) Reason() string { return f.reason }
