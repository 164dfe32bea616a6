// Package cache owns the state folder beside a vault: where it is, that it is
// private and on a local disk, and the per-user list of running servers. It
// decides nothing about what the folder holds.
//
// Each vault has a folder of its own, also when one config names several:
// its name comes from the vault's real path, so two configs that serve one
// vault share its state, and two vaults never do. The secrets of a server live
// in the folder of the first vault of its config.
//
// Nothing here runs when a server starts: the folder, the keys and the entry
// in the list are made with the first tools/call.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// program names the folder of this program below the usual places.
const program = "vault-mcp"

// Folder is the state folder of the vault whose real path is vaultRealPath.
// It only computes; Prepare makes the folder.
//
// It lies in stateDirOverride, which must be absolute, or when that is empty
// in $XDG_STATE_HOME/vault-mcp, else ~/.local/state/vault-mcp (macOS:
// ~/Library/Application Support/vault-mcp, Windows: %LocalAppData%\vault-mcp).
// Its own name is the vault's folder name, made plain, and 16 hex digits of
// the SHA-256 of the real path. env looks up an environment variable.
func Folder(env func(string) string, stateDirOverride, vaultRealPath string) (string, error) {
	return folder(runtime.GOOS, env, stateDirOverride, vaultRealPath)
}

func folder(goos string, env func(string) string, override, vault string) (string, error) {
	if !filepath.IsAbs(vault) {
		return "", fmt.Errorf("the vault's path %q is not absolute", vault)
	}
	if override != "" && !filepath.IsAbs(override) {
		return "", fmt.Errorf("state_dir %q is not absolute: give a path from the root, or one that starts with ~/", override)
	}
	base := override
	if base == "" {
		var err error
		if base, err = stateHome(goos, env, true); err != nil {
			return "", err
		}
	}
	return filepath.Join(base, vaultKey(vault)), nil
}

// stateHome is the folder of all state of this account. With xdg false it is
// the same whatever XDG_STATE_HOME says, which some clients do not pass on.
func stateHome(goos string, env func(string) string, xdg bool) (string, error) {
	home := env("HOME")
	switch goos {
	case "windows":
		local := env("LOCALAPPDATA")
		if local == "" && env("USERPROFILE") != "" {
			local = filepath.Join(env("USERPROFILE"), "AppData", "Local")
		}
		if local == "" {
			return "", errors.New("no place for the state folder: set LOCALAPPDATA, or state_dir in the config")
		}
		return filepath.Join(local, program), nil
	case "darwin":
		if filepath.IsAbs(home) {
			return filepath.Join(home, "Library", "Application Support", program), nil
		}
	default:
		// The XDG specification says to ignore a relative path.
		if dir := env("XDG_STATE_HOME"); xdg && filepath.IsAbs(dir) {
			return filepath.Join(dir, program), nil
		}
		if filepath.IsAbs(home) {
			return filepath.Join(home, ".local", "state", program), nil
		}
	}
	return "", errors.New("no place for the state folder: set HOME to your home folder, or state_dir in the config")
}

// vaultKey tells vaults apart by their path, and a person which one it is.
func vaultKey(vault string) string {
	sum := sha256.Sum256([]byte(vault))
	return slug(filepath.Base(vault)) + "-" + hex.EncodeToString(sum[:8])
}

// slug keeps what every file system and shell can hold.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == 40 {
			break
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "vault"
}
