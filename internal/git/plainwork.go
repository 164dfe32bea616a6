package git

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// maxDeep is how many folders in each other are looked at.
const maxDeep = 1000

// workTree is what a look at the files finds.
type workTree struct {
	// changes are against the index, sorted by path, those of files that are only
	// to be added with the status A.
	changes []Change
	// untracked are the files that git does not know, sorted; a repository of its
	// own is its folder, with a slash at its end.
	untracked []string
}

// look compares the files below a folder (with a slash at its end; "" for all) with
// the index; new ones are looked for if that is asked for. Submodules and what is in conflict are left out.
func (a *alone) look(ctx context.Context, dir string, news bool) (*workTree, error) {
	w := &looker{a: a, ctx: ctx, dir: dir, news: news, found: map[string]fs.FileInfo{}}
	var err error
	if w.index, err = a.r.indexTime(); err != nil {
		return nil, err
	}
	if news {
		if err := a.ignores(); err != nil {
			return nil, err
		}
	}
	hidden := false
	for i, c := range dir {
		if c != '/' {
			continue
		}
		if news {
			list, err := a.folderIgnores(dir[:strings.LastIndexByte(dir[:i], '/')+1])
			if err != nil {
				return nil, err
			}
			w.lists = append(w.lists, list)
			hidden = hidden || a.ignored(dir[:i], true, w.lists)
		}
	}
	if err := w.folder(dir, hidden, 0); err != nil {
		return nil, err
	}
	if err := w.known(); err != nil {
		return nil, err
	}
	sort.Strings(w.out.untracked)
	return &w.out, a.tired()
}

type looker struct {
	a     *alone
	ctx   context.Context
	dir   string
	news  bool
	index time.Time
	lists [][]pattern
	// found are the files that the index has.
	found map[string]fs.FileInfo
	out   workTree
}

// folder looks into a folder; in a hidden one nothing is new.
func (w *looker) folder(dir string, hidden bool, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if depth > maxDeep {
		return refused("unreadable", "The folders of the work tree are too deep.")
	}
	entries, err := os.ReadDir(filepath.Join(w.a.r.Work, filepath.FromSlash(dir)))
	if err != nil {
		return refused("unreadable", "A folder of the work tree cannot be read: %v.", err)
	}
	if w.news {
		list, err := w.a.folderIgnores(dir)
		if err != nil {
			return err
		}
		w.lists = append(w.lists, list)
		defer func() { w.lists = w.lists[:len(w.lists)-1] }()
	}
	for _, e := range entries {
		if e.Name() == ".git" {
			continue
		}
		path := dir + e.Name()
		if w.a.compose {
			path = norm.NFC.String(path)
		}
		if e.IsDir() {
			err = w.sub(path, hidden, depth)
		} else {
			err = w.file(path, e, hidden)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *looker) sub(path string, hidden bool, depth int) error {
	if at := w.a.ix.At(path); len(at) > 0 && at[0].Mode == submoduleMode {
		return nil
	}
	holds := w.a.ix.holdsFolder(path)
	if !holds && (!w.news || hidden) {
		return nil
	}
	if w.news && !hidden {
		hidden = w.a.ignored(path, true, w.lists)
	}
	switch {
	case holds:
	case hidden:
		return nil
	case w.a.r.nested(path):
		w.out.untracked = append(w.out.untracked, path+"/")
		return nil
	}
	return w.folder(path+"/", hidden, depth+1)
}

// nested reports whether a folder is a repository of its own.
func (r *Repo) nested(path string) bool {
	link := filepath.Join(r.Work, filepath.FromSlash(path), ".git")
	if _, err := os.Lstat(link); err != nil {
		return false
	}
	dir, err := gitFolder(link)
	return err == nil && isGitFolder(dir)
}

func (w *looker) file(path string, e fs.DirEntry, hidden bool) error {
	if len(w.a.ix.At(path)) > 0 {
		info, err := e.Info()
		if absent(err) {
			return nil // gone meanwhile
		}
		if err != nil {
			return refused("unreadable", "A file of the work tree cannot be read: %v.", err)
		}
		w.found[path] = info
		return nil
	}
	if t := e.Type(); w.news && !hidden && (t.IsRegular() || t == fs.ModeSymlink) && !w.a.ignored(path, false, w.lists) {
		w.out.untracked = append(w.out.untracked, path)
	}
	return nil
}

// known compares the entries of the index with what was found.
func (w *looker) known() error {
	a := w.a
	for i, e := range a.ix.Entries {
		if !strings.HasPrefix(e.Path, w.dir) || e.Stage > 0 || e.Mode == submoduleMode {
			continue
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		info, there := w.found[e.Path]
		skip := e.SkipWorktree && !(there && a.sparse)
		if i < len(a.ix.heads) && a.ix.heads[i][60]&(flagValid>>8) != 0 {
			skip = true // the person said that it does not change
		}
		c := Change{Path: e.Path, OldMode: e.Mode, Old: e.ID}
		switch {
		case skip:
			continue
		case !there:
			c.Status = 'D'
		case e.IntentToAdd:
			c.Status, c.Old, c.OldMode, c.NewMode = 'A', "", 0, a.modeOf(info, nil)
		case info.Mode()&fs.ModeType&^fs.ModeSymlink != 0: // a pipe or the like
			c.Status, c.NewMode = 'M', e.Mode
		default:
			var err error
			if c.Status, c.NewMode, err = a.differs(i, info, w.index); err != nil {
				return err
			}
		}
		if c.Status != 0 {
			w.out.changes = append(w.out.changes, c)
		}
	}
	return nil
}
