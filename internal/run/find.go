package run

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"vault-mcp/cache"
)

// Options say where programs are.
type Options struct {
	// Paths are absolute paths of programs by their names; "" or none: looked
	// for in the usual folders.
	Paths map[string]string
	// Vaults are folders from within which nothing is ever started: whoever
	// writes notes could choose what runs.
	Vaults []string
}

// Programs starts programs of this machine. They are looked for whenever one
// is needed, so that one which was just installed is found.
type Programs struct {
	o     Options
	usual []string
}

// New makes Programs; nothing is looked for yet.
func New(o Options) *Programs { return &Programs{o, usual()} }

// MissingError says that a program is not on this machine, or not where the
// config says.
type MissingError struct {
	Name string
	// Path is the path in the config, or "".
	Path string
}

func (e *MissingError) Error() string {
	if e.Path != "" {
		return fmt.Sprintf("no program %s at %q", e.Name, e.Path)
	}
	return fmt.Sprintf("no program %s in the usual folders", e.Name)
}

// usual are the folders where programs are installed. PATH is not asked: of
// some clients it is short, and it may hold a folder that others write to.
func usual() []string {
	switch runtime.GOOS {
	case "windows":
		return []string{`C:\Program Files\poppler\bin`, `C:\Program Files\poppler\Library\bin`, `C:\Program Files\Git\cmd`, `C:\ProgramData\chocolatey\bin`}
	case "darwin":
		return []string{"/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin", "/usr/bin"}
	}
	return []string{"/usr/bin", "/usr/local/bin", "/bin", "/home/linuxbrew/.linuxbrew/bin", "/run/current-system/sw/bin"}
}

// Has reports whether a program is there to be started.
func (p *Programs) Has(name string) bool {
	_, err := p.Find(name)
	return err == nil
}

// Find is the real path of a program, or *MissingError.
func (p *Programs) Find(name string) (string, error) {
	if path := p.o.Paths[name]; path != "" {
		if real := p.usable(path); real != "" {
			return real, nil
		}
		return "", &MissingError{name, path}
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range p.usual {
		if real := p.usable(filepath.Join(dir, name)); real != "" {
			return real, nil
		}
	}
	return "", &MissingError{Name: name}
}

// usable is the real path of a program that may be started; else "".
func (p *Programs) usable(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	if !executable(real) {
		return ""
	}
	// The folder of a link counts as well as that of the program.
	if p.InVault(real) || p.InVault(filepath.Dir(path)) {
		return ""
	}
	return real
}

// executable reports whether a file can be started, as far as its mode tells.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// InVault reports whether a path lies within a vault, or may: one that cannot
// be told counts as inside.
func (p *Programs) InVault(path string) bool {
	return slices.ContainsFunc(p.o.Vaults, func(v string) bool {
		in, err := cache.Within(path, v)
		return in || err != nil
	})
}

// SearchPath is a PATH for a program that starts others itself: the usual
// folders, then those of path that are absolute and outside every vault.
func (p *Programs) SearchPath(path string) string {
	dirs := slices.Clone(p.usual)
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) && !slices.Contains(dirs, dir) && !p.InVault(dir) {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}
