package vault

import "golang.org/x/sys/unix"

func renameSwap(fd int, a, b string) error {
	return unix.RenameatxNp(fd, a, fd, b, unix.RENAME_SWAP)
}

func renameNew(fd int, name string, to int, as string) error {
	return unix.RenameatxNp(fd, name, to, as, unix.RENAME_EXCL)
}
