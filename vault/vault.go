// Package vault owns the files of an Obsidian vault on disk: which paths
// belong to it, how a path that somebody names finds its file, and that the
// file which is read is the one that was judged. It knows no database, no
// protocol and no caller; what a caller may know of comes in as a Filter.
//
// A vault is the tree below one folder, without names that begin with a dot
// and without what is reached only by a link. Paths are relative to that
// folder, "/"-separated and spelled as on disk; "" is the folder itself.
package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// configLimit is the size in bytes above which a settings file is not read.
const configLimit = 4 << 20

// defaultConfigDir is the config folder that Obsidian makes itself.
const defaultConfigDir = ".obsidian"

// Vault is an open vault. Its methods may be called at the same time.
type Vault struct {
	dir   string // real path in true case
	typed string // the absolute path before links in it were resolved
	root  *os.Root
	enter func(*os.Root, string) (folder, error)
}

// Open opens the vault in dir, which must be an existing folder that holds at
// least one entry. It creates nothing. The error is one line for the person
// who configured dir: it repeats dir as it was typed and says what to do.
func Open(dir string) (*Vault, error) {
	if strings.TrimSpace(dir) == "" {
		return nil, errors.New("no vault folder is given: name the folder that you open as a vault in Obsidian")
	}
	typed, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("vault folder %s: the current folder cannot be told, so give the full path", quote(dir))
	}
	real, err := filepath.EvalSymlinks(typed)
	if err != nil {
		return nil, openError(dir, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, openError(dir, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("vault folder %s is a file: give the folder that holds the notes", quote(dir))
	}
	real = trueCase(real)
	if filepath.Dir(real) == real {
		return nil, fmt.Errorf("vault folder %s is the root of a file system: give the folder that holds the notes, below it", quote(dir))
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, openError(dir, err)
	}
	if err := inhabited(root); err != nil {
		root.Close()
		if err == errEmpty {
			return nil, fmt.Errorf("vault folder %s is empty, as a drive is that is not mounted: open it in Obsidian once or put a note in it", quote(dir))
		}
		return nil, openError(dir, err)
	}
	return &Vault{dir: real, typed: typed, root: root, enter: openFolder}, nil
}

var errEmpty = errors.New("empty")

// inhabited fails if the folder cannot be listed, if what is in it cannot be
// looked at, or with errEmpty if nothing is in it.
func inhabited(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(1)
	if len(names) == 0 {
		if err == nil || errors.Is(err, fs.ErrPermission) {
			return err
		}
		return errEmpty
	}
	if _, err := root.Lstat(names[0]); errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

func openError(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("vault folder %s may not be read: give this user the right to list and open it (on macOS, also the app that starts the server, under Privacy & Security)", quote(dir))
	case errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(dir, "~"):
		return fmt.Errorf("vault folder %s does not exist: ~ is not expanded here, so write the full path of your home folder", quote(dir))
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("vault folder %s does not exist: check the spelling, or mount the drive that holds it", quote(dir))
	}
	return fmt.Errorf("vault folder %s cannot be opened (%w): check that the path is right and the drive works", quote(dir), bare(err))
}

// quote is dir in quotes, on one line, without doubling the backslashes of a
// Windows path.
func quote(dir string) string {
	if strings.ContainsFunc(dir, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(dir)
	}
	return `"` + dir + `"`
}

// trueCase is a real path with every element spelled as its folder spells it,
// so that one vault has one name however it was typed.
func trueCase(path string) string {
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	name := filepath.Base(path)
	parent = trueCase(parent)
	path = filepath.Join(parent, name)
	info, err := os.Lstat(path)
	if err != nil {
		return path
	}
	other := otherSpellings(name, func(s string) bool {
		o, err := os.Lstat(filepath.Join(parent, s))
		return err == nil && os.SameFile(info, o)
	})
	if !other {
		return path
	}
	f, err := os.Open(parent)
	if err != nil {
		return path
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	found, key := "", FoldName(name)
	for _, n := range names {
		if n == name {
			return path
		}
		if FoldName(n) == key {
			found = filepath.Join(parent, n)
		}
	}
	if found == "" {
		return path
	}
	return found
}

// otherSpellings reports whether a file found as name may be spelled otherwise
// on disk: whether same finds it in other case or normal form too.
func otherSpellings(name string, same func(string) bool) bool {
	swapped := strings.Map(func(r rune) rune {
		if u := unicode.ToUpper(r); u != r {
			return u
		}
		return unicode.ToLower(r)
	}, name)
	form := norm.NFD.String(name)
	if form == name {
		form = norm.NFC.String(name)
	}
	return swapped != name && same(swapped) || form != name && same(form)
}

// Dir is the vault's real path in true case: what the state of this vault is
// kept under. It is never shown to a caller.
func (v *Vault) Dir() string { return v.dir }

// Name is the vault's name as Obsidian shows it: the last element of Dir.
func (v *Vault) Name() string { return filepath.Base(v.dir) }

// Close ends the use of the vault. A call in progress finishes.
func (v *Vault) Close() error { return v.root.Close() }

// ConfigDir is the name of Obsidian's config folder in the vault's root:
// .obsidian if there is one, else the only dot folder that looks like one,
// else .obsidian.
func (v *Vault) ConfigDir() string {
	if _, err := v.root.Lstat(defaultConfigDir); err == nil {
		return defaultConfigDir
	}
	f, err := v.root.Open(".")
	if err != nil {
		return defaultConfigDir
	}
	defer f.Close()
	entries, _ := f.ReadDir(-1)
	found := ""
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") || !e.IsDir() || !v.looksLikeConfig(e.Name()) {
			continue
		}
		if found != "" {
			return defaultConfigDir
		}
		found = e.Name()
	}
	if found == "" {
		return defaultConfigDir
	}
	return found
}

func (v *Vault) looksLikeConfig(dir string) bool {
	has := func(name string) bool {
		info, err := v.root.Lstat(dir + "/" + name)
		return err == nil && info.Mode().IsRegular()
	}
	return has("app.json") && (has("core-plugins.json") || has("community-plugins.json"))
}

// ReadConfig returns a file of the config folder, for example "app.json", up
// to 4 MiB; a larger one is *TooLargeError. It fails with fs.ErrNotExist where
// there is none. No error of it holds a path of the machine.
func (v *Vault) ReadConfig(name string) ([]byte, error) {
	if !fs.ValidPath(name) || name == "." || runtime.GOOS == "windows" && !filepath.IsLocal(name) {
		return nil, fmt.Errorf("%q is no name of a settings file: %w", name, fs.ErrInvalid)
	}
	f, err := v.root.OpenFile(v.ConfigDir()+"/"+name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	b, err := fill(f, info.Size(), configLimit, nil)
	return b, bare(err)
}

// bare is err without the path that the standard library wraps round it.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.SyscallError](err); ok {
		return e.Err
	}
	return err
}
