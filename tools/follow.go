package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/rename"
)

// Spot names a folder or any file exactly, to be changed, which may not exist
// yet. The caller must be allowed to write there.
type Spot struct{ Target }

func (s *Spot) resolve(ctx context.Context, w *acl.View) error {
	s.at, s.err = w.Target(ctx, s.Arg, false)
	return s.err
}

// LinkCount is how many links in how many files were kept right, of those that
// the caller may read.
type LinkCount struct {
	Notes int `json:"notes"`
	Links int `json:"links"`
}

// LeftLink is a link that could not be kept right.
type LeftLink struct {
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"`
	Target string `json:"target"`
}

// maxLeft is how many of them an answer lists.
const maxLeft = 50

// Follow is what rename has planned, for an answer and a plan.
type Follow struct {
	*rename.Result
	unread []string
}

// Renamed plans with the whole vault, in which the paths that the call names are
// known as they are now.
func (c *Call) Renamed(ctx context.Context, named []string, f func(*acl.Whole) (*rename.Result, error)) (*Follow, error) {
	r := &Follow{}
	err := c.View.Whole(ctx, named, func(v *acl.Whole) (err error) {
		r.Result, err = f(v)
		r.unread = v.Unread()
		return err
	})
	return r, err
}

// Move is Renamed for moves.
func (c *Call) Move(ctx context.Context, moves []rename.Move) (*Follow, error) {
	var named []string
	for _, m := range moves {
		if !m.Dir {
			named = append(named, m.From, m.To)
		}
	}
	return c.Renamed(ctx, named, func(v *acl.Whole) (*rename.Result, error) { return c.renames.Plan(v, moves, c.View.Settings()) })
}

// Only drops what would be done in files that stay where they are.
func (f *Follow) Only() {
	moves := map[string]bool{}
	for _, e := range f.Edits {
		if e.Upkeep {
			moves[e.Path] = true
		}
	}
	f.Edits = slices.DeleteFunc(f.Edits, func(e change.Edit) bool { return e.Upkeep })
	f.Report.Files = slices.DeleteFunc(f.Report.Files, func(n rename.Count) bool { return moves[n.Path] })
	f.Report.Left, f.Report.Alive, f.unread = nil, nil, nil
}

// Hash is the content that a path has after the edits; zero if they are not
// about it.
func (f *Follow) Hash(path string) (h fingerprint.Content) {
	for _, e := range f.Edits {
		if e.Path == path && e.Kind == change.Put || e.To == path {
			h = e.After
		}
	}
	return h
}

// Into puts the edits into a plan, with what its caller and the person have to
// know of links. The former is told of files that it may read only.
func (f *Follow) Into(c *Call, p *change.Plan) (LinkCount, []LeftLink) {
	p.Edits, p.Searched = append(p.Edits, f.Edits...), true
	var n, hidden LinkCount
	for _, file := range f.Report.Files {
		count := &n
		if !c.View.Sees(file.Path) {
			count = &hidden
		}
		count.Notes++
		count.Links += file.Links
	}
	if n.Links > 0 {
		p.Summary += fmt.Sprintf("; %s in %s", Many(n.Links, "link follows", "links follow"), Many(n.Notes, "file", "files"))
	}
	if hidden.Links > 0 {
		p.Aside = fmt.Sprintf("%s in %s that the caller may not read.", Many(hidden.Links, "link follows", "links follow"), Many(hidden.Notes, "file", "files"))
	}
	alive := 0
	for _, file := range f.Report.Alive {
		if c.View.Sees(file.Path) {
			alive += file.Links
		}
	}
	if alive > 0 {
		p.Warnings = append(p.Warnings, Many(alive, "link that led nowhere leads", "links that led nowhere lead")+" to what was moved now.")
	}
	var left []LeftLink
	more := 0
	for _, l := range f.Report.Left {
		switch {
		case !c.View.Sees(l.Path):
		case len(left) == maxLeft:
			more++
		default:
			left = append(left, LeftLink{Cut(l.Path, maxPath), l.Line, Cut(l.Target, maxPath)})
		}
	}
	if len(left) > 0 {
		p.Warnings = append(p.Warnings, Many(len(left)+more, "link", "links")+" could not be kept right, as no link can be written so.")
	}
	if unread := slices.DeleteFunc(slices.Clone(f.unread), func(p string) bool { return !c.View.Sees(p) }); len(unread) > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s could not be read, so that links in them stay as they are: %s.",
			Many(len(unread), "file", "files"), Cut(strings.Join(unread, ", "), 500)))
	}
	return n, left
}

