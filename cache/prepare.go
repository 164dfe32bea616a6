package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Usable refuses a state folder inside one of the vaults (Obsidian Sync and git
// would carry it away), and one on a network file system (SQLite's locks and
// shared memory do not work there). The folder need not exist.
//
// A FUSE file system is allowed: most are local, and sshfs cannot be told from
// the others. Who keeps the state on sshfs risks it.
func Usable(dir string, vaults ...string) error {
	for _, vault := range vaults {
		in, err := Within(dir, vault)
		if err != nil {
			return err
		}
		if in {
			return fmt.Errorf("the state folder %q would be inside the vault %q: set state_dir in the config to a folder outside every vault", dir, vault)
		}
	}
	kind, err := Network(dir)
	if err != nil {
		return fmt.Errorf("ask for the file system of %q: %w", dir, err)
	}
	if kind != "" {
		return fmt.Errorf("the state folder %q is on a network file system (%s), where it could be damaged: set state_dir in the config to a folder on a local disk", dir, kind)
	}
	return nil
}

// Network names the network file system that holds path, which need not exist; ""
// for none that is known.
func Network(path string) (string, error) {
	at, err := existing(path)
	if err != nil {
		return "", err
	}
	return network(at)
}

// Prepare makes the state folder dir, and what is missing above it, for this
// account alone. It refuses what is not Usable, and a folder that others may
// open.
func Prepare(dir string, vaults ...string) error {
	if err := Usable(dir, vaults...); err != nil {
		return err
	}
	_, before := os.Lstat(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	err := Private(dir)
	if err != nil && errors.Is(before, fs.ErrNotExist) {
		return fmt.Errorf("the disk of %q cannot keep files private: set state_dir in the config to a folder on another disk (%w)", dir, err)
	}
	return err
}
