package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Prepare makes the state folder dir, and what is missing above it, for this
// account alone. It refuses a folder inside one of the vaults (Obsidian Sync
// and git would carry it away), one on a network file system (SQLite's locks
// and shared memory do not work there), and one that others may open.
//
// A FUSE file system is allowed: most are local, and sshfs cannot be told from
// the others. Who keeps the state on sshfs risks it.
func Prepare(dir string, vaults ...string) error {
	for _, vault := range vaults {
		in, err := Within(dir, vault)
		if err != nil {
			return err
		}
		if in {
			return fmt.Errorf("the state folder %q would be inside the vault %q: set state_dir in the config to a folder outside every vault", dir, vault)
		}
	}
	at, err := existing(dir)
	if err != nil {
		return err
	}
	kind, err := network(at)
	if err != nil {
		return fmt.Errorf("ask for the file system of %q: %w", at, err)
	}
	if kind != "" {
		return fmt.Errorf("the state folder %q is on a network file system (%s), where it could be damaged: set state_dir in the config to a folder on a local disk", dir, kind)
	}
	_, before := os.Lstat(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	err = Private(dir)
	if err != nil && errors.Is(before, fs.ErrNotExist) {
		return fmt.Errorf("the disk of %q cannot keep files private: set state_dir in the config to a folder on another disk (%w)", dir, err)
	}
	return err
}
