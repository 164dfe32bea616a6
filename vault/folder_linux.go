package vault

import (
	"time"

	"golang.org/x/sys/unix"
)

// isAwayStat: Linux has no mark for a file whose content is elsewhere.
func isAwayStat(*unix.Stat_t) bool { return false }

// createdAt is an entry's time of birth, which not every file system keeps.
func createdAt(fd int, name string) time.Time {
	var st unix.Statx_t
	err := unix.Statx(fd, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}
