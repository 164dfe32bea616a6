package git

import (
	"os"
	"path/filepath"
	"strings"
)

// ignoreList reads a list of ignored files that counts in dir.
func ignoreList(path, dir string) ([]pattern, error) {
	lines, err := listLines(path)
	if err != nil {
		return nil, refused("excludes", "The list of ignored files %s cannot be read: %v.", machinePath(path), err)
	}
	return patterns(lines, dir), nil
}

func patterns(lines []string, dir string) []pattern {
	var all []pattern
	for _, line := range lines {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if p, ok := parsePattern(trimBlanks(strings.TrimSuffix(line, "\r")), dir); ok {
			all = append(all, p)
		}
	}
	return all
}

// folderIgnores are the patterns of a folder's .gitignore. Where a sparse checkout
// has left it out, the index has it.
func (a *alone) folderIgnores(dir string) ([]pattern, error) {
	path := dir + ".gitignore"
	full := filepath.Join(a.r.Work, filepath.FromSlash(path))
	info, err := os.Lstat(full)
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		return nil, nil // which git does not follow
	}
	if absent(err) {
		at := a.ix.At(path)
		if len(at) != 1 || !at[0].SkipWorktree || at[0].Mode&typeBits != fileMode&typeBits {
			return nil, nil
		}
		id, err := wantOID(at[0].ID)
		if err != nil {
			return nil, err
		}
		b, err := a.o.blob(id, maxConfig)
		if err != nil {
			return nil, err
		}
		return patterns(strings.Split(string(b), "\n"), dir), nil
	}
	return ignoreList(full, dir)
}

// ignores reads what is ignored in the whole repository, the strongest first.
func (a *alone) ignores() error {
	user, err := a.file("core.excludesfile", "ignore")
	if err != nil {
		return err
	}
	a.exclude = [][]pattern{}
	for _, path := range []string{filepath.Join(a.r.Common, "info", "exclude"), user} {
		if path == "" {
			continue
		}
		list, err := ignoreList(path, "")
		if err != nil {
			return err
		}
		a.exclude = append(a.exclude, list)
	}
	return nil
}

// ignored reports whether a path itself is ignored, by the lists of the folders
// around it, the outermost first. A folder around it that is ignored is not looked at.
func (a *alone) ignored(path string, folder bool, lists [][]pattern) bool {
	for i := len(lists) - 1; i >= 0; i-- {
		if hit, not := a.last(lists[i], path, folder); hit {
			return !not
		}
	}
	for _, list := range a.exclude {
		if hit, not := a.last(list, path, folder); hit {
			return !not
		}
	}
	return false
}

// last is the last pattern of a list that is about a path.
func (a *alone) last(list []pattern, path string, folder bool) (hit, not bool) {
	for i := len(list) - 1; i >= 0; i-- {
		if a.matches(list[i], path, folder) {
			return true, list[i].not
		}
	}
	return false, false
}

// ignoredFile reports whether a file is ignored, or a folder that it is in.
func (a *alone) ignoredFile(path string) (bool, error) {
	if a.exclude == nil {
		if err := a.ignores(); err != nil {
			return false, err
		}
	}
	var lists [][]pattern
	for i := 0; ; {
		list, err := a.folderIgnores(path[:i])
		if err != nil {
			return false, err
		}
		lists = append(lists, list)
		end := strings.IndexByte(path[i:], '/')
		if end < 0 {
			hit := a.ignored(path, false, lists)
			return hit, a.tired()
		}
		if a.ignored(path[:i+end], true, lists) {
			return true, a.tired()
		}
		i += end + 1
	}
}
