//go:build !linux && !darwin && !windows

package cache

// network knows no network file systems here: every folder is allowed.
func network(string) (string, error) { return "", nil }
