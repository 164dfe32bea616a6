package git

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stage stages the files at these paths as they are now: new, changed or gone.
// Each is one file; nothing else in the index changes, and where something
// would have to, or a path cannot be staged, nothing is: a *RefusedError says why.
// A file in conflict is one: staging it would say that it is resolved.
func (r *Repo) Stage(ctx context.Context, paths []string) error {
	return r.change(ctx, paths, func(h *Held, before *Index) (*Index, error) {
		there := map[string]bool{}
		for _, p := range paths {
			var err error
			if there[p], err = r.stageable(p, before); err != nil {
				return nil, err
			}
		}
		if !r.hasProgram() {
			return h.stageAlone(ctx, before, there)
		}
		after, err := h.edit(ctx, []string{"add"}, paths)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			at := after.At(p)
			if staged := len(at) == 1 && at[0].Stage == 0 && !at[0].IntentToAdd; staged != there[p] || !staged && len(at) > 0 {
				return nil, refused("unstaged", "git leaves %s as it is: it may belong to another repository.", p)
			}
		}
		return after, nil
	})
}

// Unstage makes the index at these paths as HEAD is, or takes them out of it
// where HEAD has none. The files stay. It refuses like Stage, and a path in
// conflict always.
func (r *Repo) Unstage(ctx context.Context, paths []string) error {
	return r.change(ctx, paths, func(h *Held, before *Index) (*Index, error) {
		for _, p := range paths {
			if at := before.At(p); len(at) > 0 && at[0].Stage > 0 {
				return nil, refused("conflict", "%s is in conflict: resolve it, or end the merge with git.", p)
			}
		}
		var after *Index
		var err error
		if r.hasProgram() {
			after, err = h.edit(ctx, []string{"reset", "--quiet"}, paths)
		} else {
			after, err = h.unstageAlone(ctx, before, paths)
		}
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			if len(before.At(p)) == 0 && len(after.At(p)) == 0 {
				if before.holdsFolder(p) {
					return nil, refused("folder", "%s is a folder: name its files one by one.", p)
				}
				return nil, refused("absent", "git knows no file %s.", p)
			}
		}
		return after, nil
	})
}

