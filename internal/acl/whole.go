package acl

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/link"
	"vault-mcp/vault/rename"
)

// Whole is all of a vault, whatever its caller may see, as rename asks about it:
// links in closed folders have to stay right as well. It is for one goroutine,
// during the call of View.Whole that gives it.
type Whole struct {
	view  *View
	ctx   context.Context
	model func(func(*index.Model) error) error
	files *vault.Reader
	paths *link.Index
	// What was asked for together: the index is not locked for each note.
	targets map[string][]string
	boards  map[string][]byte
	unread  map[string]bool
	// gone are files that the index has and the disk has not.
	gone []string
	err  error // of the index, or of ctx
}

var _ rename.Vault = (*Whole)(nil)

// replans is how often f is called again because the index was behind.
const replans = 3

// Whole calls f with the whole vault. named are the paths that the call names,
// so that at least those are in the index as they are on the disk. f may be
// called several times, and its error never names a file that the caller may not
// know of. While the index cannot answer, the files do.
func (w *View) Whole(ctx context.Context, named []string, f func(*Whole) error) error {
	for try := 0; w.index != nil; try++ {
		if stale := w.stale(ctx, named); len(stale) > 0 {
			_ = w.index.Changed(ctx, stale) // if it could not be read, the index does not answer below
		}
		a := &Whole{model: func(f func(*index.Model) error) error { return w.index.Read(ctx, f) }}
		err := w.run(ctx, a, f)
		if errors.Is(err, index.ErrNotReady) {
			break
		}
		if err == nil || len(a.gone) == 0 || try == replans {
			return err
		}
		named = append(slices.Clone(named), a.gone...)
	}
	done := w.reading()
	m, err := index.FromFiles(ctx, w.vault, nil)
	done()
	if err != nil {
		return err
	}
	return w.run(ctx, &Whole{model: func(f func(*index.Model) error) error { return f(m) }}, f)
}

// stale are those paths of which the index does not know whether a file is there.
func (w *View) stale(ctx context.Context, named []string) (stale []string) {
	err := w.index.Read(ctx, func(m *index.Model) error {
		stale = slices.DeleteFunc(slices.Clone(named), m.Has)
		return nil
	})
	if err != nil {
		return nil // it answers nothing at all
	}
	known := slices.DeleteFunc(slices.Clone(named), func(p string) bool { return slices.Contains(stale, p) })
	stale = slices.DeleteFunc(stale, func(p string) bool { return !w.isFile(p) })
	return append(stale, slices.DeleteFunc(known, w.isFile)...)
}

func (w *View) isFile(path string) bool {
	i := strings.LastIndexByte(path, '/')
	p, err := w.vault.Place(path[:max(i, 0)])
	if err != nil {
		return false
	}
	defer p.Close()
	e, err := p.Stat(path[i+1:])
	return err == nil && e.Regular
}

func (w *View) run(ctx context.Context, a *Whole, f func(*Whole) error) error {
	a.view, a.ctx, a.files = w, ctx, w.vault.Reader()
	a.targets, a.unread = map[string][]string{}, map[string]bool{}
	defer a.files.Close()
	a.ask(func(m *index.Model) { a.paths = m.Paths().Clone() })
	if a.err != nil {
		return a.err
	}
	err := f(a)
	if a.err != nil {
		return a.err
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		if p, ok := e.Details["path"].(string); ok && !w.Knows(p) {
			return fault.New(e.Code, "Links in a file that this caller may not know of cannot be kept right; nothing was changed.").Because(e)
		}
	}
	return err
}

// ask asks the model. Once it has failed the vault is as good as empty, and the
// plan is thrown away.
func (a *Whole) ask(f func(*index.Model)) {
	if a.err == nil {
		a.err = a.ctx.Err()
	}
	if a.err == nil {
		a.err = a.model(func(m *index.Model) error { f(m); return nil })
	}
}

