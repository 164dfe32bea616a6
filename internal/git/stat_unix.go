//go:build unix

package git

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// statOf is what the index keeps of a file besides its size and mode.
func statOf(path string, info fs.FileInfo) (stat, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return stat{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	ms, mn := st.Mtim.Unix()
	cs, cn := st.Ctim.Unix()
	return stat{uint32(cs), uint32(cn), uint32(ms), uint32(mn), uint32(st.Dev), uint32(st.Ino), st.Uid, st.Gid, uint32(st.Size)}, nil
}
