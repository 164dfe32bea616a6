package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// forget drops a file from the page cache as far as the system lets it.
func forget(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
