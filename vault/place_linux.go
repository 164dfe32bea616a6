package vault

import "golang.org/x/sys/unix"

func renameSwap(fd int, a, b string) error {
	return unix.Renameat2(fd, a, fd, b, unix.RENAME_EXCHANGE)
}

func renameNew(fd int, name string, to int, as string) error {
	return unix.Renameat2(fd, name, to, as, unix.RENAME_NOREPLACE)
}
