//go:build linux || darwin || freebsd

package doctor

import "golang.org/x/sys/unix"

// room is how many bytes this account can still write where path is; false if it
// cannot be told.
func room(path string) (uint64, bool) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return 0, false
	}
	return uint64(st.Bavail) * uint64(st.Bsize), true
}
