package vault

import (
	"time"

	"golang.org/x/sys/unix"
)

// isAwayStat reports whether macOS has evicted the content (SF_DATALESS), as
// iCloud does to save space.
func isAwayStat(st *unix.Stat_t) bool { return st.Flags&0x40000000 != 0 }

// createdAt is an entry's time of birth.
func createdAt(fd int, name string) time.Time {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return time.Time{}
	}
	return time.Unix(st.Btim.Unix())
}
