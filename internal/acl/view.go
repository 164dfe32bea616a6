package acl

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"vault-mcp/cache/index"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
	"vault-mcp/vault/settings"
	"vault-mcp/vault/trash"
)

// View is a vault as one caller may see it. Tools read through a View only, so
// that what the rules hide answers everywhere as if it were absent.
type View struct {
	// ID is the vault's id in the config.
	ID string
	// ReadOnly is set where nothing may be changed, whatever the rules say.
	ReadOnly bool

	*ground
	*policy
	asks *asks // nil for a view that is no call's
}

// ground is what all views of a vault share.
type ground struct {
	vault   *vault.Vault
	index   *index.Index
	bin     trash.Bin
	recall  Recall
	current atomic.Pointer[policy]
}

// policy is the rules with what is remembered under them.
type policy struct {
	rules    *Rules
	readOnly bool
	// What verb remembers, and how much of it.
	verbs  sync.Map
	judged atomic.Int64
	sight  sight
}

// NewView makes the view of a vault under rules.
func NewView(id string, v *vault.Vault, rules *Rules, readOnly bool) *View {
	w := &View{ID: id, ReadOnly: readOnly, ground: &ground{vault: v}, policy: &policy{rules: rules, readOnly: readOnly}}
	w.current.Store(w.policy)
	return w
}

// Name is the vault's name: the last element of its folder.
func (w *View) Name() string { return w.vault.Name() }

// Settings are the vault's Obsidian settings, read anew. A folder that the
// rules hide is left out of them.
func (w *View) Settings() settings.Settings {
	s := settings.Load(w.vault.ReadConfig)
	for _, folder := range []*string{&s.AttachmentFolder, &s.NewFileFolder} {
		if w.rules.Judge(Read, strings.TrimPrefix(*folder, "./")).Verb == Hide {
			*folder = ""
		}
	}
	return s
}

// PropertyTypes are the types that Obsidian has for properties, read anew. They
// may be of keys that only hidden notes have.
func (w *View) PropertyTypes() map[string]string { return settings.Types(w.vault.ReadConfig) }

// Check refuses op on a path with acl_denied, or lets it pass. A path that the
// rules hide passes for reading: it is not there, which the look-up says. What the
// rules want a person for passes in the view of a call, which asks then.
func (w *View) Check(op Op, path string) error {
	if path == "" {
		return nil // the root folder itself; what is in it is judged by itself
	}
	v := w.rules.Judge(op, path)
	switch v.Verb {
	case Allow, Hide:
		return nil
	case Ask:
		if w.asks.pass(op, path) {
			return nil
		}
		return fault.New(fault.ACLDenied, "The folder rules want a person to approve the %s of %q, who is asked only about paths that a call names.", op, path).
			With("path", path).With("op", op.String())
	}
	return fault.New(fault.ACLDenied, "The folder rules deny the %s of %q.", op, path).
		With("path", path).With("op", op.String())
}

// known reports whether a caller may know of a path that a call names. A
// hidden folder is known if something below it is not hidden.
func (w *View) known(ctx context.Context, path string, dir bool) bool {
	v := w.rules.Judge(Read, path)
	if v.Verb != Hide || path == "" {
		return true
	}
	return dir && w.rules.reopens(v.Rule) && w.holds(ctx, path)
}

// listed reports whether a path appears in answers about many paths.
func (w *View) listed(path string, dir bool) bool { return w.inWide(path, dir, notHidden) }

// readable reports whether a path's text may be read in a call over many.
func (w *View) readable(path string, dir bool) bool { return w.inWide(path, dir, allowed) }

func notHidden(v Verb) bool { return v == Allow || v == Deny }
func allowed(v Verb) bool   { return v == Allow }

func (w *View) inWide(path string, dir bool, ok func(Verb) bool) bool {
	if path == "" || w.rules.Len() == 0 {
		return true
	}
	v := w.rules.Judge(Read, path)
	return ok(v.Verb) || v.Verb == Ask && w.asks.opens(path) || dir && w.rules.reopens(v.Rule)
}

// errFound ends a walk that has its answer.
var errFound = errors.New("found")

// holds reports whether something below a folder is not hidden.
func (w *View) holds(ctx context.Context, folder string) bool {
	from, err := w.vault.FindFolder(folder, nil)
	if err != nil {
		return false
	}
	err = w.vault.Walk(ctx, from, vault.WalkOptions{}, func(f vault.File) error {
		if w.rules.Judge(Read, f.Path).Verb != Hide {
			return errFound
		}
		return nil
	})
	return errors.Is(err, errFound)
}

