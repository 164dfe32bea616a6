package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vault-mcp/internal/config"
)

// Program is the absolute path by which a client can start this program: the one
// by which it was started now, if that is a link to it, since a package manager
// keeps its link and not what it links to; else its own.
func Program(env config.Env, as string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if temporary(self) {
		return "", errors.New("this is a binary that go run has built and will throw away: build one that stays with go build -o vault-mcp ./cmd/vault-mcp, and install with that")
	}
	info, err := os.Stat(self)
	if err != nil {
		return "", fmt.Errorf("the binary of this program is no longer where it was started: %w", err)
	}
	for _, path := range named(env, as) {
		if other, err := os.Stat(path); err == nil && os.SameFile(info, other) {
			return path, nil
		}
	}
	return self, nil
}

// named are the files that a command may mean.
func named(env config.Env, as string) (paths []string) {
	if strings.ContainsRune(as, filepath.Separator) {
		if path, err := filepath.Abs(as); err == nil {
			return []string{path}
		}
		return nil
	}
	for _, dir := range filepath.SplitList(env("PATH")) {
		if filepath.IsAbs(dir) {
			paths = append(paths, filepath.Join(dir, as))
		}
	}
	return paths
}

// temporary reports whether a binary is in a build cache.
func temporary(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(part string) bool {
		return strings.HasPrefix(part, "go-build")
	})
}
