package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Within reports whether path is folder, or lies in it, or would if it were
// made. It compares the folders themselves, not their spelling: links, upper
// and lower case and Unicode forms do not deceive it. folder must exist.
func Within(path, folder string) (bool, error) {
	want, err := os.Stat(folder)
	if err != nil {
		return false, fmt.Errorf("look at %q: %w", folder, err)
	}
	at, err := existing(path)
	if err != nil {
		return false, err
	}
	at, err = filepath.EvalSymlinks(at)
	if err != nil {
		return false, fmt.Errorf("resolve %q: %w", path, err)
	}
	for {
		if got, err := os.Stat(at); err == nil && os.SameFile(got, want) {
			return true, nil
		}
		parent := filepath.Dir(at)
		if parent == at {
			return false, nil
		}
		at = parent
	}
}

// existing is path, or the nearest folder above it that exists.
func existing(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return "", fmt.Errorf("look at %q: %w", path, err)
		}
		path = parent
	}
}
