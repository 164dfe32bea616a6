package acl

import (
	"context"
	"errors"
	"strings"
	"time"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/settings"
	"vault-mcp/vault/trash"
)

// Target is a path that a change is about: an existing file, or where one can
// be made.
type Target struct {
	// Path is spelled as on disk, as far as it is there.
	Path string
	// Exists says that there is a file, or with Dir a folder.
	Exists, Dir bool
	// Missing are the folders that have to be made first, outermost first.
	Missing []string
	found   vault.Path
}

// Target finds what a change of a path is about. The caller must be allowed to
// write there, whether it exists or not. With note set, ".md" is added where
// neither a file nor an extension is there.
func (w *View) Target(ctx context.Context, arg string, note bool) (Target, error) {
	if err := ctx.Err(); err != nil {
		return Target{}, err
	}
	clean, err := vault.Clean(arg)
	if err != nil {
		return Target{}, err
	}
	if clean == "" {
		return Target{}, fault.New(fault.PathInvalid, "%q is the vault itself.", arg)
	}
	find := w.vault.Find
	if note {
		find = w.vault.FindNote
	}
	p, err := find(arg, nil)
	if err == nil {
		w.asks.name(p.String(), arg, note)
		if err := w.checkTarget(p.String()); err != nil {
			return Target{}, err
		}
		return Target{Path: p.String(), Exists: true, Dir: p.IsDir(), found: p}, nil
	}
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.NoteNotFound {
		return Target{}, err
	}
	if note && vault.Kind(clean) == vault.Other {
		clean += ".md"
	}
	w.asks.name(clean, arg, note)
	if err := w.checkTarget(clean); err != nil {
		return Target{}, err
	}
	return w.newTarget(clean, arg, note)
}

// newTarget is a path where nothing is yet: its folders are spelled as on disk
// as far as they exist.
func (w *View) newTarget(clean, arg string, note bool) (Target, error) {
	if err := vault.CheckNew(clean); err != nil {
		return Target{}, err
	}
	names := strings.Split(clean, "/")
	at, t := "", Target{}
	for i, name := range names[:len(names)-1] {
		p, err := w.vault.Find(below(at, name), nil)
		if err != nil {
			for _, n := range names[i : len(names)-1] {
				at = below(at, n)
				t.Missing = append(t.Missing, at)
			}
			break
		}
		if !p.IsDir() {
			return Target{}, fault.New(fault.PathInvalid, "%q is a file, so nothing can be below it.", p.String())
		}
		at = p.String()
	}
	t.Path = below(at, names[len(names)-1])
	w.asks.name(t.Path, arg, note)
	return t, w.checkTarget(t.Path)
}

// checkTarget is Check for writing. What a change answers tells whether something
// was there, so that where reading wants a person, a change wants one as well.
func (w *View) checkTarget(path string) error {
	err := w.Check(Write, path)
	if err == nil && w.Judge(Read, path).Verb == Ask {
		err = w.Check(Read, path)
	}
	return err
}

func below(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// ReadTarget reads the file of a target, whatever the rules say about reading:
// a change is planned over the whole vault. What it tells its caller is another
// matter.
func (w *View) ReadTarget(t Target) ([]byte, error) {
	c, err := w.vault.Read(t.found, change.MaxImage)
	// An editor that saves by renaming puts another file in its place.
	for try := 0; try < 3 && errors.Is(err, vault.ErrChanged); try++ {
		if t.found, err = w.vault.Find(t.Path, nil); err != nil {
			return nil, err
		}
		c, err = w.vault.Read(t.found, change.MaxImage)
	}
	return c.Bytes, err
}

// Glance looks at a path as it is spelled on disk, whatever the rules say: a
// change is planned over the whole vault. The content is nil for what is no file
// or is larger than change.MaxImage. It fails with fs.ErrNotExist if nothing is
// there.
func (w *View) Glance(path string) (vault.Entry, []byte, error) {
	i := strings.LastIndexByte(path, '/')
	p, err := trash.Disk(w.vault, w.bin).Place(path[:max(i, 0)])
	if err != nil {
		return vault.Entry{}, nil, err
	}
	defer p.Close()
	e, err := p.Stat(path[i+1:])
	if err != nil || !e.Regular || e.Size > change.MaxImage {
		return e, nil, err
	}
	b, err := p.Read(path[i+1:], change.MaxImage)
	return e, b, err
}

// Entries lists a folder as it is on disk, whatever the rules say.
func (w *View) Entries(dir string) ([]string, error) {
	p, err := w.vault.Place(dir)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Names()
}

// Discards gives the view the system's trash.
func (w *View) Discards(b trash.Bin) { w.bin = b }

// Discard are the edits that remove a file as the vault's settings want it, or
// for good; where says where it goes, "" if that is nowhere. at is when the call
// came.
func (w *View) Discard(e change.Edit, permanent bool, at time.Time) (edits []change.Edit, where string, err error) {
	option := w.Settings().Trash
	if permanent {
		option = settings.TrashNone
	}
	return w.bin.Plan(w.vault, option, e, at)
}

// Folders are the edits that make the folders which a target needs.
func (t Target) Folders() (edits []change.Edit) {
	for _, dir := range t.Missing {
		edits = append(edits, change.Edit{Kind: change.Mkdir, Path: dir})
	}
	return edits
}

// Same refuses a file that is not in the version that a caller expects; "" is
// any. A file that is not there has no version.
func Same(path string, content []byte, exists bool, prev string) error {
	if prev == "" {
		return nil
	}
	actual, says := "", "%q is not there, so it is not in the version that the call expects; nothing was changed."
	if exists {
		actual, says = fingerprint.OfContent(content).String(), "%q is not in the version that the call expects; nothing was changed."
	}
	if actual == strings.ToLower(prev) {
		return nil
	}
	return fault.New(fault.ConcurrentModification, says, path).
		With("path", path).With("expected", prev).With("actual", actual)
}
