package git

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

const (
	// maxCompare is the size of a file, in bytes, above which it is not compared
	// line by line.
	maxCompare = 4 << 20
	// maxSniff is how many bytes git looks at for a NUL.
	maxSniff = 8000
)

// diffAlone is Diff without the git program. It looks for no renames.
func (r *Repo) diffAlone(ctx context.Context, o DiffOptions, paths []string, max int64) (*Diff, error) {
	a, err := r.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer a.close()
	changes, fromFiles, err := a.compared(ctx, o)
	if err != nil {
		return nil, err
	}
	d, left := &Diff{}, max
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return c.Path == p || strings.HasPrefix(c.Path, p+"/") }) {
			continue
		}
		if len(d.Files) == maxDiffFiles {
			d.More = true
			break
		}
		f, err := a.fileDiff(c, fromFiles)
		if err != nil {
			return nil, err
		}
		if f.Status == 0 {
			continue // the same in the end
		}
		room := left
		if o.MaxFile > 0 {
			room = min(room, o.MaxFile)
		}
		whole := int64(len(f.Text))
		if whole > room {
			f.Text = f.Text[:strings.LastIndexByte(f.Text[:room], '\n')+1]
		}
		f.Cut += whole - int64(len(f.Text))
		left -= int64(len(f.Text))
		d.Files = append(d.Files, f)
	}
	return d, nil
}

// compared are the changes that are asked for, sorted by path, and whether what is
// afterwards is in the files.
func (a *alone) compared(ctx context.Context, o DiffOptions) (changes []Change, fromFiles bool, err error) {
	if o.To != "" {
		from, err := a.o.treeOf(o.From)
		if err != nil {
			return nil, false, err
		}
		to, err := a.o.treeOf(o.To)
		if err != nil {
			return nil, false, err
		}
		changes, err = a.o.changes(ctx, from, to)
		return changes, false, err
	}
	if o.Staged || o.From != "" {
		head := Head{Commit: o.From}
		if o.From == "" {
			if head, err = a.r.Head(); err != nil {
				return nil, false, err
			}
		}
		if changes, err = a.r.Staged(ctx, head, a.ix); err != nil || o.Staged {
			return changes, false, err
		}
	}
	dir := a.r.Prefix
	if len(o.Paths) > 0 {
		dir = ""
	}
	work, err := a.look(ctx, dir, false)
	if err != nil {
		return nil, false, err
	}
	changes = since(changes, work.changes)
	if o.From == "" {
		for _, path := range a.ix.Conflicts() {
			c, err := a.ours(path)
			if err != nil {
				return nil, false, err
			}
			changes = append(changes, c)
		}
	}
	slices.SortStableFunc(changes, func(c, d Change) int { return strings.Compare(c.Path, d.Path) })
	return changes, true, nil
}

// ours is how the file of a conflict differs from what our side has.
func (a *alone) ours(path string) (Change, error) {
	c := Change{Path: path, Status: 'U'}
	for _, e := range a.ix.At(path) {
		if e.Stage == 2 {
			c.Old, c.OldMode = e.ID, e.Mode
		}
	}
	info, err := os.Lstat(filepath.Join(a.r.Work, filepath.FromSlash(path)))
	switch {
	case absent(err):
	case err != nil:
		return c, refused("unreadable", "%s cannot be read: %v.", path, err)
	case !info.IsDir():
		c.NewMode = a.modeOf(info, a.ix.At(path))
	}
	return c, nil
}

// since joins changes of a commit to the index with those of the index to the
// files. What is the same in the end is left out where its content is read.
func since(staged, work []Change) []Change {
	by := map[string]Change{}
	for _, c := range work {
		by[c.Path] = c
	}
	var all []Change
	for _, c := range staged {
		w, ok := by[c.Path]
		if ok {
			delete(by, c.Path)
			c.New, c.NewMode = w.New, w.NewMode
			switch {
			case c.OldMode == 0 && c.NewMode == 0:
				continue
			case c.OldMode == 0:
				c.Status = 'A'
			case c.NewMode == 0:
				c.Status = 'D'
			case c.OldMode&typeBits != c.NewMode&typeBits:
				c.Status = 'T'
			default:
				c.Status = 'M'
			}
		}
		all = append(all, c)
	}
	for _, c := range work {
		if _, ok := by[c.Path]; ok {
			all = append(all, c)
		}
	}
	return all
}

// side is one side of a comparison: its content, or nil and why there is none.
type side struct {
	mode Mode
	id   ID
	text []byte
	big  bool
}

