// Package trash knows where deleted files go: the vault's own .trash, the
// system's trash, or nowhere, as the vault's settings say. It plans; the edits
// that it returns are applied like all others, so that what went into a trash
// comes back from there.
package trash

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/settings"
)

const (
	// Local is the folder of the vault's own trash.
	Local = ".trash"
	// System begins the path of what is in the system's trash. No path of a vault
	// begins with a slash.
	System = "/trash/"
)

// Bin is the system's trash, as far as this program can put something into it
// that can come back: on Linux by the specification of freedesktop.org (1.0), on
// macOS the folder in the home. The zero Bin is none.
type Bin struct {
	files, info string
}

// Find finds the system's trash for a vault. It is none if it is on another
// device: a file is renamed into it, never copied. home is the account's home
// folder and data its XDG_DATA_HOME, or "".
func Find(v *vault.Vault, home, data string) Bin {
	if home == "" {
		return Bin{}
	}
	var b Bin
	switch runtime.GOOS {
	case "linux", "freebsd":
		if data == "" || !filepath.IsAbs(data) {
			data = filepath.Join(home, ".local", "share")
		}
		dir := filepath.Join(data, "Trash")
		b = Bin{filepath.Join(dir, "files"), filepath.Join(dir, "info")}
	case "darwin":
		b = Bin{files: filepath.Join(home, ".Trash")}
	default:
		return Bin{}
	}
	if !v.SameDevice(b.files) {
		return Bin{}
	}
	return b
}

// Disk are the files of a vault together with the system's trash.
func Disk(v *vault.Vault, b Bin) change.Disk {
	return change.OnDisk(v, func(rel string) (*vault.Place, error) {
		switch {
		case rel == System+"files" && b.files != "":
			return vault.Outside(b.files)
		case rel == System+"info" && b.info != "":
			return vault.Outside(b.info)
		}
		return nil, os.ErrNotExist
	})
}

// Names are the paths that are taken in a trash.
type Names func(dir string) ([]string, error)

// Plan are the edits that remove a file or folder as a vault wants it: e is its
// Remove, to which they add where it goes. at is when that is decided. where says
// it in words.
func (b Bin) Plan(v *vault.Vault, option settings.TrashOption, e change.Edit, at time.Time) (edits []change.Edit, where string, err error) {
	switch {
	case option == settings.TrashNone:
		return []change.Edit{e}, "", nil
	case option == settings.TrashSystem && b.files != "":
		return b.system(v, e, at)
	}
	return local(v, e)
}

// local puts it into the vault's own trash: all in one folder, and " 1" behind a
// name that is taken.
func local(v *vault.Vault, e change.Edit) (edits []change.Edit, where string, err error) {
	taken := map[string]bool{}
	p, err := v.Place(Local)
	if err != nil {
		edits = append(edits, change.Edit{Kind: change.Mkdir, Path: Local})
	} else {
		defer p.Close()
		names, err := p.Names()
		if err != nil {
			return nil, "", err
		}
		for _, n := range names {
			taken[vault.FoldName(n)] = true
		}
	}
	e.To = Local + "/" + free(path.Base(e.Path), taken, func(stem, ext string, i int) string { return fmt.Sprintf("%s %d%s", stem, i, ext) })
	return append(edits, e), e.To, nil
}

// system puts it into the system's trash.
func (b Bin) system(v *vault.Vault, e change.Edit, at time.Time) (edits []change.Edit, where string, err error) {
	taken := map[string]bool{}
	for _, dir := range []string{b.files, b.info} {
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			return nil, "", fmt.Errorf("list the trash: %w", err)
		}
		for _, d := range entries {
			taken[vault.FoldName(strings.TrimSuffix(d.Name(), ".trashinfo"))] = true
		}
	}
	name := free(path.Base(e.Path), taken, func(stem, ext string, i int) string { return fmt.Sprintf("%s.%d%s", stem, i+1, ext) })
	if b.info != "" {
		full := filepath.Join(v.Dir(), filepath.FromSlash(e.Path))
		text := fmt.Sprintf("[Trash Info]\nPath=%s\nDeletionDate=%s\n", (&url.URL{Path: full}).EscapedPath(), at.Local().Format("2006-01-02T15:04:05"))
		edits = append(edits, change.NewCreate(System+"info/"+name+".trashinfo", []byte(text)))
	}
	e.To = System + "files/" + name
	return append(edits, e), "the system's trash", nil
}

// free is a name that is not taken.
func free(name string, taken map[string]bool, number func(stem, ext string, i int) string) string {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if stem == "" {
		stem, ext = name, ""
	}
	for i := 0; ; i++ {
		n := name
		if i > 0 {
			n = number(stem, ext, i)
		}
		if !taken[vault.FoldName(n)] {
			return n
		}
	}
}

// Is reports whether a path is in a trash.
func Is(path string) bool {
	return path == Local || strings.HasPrefix(path, Local+"/") || strings.HasPrefix(path, System)
}

// InfoOf is the path of what the system's trash notes beside something in it, or
// "" elsewhere.
func InfoOf(p string) string {
	name, ok := strings.CutPrefix(p, System+"files/")
	if !ok {
		return ""
	}
	return System + "info/" + name + ".trashinfo"
}
