package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
)

// realPath resolves links, and finds the true case of each name, so that one
// folder has one path however it was typed: its state folder is named by it.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || runtime.GOOS == "windows" {
		return real, err // Windows gives the true case by itself
	}
	real, err = filepath.Abs(real)
	if err != nil {
		return "", err
	}
	at := string(filepath.Separator)
	for name := range strings.SplitSeq(strings.Trim(real, at), string(filepath.Separator)) {
		at = filepath.Join(at, trueName(at, name))
	}
	return at, nil
}

// trueName is the name of an entry as its folder spells it.
func trueName(folder, name string) string {
	info, err := os.Lstat(filepath.Join(folder, name))
	if err != nil || !foldable(folder, name, info) {
		return name
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return name // it may be searched but not listed
	}
	found := name
	for _, e := range entries {
		if e.Name() == name {
			return name
		}
		if other, err := e.Info(); err == nil && e.IsDir() && os.SameFile(info, other) {
			found = e.Name()
		}
	}
	return found
}

// foldable reports whether the entry answers to another spelling too: to the
// other case, or maybe to another Unicode form.
func foldable(folder, name string, info os.FileInfo) bool {
	for _, r := range name {
		if r > unicode.MaxASCII {
			return true
		}
	}
	swapped := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	other, err := os.Lstat(filepath.Join(folder, swapped))
	return swapped != name && err == nil && os.SameFile(info, other)
}