// Many is a number with the word that fits it.
func Many(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Destination is where a move of a file leads, by what was found at the argument
// for it, and whether a file is there that the call wants to be overwritten. Only
// another case or Unicode form of its own name is no other file.
func (c *Call) Destination(ctx context.Context, from string, to acl.Target, arg string, overwrite bool) (dest string, over bool, err error) {
	base := path.Base(arg)
	if vault.FoldName(base) != vault.FoldName(path.Base(from)) {
		base += path.Ext(from) // it was left out
	}
	switch {
	case to.Dir || strings.HasSuffix(arg, "/"):
		return "", false, ontoFolder(arg, from)
	case to.Exists && to.Path == from && base == path.Base(from):
		return "", false, fault.New(fault.InvalidInput, "%q is there already.", from).With("argument", "to")
	case to.Exists && to.Path == from:
		dest = path.Join(path.Dir(from), base)
	case to.Exists && !overwrite:
		return "", false, fault.New(fault.NoteExists, "%q exists already.", to.Path).With("path", to.Path)
	default:
		dest, over = to.Path, to.Exists
	}
	if !to.Exists && vault.FoldName(to.Path) != vault.FoldName(arg) {
		if p, err := c.View.FindFolder(ctx, arg); err == nil && p.String() != "" {
			return "", false, ontoFolder(arg, from)
		}
	}
	if path.Ext(dest) == "" && path.Ext(from) != "" {
		return "", false, fault.New(fault.InvalidInput, "%q has no extension.", dest).With("argument", "to")
	}
	if k := vault.Kind(dest); k != vault.Kind(from) && (written(k) || written(vault.Kind(from))) {
		return "", false, fault.New(fault.InvalidInput, "%q is no name for %q: the extension says what the file is.", dest, from).With("argument", "to")
	}
	return dest, over, nil
}

func ontoFolder(arg, from string) error {
	return fault.New(fault.InvalidInput, "%q is a folder; name the file in it: %q.", arg, strings.TrimSuffix(arg, "/")+"/"+path.Base(from)).With("argument", "to")
}

// written tells the kinds of files that are text and hold links.
func written(k vault.FileKind) bool { return k == vault.Note || k == vault.Canvas || k == vault.Base }

// Expect refuses a file that is not in the version prev; "" is any.
func (c *Call) Expect(path, prev string) error {
	if prev == "" {
		return nil
	}
	_, text, err := c.glance(path)
	if err != nil {
		return err
	}
	return acl.Same(path, text, true, prev)
}

// Discard are the edits that remove a file as the vault's settings want it, or
// for good. removed is the one of the file, where says where it goes, "" if that
// is nowhere.
func (c *Call) Discard(path string, permanent bool) (edits []change.Edit, removed change.Edit, where string, err error) {
	entry, old, err := c.glance(path)
	if err != nil {
		return nil, removed, "", err
	}
	removed = change.Edit{Kind: change.Remove, Path: path, Old: old, Before: change.HashOf(entry, old)}
	edits, where, err = c.View.Discard(removed, permanent, c.Began)
	return edits, removed, where, err
}

// Overwrite puts the edits into a plan that make room where a file is. where says
// where that goes, nil if it is gone for good.
func (c *Call) Overwrite(p *change.Plan, path string) (where *string, err error) {
	edits, _, to, err := c.Discard(path, false)
	p.Edits = append(p.Edits, edits...)
	p.Summary += ", in the place of what is there"
	if to == "" {
		return nil, err
	}
	return &to, err
}

// glance is View.Glance at a file that was there a moment before.
func (c *Call) glance(path string) (vault.Entry, []byte, error) {
	e, b, err := c.View.Glance(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fault.New(fault.NoteNotFound, "No file at %q any more.", path).With("path", path)
	}
	return e, b, err
}

// TooLarge is the refusal of a file that is too large to be copied or replaced;
// any other error is given back.
func TooLarge(path string, err error) error {
	if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
		return fault.New(fault.InvalidInput, "%q has %d bytes; at most %d are read for a change.", path, big.Size, big.Max).With("path", path)
	}
	return err
}
