package cache

import (
	"slices"

	"golang.org/x/sys/unix"
)

// network names the network file system that holds path, or is "".
func network(path string) (string, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return "", err
	}
	name := unix.ByteSliceToString(fs.Fstypename[:])
	if slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav"}, name) {
		return name, nil
	}
	return "", nil
}
