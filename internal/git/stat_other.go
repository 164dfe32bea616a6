//go:build !unix

package git

import "io/fs"

// statOf is what the index keeps of a file besides its mode: its times, as git
// knows no more here.
func statOf(path string, info fs.FileInfo) (stat, error) {
	t := info.ModTime()
	s, n := uint32(t.Unix()), uint32(t.Nanosecond())
	return stat{s, n, s, n, 0, 0, 0, 0, uint32(info.Size())}, nil
}
