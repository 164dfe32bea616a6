// Package obsidian reads what the Obsidian app keeps of its vaults on this
// machine. The app rewrites that file while it runs, so nothing here writes.
package obsidian

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vault-mcp/internal/clients"
)

// Vault is a vault that the app knows.
type Vault struct {
	ID   string // the app's own id
	Path string
	// Opened is when its window was last opened, and Open whether it was when the
	// app last wrote that down.
	Opened time.Time
	Open   bool
	// Gone is set if there is no such folder any more.
	Gone bool
}

// Name is what the app shows.
func (v Vault) Name() string { return filepath.Base(v.Path) }

// files are the places of the app's list, of all ways to install it.
func files(s clients.System) []string {
	const name = "obsidian.json"
	home := s.Env.Home()
	paths := []string{filepath.Join(s.AppData(), "obsidian", name)}
	if s.OS != "windows" && s.OS != "darwin" {
		paths = append(paths,
			filepath.Join(home, ".var", "app", "md.obsidian.Obsidian", "config", "obsidian", name), // Flatpak
			filepath.Join(home, "snap", "obsidian", "current", ".config", "obsidian", name))
	}
	return slices.DeleteFunc(paths, func(p string) bool { return !filepath.IsAbs(p) })
}

// again is how long the app gets to write the other half of its file.
const again = 200 * time.Millisecond

// Vaults are those that the app knows, the last opened first. Without the app
// there are none.
func Vaults(s clients.System) (vaults []Vault, err error) {
	seen := map[string]bool{}
	for _, path := range files(s) {
		list, rerr := read(path)
		if rerr != nil {
			time.Sleep(again)
			list, rerr = read(path)
		}
		if rerr != nil {
			err = errors.Join(err, fmt.Errorf("the list of vaults of Obsidian: %w", rerr))
		}
		for _, v := range list {
			if !seen[v.Path] {
				seen[v.Path] = true
				vaults = append(vaults, v)
			}
		}
	}
	slices.SortStableFunc(vaults, func(a, b Vault) int { return b.Opened.Compare(a.Opened) })
	return vaults, err
}

func read(path string) ([]Vault, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var said struct {
		Vaults map[string]struct {
			Path string `json:"path"`
			TS   int64  `json:"ts"`
			Open bool   `json:"open"`
		} `json:"vaults"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	var list []Vault
	for id, v := range said.Vaults {
		if !filepath.IsAbs(v.Path) {
			continue // of another system, as a shared settings folder may have it
		}
		info, err := os.Stat(v.Path)
		list = append(list, Vault{ID: id, Path: v.Path, Opened: time.UnixMilli(v.TS), Open: v.Open, Gone: err != nil || !info.IsDir()})
	}
	slices.SortFunc(list, func(a, b Vault) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

// Likely are the vaults that a person who names none may mean: the one that
// contains the folder dir, else the one that is open, else all that are there,
// the last opened first. One is an answer, several are a question.
func Likely(vaults []Vault, dir string) []Vault {
	there := slices.DeleteFunc(slices.Clone(vaults), func(v Vault) bool { return v.Gone })
	for _, is := range []func(Vault) bool{
		func(v Vault) bool { return within(v.Path, dir) },
		func(v Vault) bool { return v.Open },
	} {
		some := slices.DeleteFunc(slices.Clone(there), func(v Vault) bool { return !is(v) })
		if len(some) == 1 {
			return some
		}
	}
	return there
}

// within reports whether dir is a folder or within it, whatever links lead there.
func within(folder, dir string) bool {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return false
	}
	rel, err := filepath.Rel(real, dir)
	return err == nil && filepath.IsLocal(rel)
}

// Named is the vault with this id, or the only one with this name.
func Named(vaults []Vault, name string) (Vault, bool) {
	var found []Vault
	for _, v := range vaults {
		if v.ID == name {
			return v, true
		}
		if v.Name() == name {
			found = append(found, v)
		}
	}
	if len(found) != 1 {
		return Vault{}, false
	}
	return found[0], true
}
