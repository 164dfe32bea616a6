package git

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Open finds the repository that holds a vault: the nearest .git in the vault's
// root or above it, on the same file system, as git itself looks for it. The
// error is ErrNone, or a *RefusedError for a repository that is broken, of a format
// that is not read, or of another account.
func Open(vaultRoot string, o Options) (*Repo, error) {
	root, err := filepath.Abs(vaultRoot)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	start, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	for at := root; ; {
		_, err := os.Lstat(filepath.Join(at, ".git"))
		if err == nil {
			return openAt(at, root, o)
		}
		if !absent(err) {
			return nil, refused("unreadable", "The vault and the folders above it cannot be searched for a repository: %v.", err)
		}
		up := filepath.Dir(at)
		if isGitFolder(at) || up == at {
			return nil, ErrNone // a bare repository, or none at all
		}
		if info, err := os.Stat(up); err != nil || !sameDevice(start, info) {
			return nil, ErrNone
		}
		at = up
	}
}

// openAt opens the repository of at/.git for the vault in root.
func openAt(at, root string, o Options) (*Repo, error) {
	link := filepath.Join(at, ".git")
	dir, err := gitFolder(link)
	if err != nil {
		return nil, err
	}
	r := &Repo{Work: at, Dir: dir, o: o}
	if r.Common, err = commonFolder(dir); err != nil {
		return nil, err
	}
	if !isGitFolder(dir) || !isGitFolder(r.Common) {
		return nil, refused("broken", "%s is no working git folder: it needs a HEAD, objects and refs. Repair it, or remove it if it is a leftover.", machinePath(link))
	}
	s, err := r.settings()
	if err != nil {
		return nil, err
	}
	if s.bare {
		return nil, ErrNone
	}
	if s.work != "" {
		r.Work = filepath.FromSlash(s.work)
		if !filepath.IsAbs(r.Work) {
			r.Work = filepath.Join(dir, r.Work)
		}
		if r.Work, err = filepath.EvalSymlinks(r.Work); err != nil {
			return nil, refused("broken", "The work tree that core.worktree of %s names is not there: %v.", machinePath(dir), err)
		}
	}
	rel, err := filepath.Rel(r.Work, root)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return nil, refused("broken", "The work tree that core.worktree of %s names does not hold the vault.", machinePath(dir))
	}
	if rel != "." {
		r.Prefix = filepath.ToSlash(rel) + "/"
	}
	if !trusted(r.Work, link, r.Work, dir, r.Common) {
		return nil, refused("owner", "The repository belongs to another account. If you trust it, add its folder to safe.directory: git config --global --add safe.directory and the folder.")
	}
	return r, nil
}

// gitFolder is the real folder that a .git is, or that the file .git names.
func gitFolder(link string) (string, error) {
	info, err := os.Stat(link)
	if err != nil {
		return "", refused("broken", "%s cannot be read: %v.", machinePath(link), err)
	}
	dir := link
	if !info.IsDir() {
		b, err := readFile(link, maxSmall)
		if err != nil {
			return "", refused("broken", "%s cannot be read: %v.", machinePath(link), err)
		}
		named, ok := bytes.CutPrefix(b, []byte("gitdir: "))
		if dir = string(bytes.TrimRight(named, "\r\n")); !ok || dir == "" || strings.Contains(dir, "\x00") {
			return "", refused("broken", "The file %s does not say where the git folder is (gitdir: PATH).", machinePath(link))
		}
		if dir = filepath.FromSlash(dir); !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(link), dir)
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", refused("broken", "%s leads to a git folder that is not there: %v.", machinePath(link), err)
	}
	return real, nil
}

// commonFolder is where a linked worktree's git folder has objects and branches.
func commonFolder(dir string) (string, error) {
	b, err := readFile(filepath.Join(dir, "commondir"), maxSmall)
	if absent(err) {
		return dir, nil
	}
	if err != nil {
		return "", refused("broken", "The git folder %s cannot be read: %v.", machinePath(dir), err)
	}
	common := filepath.FromSlash(string(bytes.TrimRight(b, "\r\n")))
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	real, err := filepath.EvalSymlinks(common)
	if err != nil {
		return "", refused("broken", "The repository of the worktree %s is not there: %v.", machinePath(dir), err)
	}
	return real, nil
}

// isGitFolder reports whether a folder has what git takes a git folder for.
func isGitFolder(dir string) bool {
	common, err := commonFolder(dir)
	if err != nil {
		return false
	}
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	for _, sub := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(common, sub)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// trusted reports whether all these belong to this account, or the person said
// in git's own config that the work tree is to be trusted.
func trusted(work string, paths ...string) bool {
	for _, p := range paths {
		if !owned(p) {
			return declaredSafe(work)
		}
	}
	return true
}

// declaredSafe reads safe.directory, which git takes from no repository.
func declaredSafe(work string) bool {
	safe := false
	for _, path := range userConfigs(os.Getenv) {
		options, err := readConfig(path)
		if err != nil {
			continue
		}
		for _, o := range options {
			if o.name != "safe.directory" {
				continue
			}
			switch v := o.value; {
			case v == "":
				safe = false
			case v == "*", filepath.Clean(filepath.FromSlash(v)) == work,
				strings.HasSuffix(v, "/*") && strings.HasPrefix(filepath.ToSlash(work), v[:len(v)-1]):
				safe = true
			}
		}
	}
	return safe
}

// userConfigs are the config files of the system and of the account.
func userConfigs(env func(name string) string) []string {
	var files []string
	if system := env("GIT_CONFIG_SYSTEM"); system != "" {
		files = append(files, system)
	} else if no := env("GIT_CONFIG_NOSYSTEM"); no == "" || no == "0" || no == "false" {
		files = append(files, systemFiles("gitconfig")...)
	}
	if global := env("GIT_CONFIG_GLOBAL"); global != "" {
		return append(files, global)
	}
	if path := userFile(env, "config"); path != "" {
		files = append(files, path)
	}
	if home := homeOf(env); home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

// systemFiles are where the common builds of git have a file of the system.
func systemFiles(name string) []string {
	if runtime.GOOS == "windows" {
		return []string{`C:\Program Files\Git\etc\` + name, `C:\ProgramData\Git\` + strings.TrimPrefix(name, "git")}
	}
	return []string{"/etc/" + name, "/usr/local/etc/" + name, "/opt/homebrew/etc/" + name}
}

func homeOf(env func(name string) string) string {
	if home := env("HOME"); home != "" || runtime.GOOS != "windows" {
		return home
	}
	return env("USERPROFILE")
}

// userFile is a file in the account's folder for git, or "" if it has none.
func userFile(env func(name string) string, name string) string {
	if xdg := env("XDG_CONFIG_HOME"); xdg != "" {
		return filepath.Join(xdg, "git", name)
	}
	if home := homeOf(env); home != "" {
		return filepath.Join(home, ".config", "git", name)
	}
	return ""
}

// broken is the error for a file of a repository that cannot be what git wrote.
func broken(what string, why any) error {
	return fmt.Errorf("the repository's %s cannot be read: %v", what, why)
}
