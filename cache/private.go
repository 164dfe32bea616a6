package cache

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Private refuses a file or folder that another account may open, that belongs
// to another account, or that is a symbolic link. The error says what to run;
// it is for the person's log. When nothing is there the error is
// fs.ErrNotExist. On Windows only links are refused: the account's own
// AppData folder is private by the rights it inherits.
func Private(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%q is a symbolic link: put the real file or folder in its place", path)
	}
	return private(path, info)
}

// ShellQuote writes s so that a person can paste it into a shell.
func ShellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	if s != "" && strings.TrimLeftFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