// change holds the index, has edit change a copy of it at some paths, and puts
// the copy in its place if nothing else is different there. So a process that
// is killed leaves the index as it was or as it should be, and what git itself
// would leave behind is in a folder of ours.
func (r *Repo) change(ctx context.Context, paths []string, edit func(h *Held, before *Index) (*Index, error)) error {
	for _, p := range paths {
		if err := plainPath(p); err != nil {
			return err
		}
	}
	if len(paths) == 0 {
		return refused("nothing", "No path is given.")
	}
	h, err := r.Hold(ctx)
	if err != nil {
		return err
	}
	defer h.Release()
	before, err := r.Index()
	if err != nil {
		return err
	}
	if err := h.copyIndex(); err != nil {
		return err
	}
	after, err := edit(h, before)
	if err != nil {
		return err
	}
	meant := map[string]bool{}
	for _, p := range paths {
		meant[p] = true
	}
	changed := differing(before, after)
	for _, p := range changed {
		if !meant[p] {
			// Not named: who asks may not know of it.
			return refused("folder", "More would change in the index than these paths, as one of them is, or was, a folder: name its files one by one.")
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return h.install()
}

// edit runs a command of git on the copy of the index, for these paths alone.
func (h *Held) edit(ctx context.Context, args, paths []string) (*Index, error) {
	args = append(args, "--pathspec-from-file=-", "--pathspec-file-nul")
	if err := h.quiet(ctx); err != nil {
		return nil, err
	}
	c := call{args: args, stdin: []byte(strings.Join(paths, "\x00")), index: h.index(), off: h.off, timeout: slow}
	if _, err := h.r.git(ctx, c); err != nil {
		return nil, err
	}
	h.r.step("edited")
	return h.edited()
}

// edited is the copy of the index.
func (h *Held) edited() (*Index, error) { return h.r.indexAt(h.index()) }

// plainPath refuses what is no path of a file in the work tree.
func plainPath(p string) error {
	if p == "" || strings.ContainsRune(p, 0) || !fs.ValidPath(p) || !filepath.IsLocal(filepath.FromSlash(p)) || p == "." {
		return refused("path", "%q is no path of a file in the work tree.", p)
	}
	for part := range strings.SplitSeq(p, "/") {
		// As on disks that take these for the same: git refuses them too.
		if name := strings.ToLower(strings.TrimRight(part, ". ")); name == ".git" || name == "git~1" {
			return refused("path", "%q is in a git folder.", p)
		}
	}
	return nil
}

// stageable refuses what is no file that git would take, with the reason, and
// tells whether there is a file. Whatever changes there right after, git itself
// follows no link, and only the very path is put in place.
func (r *Repo) stageable(p string, before *Index) (there bool, err error) {
	for i, c := range p {
		if c != '/' {
			continue
		}
		folder := filepath.Join(r.Work, filepath.FromSlash(p[:i]))
		if at := before.At(p[:i]); len(at) > 0 && at[0].Mode == 0o160000 {
			return false, refused("submodule", "%s belongs to the submodule %s: work on it by itself.", p, p[:i])
		}
		if info, err := os.Lstat(folder); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return false, refused("link", "%s is behind the link %s.", p, p[:i])
		}
		if _, err := os.Lstat(filepath.Join(folder, ".git")); err == nil {
			return false, refused("submodule", "%s belongs to the repository in %s: work on it by itself.", p, p[:i])
		}
	}
	known := before.At(p)
	if len(known) > 0 && known[0].Stage > 0 {
		return false, refused("conflict", "%s is in conflict: resolve it with git, as staging it would say that it is.", p)
	}
	if len(known) > 0 && known[0].Mode == 0o160000 {
		return false, refused("submodule", "%s is a submodule: stage it with git.", p)
	}
	info, err := os.Lstat(filepath.Join(r.Work, filepath.FromSlash(p)))
	switch {
	case absent(err) && len(known) == 0:
		return false, refused("absent", "There is no file %s to stage.", p)
	case absent(err):
		return false, nil
	case err != nil:
		return false, refused("unreadable", "%s cannot be read: %v.", p, err)
	case info.IsDir() && len(known) == 0:
		return false, refused("folder", "%s is a folder: name its files one by one.", p)
	case info.IsDir():
		return false, nil // a file gave way to a folder
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return false, refused("special", "%s is neither a file nor a link.", p)
	}
	return true, nil
}

// At are the entries of a path: one, up to three in a conflict, or none.
func (ix *Index) At(path string) []Entry {
	find := func(e Entry, p string) int { return strings.Compare(e.Path, p) }
	i, ok := slices.BinarySearchFunc(ix.Entries, path, find)
	if !ok {
		return nil
	}
	j := i
	for j < len(ix.Entries) && ix.Entries[j].Path == path {
		j++
	}
	return ix.Entries[i:j]
}

// holdsFolder reports whether there are entries in a folder of this path.
func (ix *Index) holdsFolder(path string) bool {
	i, _ := slices.BinarySearchFunc(ix.Entries, path+"/", func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	return i < len(ix.Entries) && strings.HasPrefix(ix.Entries[i].Path, path+"/")
}

// differing are the paths at which two indexes are not the same.
func differing(a, b *Index) []string {
	var paths []string
	note := func(e Entry) {
		if len(paths) == 0 || paths[len(paths)-1] != e.Path {
			paths = append(paths, e.Path)
		}
	}
	x, y := a.Entries, b.Entries
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && compareEntries(x[0], y[0]) < 0:
			note(x[0])
			x = x[1:]
		case len(x) == 0 || compareEntries(x[0], y[0]) > 0:
			note(y[0])
			y = y[1:]
		default:
			if x[0] != y[0] {
				note(x[0])
			}
			x, y = x[1:], y[1:]
		}
	}
	return paths
}