// Unread are the files whose links nobody knows, as they cannot be read; sorted.
func (a *Whole) Unread() []string {
	var all []string
	for p := range a.unread {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

// Paths implements rename.Vault.
func (a *Whole) Paths() *link.Index { return a.paths }

// Below implements rename.Vault.
func (a *Whole) Below(folder string) (all []string) {
	a.ask(func(m *index.Model) {
		for n := range m.NotesBelow(folder) {
			all = append(all, n.Path)
			a.learn(n)
		}
		for f := range m.Files() {
			if strings.HasPrefix(f.Path, folder+"/") {
				all = append(all, f.Path)
			}
		}
	})
	return all
}

// learn keeps the targets of a note.
func (a *Whole) learn(n index.Note) {
	if n.Problem != "" {
		return
	}
	targets := []string{}
	for l := range n.Facts.Links() {
		if !l.External {
			targets = append(targets, l.Target)
		}
	}
	a.targets[n.Path] = targets
}

// Folder implements rename.Vault.
func (a *Whole) Folder(path string) (string, bool) {
	p, err := a.view.vault.FindFolder(path, nil)
	if err == nil {
		return p.String(), vault.FoldName(p.String()) == vault.FoldName(path) // else it was found by a link
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		if all, ok := e.Details["candidates"].([]string); ok && len(all) > 0 {
			return all[0], true
		}
	}
	return "", false
}

// Linking implements rename.Vault. Notes that are too large for the index may
// have any link.
func (a *Whole) Linking(keys ...string) (all []string) {
	var unknown []string
	a.ask(func(m *index.Model) {
		for _, id := range m.Linking(keys...) {
			if n, ok := m.ByID(id); ok {
				all = append(all, n.Path)
				a.learn(n)
			}
		}
		for _, n := range m.Flawed() {
			if n.Problem != "" && n.Problem != vault.NotText && vault.Kind(n.Path) == vault.Note {
				unknown = append(unknown, n.Path)
			}
		}
	})
	for _, p := range unknown {
		if _, err := a.files.Read(p, change.MaxImage); err != nil {
			a.unread[p] = true
		} else {
			all = append(all, p)
		}
	}
	return all
}

// Targets implements rename.Vault.
func (a *Whole) Targets(note string) ([]string, bool) {
	t, ok := a.targets[note]
	if !ok {
		a.ask(func(m *index.Model) {
			if n, found := m.Note(note); found {
				a.learn(n)
			}
		})
		t, ok = a.targets[note]
	}
	return t, ok
}

// Boards implements rename.Vault. One that cannot be read is none.
func (a *Whole) Boards() []string {
	var all []string
	a.ask(func(m *index.Model) {
		for f := range m.Files() {
			if k := vault.Kind(f.Path); k == vault.Canvas || k == vault.Base {
				all = append(all, f.Path)
			}
		}
	})
	a.boards = map[string][]byte{}
	return slices.DeleteFunc(all, func(p string) bool {
		c, err := a.files.Read(p, vault.DefaultMaxBytes)
		if err != nil {
			a.unread[p] = true
			return true
		}
		a.boards[p] = slices.Clone(c.Bytes)
		return false
	})
}

// Read implements rename.Vault.
func (a *Whole) Read(path string) ([]byte, error) {
	if b, ok := a.boards[path]; ok {
		return b, nil
	}
	c, err := a.files.Read(path, change.MaxImage)
	if err == nil {
		return slices.Clone(c.Bytes), nil
	}
	if vault.Reason(err) == vault.Gone {
		a.gone = append(a.gone, path)
	}
	return nil, fault.New(fault.WriteFailed, "Links in %q have to follow, and it cannot be read: %s. Nothing was changed.", path, vault.Reason(err)).
		With("path", path).Because(err)
}

// Hash implements rename.Vault.
func (a *Whole) Hash(path string) (fingerprint.Content, error) {
	e, b, err := a.view.Glance(path)
	switch {
	case err == nil && e.Regular:
		return change.HashOf(e, b), nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		a.gone = append(a.gone, path)
		return fingerprint.Content{}, fault.New(fault.NoteNotFound, "No file at %q.", path).With("path", path)
	}
	return fingerprint.Content{}, fault.New(fault.WriteFailed, "%q cannot be read: %s.", path, vault.Reason(err)).With("path", path).Because(err)
}

// Everything visits all files below a folder in the order of their paths,
// whatever the rules say. Part of a folder that cannot be listed fails it.
func (w *View) Everything(ctx context.Context, folder string, visit func(vault.File) error) error {
	from, err := w.vault.FindFolder(folder, nil)
	if err != nil {
		return err
	}
	var failed error
	err = w.vault.Walk(ctx, from, vault.WalkOptions{Problem: func(path string, err error) {
		if failed == nil {
			failed = fault.New(fault.WriteFailed, "Not all of the folder %q can be looked at: %s.", folder, vault.Reason(err)).With("path", folder).Because(err)
		}
	}}, visit)
	if err == nil {
		err = failed
	}
	return err
}

// CheckFolder judges all files in a folder for an edit that moves or removes it
// as a whole: each has to be one that may be deleted, and where it goes to
// another place, read and written there. as is that place, or "". An error names no
// file that the caller may not know of.
func (w *View) CheckFolder(ctx context.Context, folder, as string) error {
	if w.rules.Len() == 0 {
		return nil
	}
	return w.Everything(ctx, folder, func(f vault.File) error {
		err := w.Check(Delete, f.Path)
		if err == nil && as != "" {
			if err = w.Check(Read, f.Path); err == nil {
				err = w.Check(Write, as+f.Path[len(folder):])
			}
		}
		if err != nil && !w.Knows(f.Path) {
			return fault.New(fault.ACLDenied, "The folder rules keep something in %q from being moved or deleted.", folder).With("path", folder)
		}
		return err
	})
}
