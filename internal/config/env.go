package config

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Env looks up an environment variable; empty means unset. Tests pass their
// own.
type Env func(name string) string

// variables are all that the program reads, for the documentation.
var variables = []struct{ name, doc string }{
	{"VAULT_MCP_LOG", "The least severe messages that are written to stderr: `debug`, `info`, `warn` or `error`. It overrides `log.level`."},
	{"XDG_STATE_HOME", "Where state is kept on Linux, when `state_dir` is empty; ignored unless absolute."},
	{"HOME", "The home folder, for `~/` and the default state folder; without it the account's own."},
	{"USERPROFILE, LOCALAPPDATA", "The same on Windows."},
	{"XDG_CONFIG_HOME, APPDATA", "Where `vault-mcp install` looks for the files of clients and of Obsidian, on Linux and on Windows."},
	{"CLAUDE_CONFIG_DIR, CODEX_HOME", "Where Claude Code and Codex keep theirs, if not in the home folder."},
	{"PATH", "Read by `vault-mcp install` alone, to find the link by which it was started. Programs are never started by it."},
}

// ProcessEnv is the environment of this process. Where HOME is missing, as
// under some clients, it answers with the home folder of the account.
func ProcessEnv() Env {
	account := sync.OnceValue(func() string {
		if u, err := user.Current(); err == nil {
			return u.HomeDir
		}
		return ""
	})
	return func(name string) string {
		value := os.Getenv(name)
		if value == "" && name == "HOME" && runtime.GOOS != "windows" {
			return account()
		}
		return value
	}
}

// Variables are all variables of this process, each as NAME=value: what a client
// that is started in the same place could hand on.
func Variables() []string { return os.Environ() }

// Home is the home folder of the person, or empty.
func (e Env) Home() string {
	if home := e("HOME"); home != "" || runtime.GOOS != "windows" {
		return home
	}
	return e("USERPROFILE")
}

// expand resolves ~/ and, when base is not empty, paths relative to base.
func (e Env) expand(base, path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		if rest != "" && !os.IsPathSeparator(rest[0]) {
			return "", errors.New("only ~/ is expanded, not ~ with a name: write the whole path")
		}
		home := e.Home()
		if !filepath.IsAbs(home) {
			return "", errors.New("~/ needs a home folder: set HOME, or write the whole path")
		}
		return filepath.Join(home, rest), nil
	}
	if base != "" && !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path), nil
}