// fileDiff is the unified diff of one file; nothing if it is the same after all.
func (a *alone) fileDiff(c Change, fromFiles bool) (FileDiff, error) {
	f := FileDiff{Change: c}
	before, err := a.stored(c.OldMode, c.Old)
	if err != nil {
		return f, err
	}
	after, err := a.stored(c.NewMode, c.New)
	if c.NewMode != 0 && c.New == "" && fromFiles {
		after, err = a.present(c)
	}
	if err != nil {
		return f, err
	}
	known, err := a.attributes(c.Path)
	if err != nil {
		return f, err
	}
	if c.Status != 'U' && before.mode == after.mode && before.id == after.id {
		return FileDiff{}, nil
	}
	var b strings.Builder
	if c.Status == 'U' {
		fmt.Fprintf(&b, "* Unmerged path %s\n", c.Path)
	}
	if c.Status == 'U' && (before.mode == 0 || after.mode == 0) {
		f.Text = b.String()
		return f, nil
	}
	if before.mode != 0 && after.mode != 0 && before.mode&typeBits != after.mode&typeBits {
		f.patch(&b, before, side{}, known["diff"])
		f.patch(&b, side{}, after, known["diff"])
	} else {
		f.patch(&b, before, after, known["diff"])
	}
	f.Text = b.String()
	return f, nil
}

// stored is the side of an object.
func (a *alone) stored(mode Mode, id ID) (side, error) {
	s := side{mode: mode, id: id}
	if mode == 0 || id == "" {
		return s, nil
	}
	if mode == submoduleMode {
		s.text = []byte("Subproject commit " + string(id) + "\n")
		return s, nil
	}
	at, err := wantOID(id)
	if err != nil {
		return s, err
	}
	_, size, err := a.o.size(at)
	if err != nil {
		return s, err
	}
	if s.big = size > maxCompare; !s.big {
		s.text, err = a.o.blob(at, maxCompare)
	}
	return s, err
}

// present is the side of a file of the work tree.
func (a *alone) present(c Change) (side, error) {
	s := side{mode: c.NewMode}
	info, err := os.Lstat(filepath.Join(a.r.Work, filepath.FromSlash(c.Path)))
	if err != nil {
		return s, refused("unreadable", "%s cannot be read: %v.", c.Path, err)
	}
	if info.Mode()&fs.ModeType&^fs.ModeSymlink != 0 {
		return s, refused("special", "%s is neither a file nor a link.", c.Path)
	}
	if s.text, err = a.content(c.Path, info); err != nil {
		return s, err
	}
	s.id = idOf(s.text)
	if s.big = len(s.text) > maxCompare; s.big {
		s.text = nil
	}
	return s, nil
}

// patch writes what git diff writes of a file, and counts its lines.
func (f *FileDiff) patch(b *strings.Builder, before, after side, attribute string) {
	names := [2]string{quoted("a/" + f.Path), quoted("b/" + f.Path)}
	fmt.Fprintf(b, "diff --git %s %s\n", names[0], names[1])
	for i, s := range []side{before, after} {
		if s.mode == 0 {
			names[i] = "/dev/null"
		} else if strings.Contains(f.Path, " ") {
			names[i] += "\t"
		}
	}
	same := ""
	switch {
	case before.mode == 0:
		fmt.Fprintf(b, "new file mode %06o\n", after.mode)
	case after.mode == 0:
		fmt.Fprintf(b, "deleted file mode %06o\n", before.mode)
	case before.mode != after.mode:
		fmt.Fprintf(b, "old mode %06o\nnew mode %06o\n", before.mode, after.mode)
	default:
		same = fmt.Sprintf(" %06o", after.mode)
	}
	if before.id == after.id {
		return
	}
	fmt.Fprintf(b, "index %s..%s%s\n", shortID(before.id), shortID(after.id), same)
	if attribute == off || attribute != on && (isBinary(before.text) || isBinary(after.text)) {
		f.Binary = true
	}
	if f.Binary || before.big || after.big {
		fmt.Fprintf(b, "Binary files %s and %s differ\n", strings.TrimSuffix(names[0], "\t"), strings.TrimSuffix(names[1], "\t"))
		f.Binary = true
		return
	}
	text := diff.Diff("a", before.text, "b", after.text)
	_, hunks, ok := bytes.Cut(text, []byte("\n+++ b\n"))
	if !ok {
		return // two that are empty
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", names[0], names[1])
	b.Write(hunks)
	for line := range bytes.Lines(hunks) {
		switch line[0] {
		case '+':
			f.Added++
		case '-':
			f.Removed++
		}
	}
}

func shortID(id ID) ID {
	if id == "" {
		id = noID
	}
	return id[:7]
}

func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), maxSniff)], 0) >= 0 }
