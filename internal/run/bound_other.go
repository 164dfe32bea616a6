//go:build unix && !linux

package run

// bound does nothing: the system bounds no other process.
func bound(int, Command) {}