// FindNote resolves the path of a note, with or without .md, to a file that
// may be read. A path that does not exist, or is hidden, is note_not_found;
// one that the rules deny is acl_denied, whether it exists or not, and one for
// which they want a person is asked about, whether it exists or not.
func (w *View) FindNote(ctx context.Context, arg string) (vault.Path, error) {
	return w.find(ctx, arg, true, w.vault.FindNote)
}

// FindFile is FindNote for a file or folder that is named exactly.
func (w *View) FindFile(ctx context.Context, arg string) (vault.Path, error) {
	return w.find(ctx, arg, false, w.vault.Find)
}

// FindFolder is FindNote for a folder; "" is the vault's root.
func (w *View) FindFolder(ctx context.Context, arg string) (vault.Path, error) {
	if strings.Trim(arg, "/") == "" {
		arg = ""
	}
	return w.find(ctx, arg, false, w.vault.FindFolder)
}

func (w *View) find(ctx context.Context, arg string, note bool, look func(string, vault.Filter) (vault.Path, error)) (vault.Path, error) {
	clean, err := vault.Clean(arg)
	if err != nil {
		return vault.Path{}, err
	}
	p, err := look(clean, func(path string, dir bool) bool { return w.known(ctx, path, dir) })
	if err == nil {
		w.asks.name(p.String(), arg, note)
		return p, w.Check(Read, p.String())
	}
	meant := []string{clean}
	if note && vault.Kind(clean) == vault.Other {
		meant = append(meant, clean+".md")
	}
	for _, path := range meant {
		w.asks.name(path, arg, note)
		// A denied folder answers alike for what is in it and what is not.
		if denied := w.Check(Read, path); denied != nil {
			return vault.Path{}, denied
		}
		if w.Judge(Read, path).Verb == Ask && !w.asks.isSealed() && fault.Of(err).Code != fault.NoteNotFound {
			// Only after the approval is it told what stands in the way.
			err = fault.New(fault.NoteNotFound, "No note or file at %q.", arg).With("closest", []string{})
		}
	}
	return vault.Path{}, w.withhold(err)
}

// withhold takes names under ask out of what a look-up suggests instead.
func (w *View) withhold(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	for _, key := range []string{"closest", "candidates"} {
		names, ok := e.Details[key].([]string)
		if ok && slices.ContainsFunc(names, w.asked) {
			e = e.With(key, slices.DeleteFunc(slices.Clone(names), w.asked))
		}
	}
	return e
}

// asked reports whether a path is under ask and not one that the call names.
func (w *View) asked(path string) bool {
	return w.Judge(Read, path).Verb == Ask && !w.asks.opens(path)
}

// Read returns the bytes of a file, refusing one larger than limit bytes with
// *vault.TooLargeError before reading it. The rules are asked again.
func (w *View) Read(p vault.Path, limit int64) (vault.Content, error) {
	if err := w.Check(Read, p.String()); err != nil {
		return vault.Content{}, err
	}
	c, err := w.vault.Read(p, limit)
	if err == nil {
		err = w.asBound(p.String(), func() fingerprint.Content { return fingerprint.OfContent(c.Bytes) })
	}
	return c, err
}

// ReadPart is Read for n bytes from an offset on, with the hash of the whole
// file.
func (w *View) ReadPart(p vault.Path, from, n, limit int64) (vault.Part, error) {
	if err := w.Check(Read, p.String()); err != nil {
		return vault.Part{}, err
	}
	part, err := w.vault.ReadPart(p, from, n, limit)
	if err == nil {
		err = w.asBound(p.String(), func() fingerprint.Content { return part.Hash })
	}
	return part, err
}

// Walk visits the files below a folder that may be listed, in ascending order
// of their paths.
func (w *View) Walk(ctx context.Context, from vault.Path, o vault.WalkOptions, visit func(vault.File) error) error {
	o.Keep = w.listed
	defer w.reading()()
	return w.vault.Walk(ctx, from, o, visit)
}

// Scan reads the files below a folder that may be read, in parallel and in no
// order. visit may run on several goroutines; the bytes are its own only until
// it returns.
func (w *View) Scan(ctx context.Context, from vault.Path, o vault.ScanOptions, visit func(vault.File, []byte, error) error) error {
	o.Keep = w.readable
	defer w.reading()()
	return w.vault.Scan(ctx, from, o, visit)
}
