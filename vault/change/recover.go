package change

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"vault-mcp/vault"
)

// status is how far an edit is, by what is on the disk.
type status int

const (
	before  status = iota // nothing of it was done
	after                 // it is done
	foreign               // something else has changed the file since
)

// recover ends a record that its process could not end: if any edit is missing,
// those that were made are taken back, else it is applied. What something else
// has written since is left alone and named in r.Foreign. With an error the
// record is still open.
func (w *work) recover() error {
	n := len(w.r.Edits)
	missing := false
	var strange []string
	for i := n - 1; i >= 0; i-- {
		switch s, err := w.status(i); {
		case err != nil:
			return err
		case s == before:
			missing = true
		case s == foreign:
			strange = append(strange, w.r.Edits[i].Path)
		}
	}
	if !missing {
		w.r.Outcome = Applied
		for _, path := range strange {
			w.name(path)
		}
		w.touch()
		if err := w.sync(); err != nil {
			return err
		}
		if err := w.drop(); err != nil {
			return err
		}
		return w.sweep()
	}
	if err := w.takeBack(n); err != nil {
		return err
	}
	return w.sweep()
}

// name says that something else changed a path.
func (w *work) name(path string) {
	if !slices.Contains(w.r.Foreign, path) {
		w.r.Foreign = append(w.r.Foreign, path)
		slices.Sort(w.r.Foreign)
	}
}

// touch marks all folders of the record as not on the disk: who made the edits
// may have died before that.
func (w *work) touch() {
	for _, e := range w.r.Edits {
		for _, path := range []string{e.Path, e.To} {
			dir, _ := split(path)
			if p, err := w.place(dir); err == nil && path != "" {
				p.dirty = true
			}
		}
	}
}

// takeBack takes the first n edits back, the last one first, as far as they are
// there. With an error it could not even look.
func (w *work) takeBack(n int) error {
	if err := w.unstage(); err != nil {
		return err
	}
	took := false
	for i := n - 1; i >= 0; i-- {
		s, err := w.status(i)
		if err != nil {
			w.name(w.r.Edits[i].Path)
			w.r.Outcome = Indeterminate
			return err
		}
		if s == before {
			continue
		}
		if s == after {
			took = true
			err = w.undo(i)
		}
		if s == foreign || err != nil {
			w.name(w.r.Edits[i].Path)
		}
		// What is taken back next may build on it.
		if err := w.sync(); err != nil {
			return err
		}
		w.close()
	}
	switch {
	case len(w.r.Foreign) > 0:
		w.r.Outcome = Indeterminate
	case took:
		w.r.Outcome = RolledBack
	default:
		w.r.Outcome = NotApplied
	}
	return nil
}

// at looks at a path. A folder that is not there holds nothing.
func (w *work) at(path string) (found, error) {
	dir, name := split(path)
	p, err := w.place(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return found{}, nil
	}
	if err != nil {
		return found{}, err
	}
	return look(p, name)
}

// spelled reports whether a folder has an entry with just this name: a file
// system without case finds others as well.
func (w *work) spelled(path string) (bool, error) {
	dir, name := split(path)
	p, err := w.place(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	names, err := p.Names()
	return slices.Contains(names, name), err
}

// beside is the path of a temporary name of edit n.
func (w *work) beside(n int, suffix string) string {
	dir, _ := split(w.r.Edits[n].Path)
	return join(dir, w.temp(n)+suffix)
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func (w *work) discard(path string) error {
	dir, name := split(path)
	p, err := w.place(dir)
	if err != nil {
		return err
	}
	p.dirty = true
	return p.Remove(name)
}

// status looks how far edit n is, after it has ended what was half done.
func (w *work) status(n int) (status, error) {
	e := &w.r.Edits[n]
	switch e.Kind {
	case Put:
		return w.statusOfPut(n, e)
	case Create:
		if t, err := w.at(w.beside(n, "")); err != nil || t.exists && t.entry.Regular {
			if err == nil {
				err = w.discard(w.beside(n, "")) // not yet in its place
			}
			if err != nil {
				return 0, err
			}
		}
		f, err := w.at(e.Path)
		switch {
		case err != nil:
			return 0, err
		case !f.exists:
			return before, nil
		case f.content == e.After && f.entry.Regular:
			return after, nil
		}
		return foreign, nil
	case Mkdir:
		f, err := w.at(e.Path)
		if err != nil || !f.exists {
			return before, err
		}
		if f.entry.Dir {
			return after, nil
		}
		return foreign, nil
	case Move:
		return w.statusOfMove(n, e)
	}
	if e.To != "" {
		return w.statusOfMove(n, e)
	}
	f, err := w.at(e.Path)
	if err != nil {
		return 0, err
	}
	if e.Dir {
		if f.exists {
			return before, nil
		}
		return after, nil
	}
	switch {
	case !f.exists:
		return after, nil
	case f.content == e.Before:
		return before, nil
	}
	return foreign, nil
}

func (w *work) statusOfPut(n int, e *Edit) (status, error) {
	if s, done, err := w.halfPut(n, e); err != nil || done {
		return s, err
	}
	f, err := w.at(e.Path)
	switch {
	case err != nil:
		return 0, err
	case f.exists && f.content == e.After:
		return after, nil
	case f.exists && f.content == e.Before:
		return before, nil
	}
	if waits, err := w.waits(n, e.Path); err != nil || waits {
		return before, err
	}
	return foreign, nil
}

// waits reports whether an earlier edit, which brings about the path that edit n
// is about, has not been made.
func (w *work) waits(n int, path string) (bool, error) {
	for i := n - 1; i >= 0; i-- {
		e := &w.r.Edits[i]
		if e.Kind == Create && e.Path == path || e.Kind == Move && (e.To == path || e.Dir && strings.HasPrefix(path, e.To+"/")) {
			s, err := w.status(i)
			return s == before, err
		}
	}
	return false, nil
}

// halfPut ends a put that was interrupted between its steps: under the
// temporary names are what it was about to write, what it replaced, or what
// somebody saved in just that moment, which goes back to its place.
func (w *work) halfPut(n int, e *Edit) (s status, done bool, err error) {
	here, err := w.at(e.Path)
	if err != nil {
		return 0, false, err
	}
	for _, suffix := range []string{"", "k"} {
		path := w.beside(n, suffix)
		t, err := w.at(path)
		if err != nil {
			return 0, false, err
		}
		if !t.exists {
			continue
		}
		switch {
		case t.content == e.Before, t.content == e.After, torn(t.bytes, e.Content) && here.content != e.After, len(bytes.Trim(t.bytes, "\x00")) == 0:
			if err := w.discard(path); err != nil {
				return 0, false, err
			}
		case here.exists && here.content == e.After:
			dir, name := split(e.Path)
			p, err := w.place(dir)
			if err != nil {
				return 0, false, err
			}
			p.dirty = true
			if err := p.Replace(w.temp(n)+suffix, name); err != nil { // our own text is in the journal
				return 0, false, err
			}
			return foreign, true, nil
		default:
			w.name(path) // two programs wrote: what is there is left for a person
			return foreign, true, nil
		}
	}
	return 0, false, nil
}

// torn reports whether a file is content of which a power cut has left only a
// part, and zeros for what of it was not on the disk yet.
func torn(file, content []byte) bool {
	if len(file) > len(content) {
		return false
	}
	for i, b := range file {
		if b != 0 && b != content[i] {
			return false
		}
	}
	return true
}

func (w *work) statusOfMove(n int, e *Edit) (status, error) {
	if t, err := w.at(w.beside(n, "")); err != nil {
		return 0, err
	} else if t.exists {
		// Between the two steps of a new spelling, or a copy to another device.
		src, err := w.spelled(e.Path)
		if err != nil {
			return 0, err
		}
		if src {
			return before, w.discard(w.beside(n, ""))
		}
		dir, name := split(e.Path)
		p, err := w.place(dir)
		if err != nil {
			return 0, err
		}
		p.dirty = true
		return before, p.Move(w.temp(n), p.Place, name)
	}
	src, err := w.at(e.Path)
	if err != nil {
		return 0, err
	}
	dst, err := w.at(e.To)
	if err != nil {
		return 0, err
	}
	if src.exists && dst.exists && vault.FoldName(e.Path) == vault.FoldName(e.To) {
		if src.exists, err = w.spelled(e.Path); err != nil {
			return 0, err
		}
		if dst.exists, err = w.spelled(e.To); err != nil {
			return 0, err
		}
	}
	is := func(f found) bool { return f.exists && f.entry.Dir == e.Dir && f.content == e.Before }
	switch {
	case is(src) && !dst.exists:
		return before, nil
	case is(src):
		return before, nil // what is at the other path is not ours
	case is(dst):
		return after, nil // what is at the old path came later
	}
	if waits, err := w.waits(n, e.Path); err != nil || waits {
		return before, err
	}
	// What was moved may have been edited since, by this plan or by others.
	if !src.exists && dst.exists && dst.entry.Dir == e.Dir && !e.Dir && w.leaves(n, dst) {
		return after, nil
	}
	return foreign, nil
}

// leaves reports whether a file is as a later put of the plan leaves it.
func (w *work) leaves(n int, f found) bool {
	to := w.r.Edits[n].To
	return slices.ContainsFunc(w.r.Edits[n+1:], func(e Edit) bool { return e.Kind == Put && e.Path == to && e.After == f.content })
}

// undo takes one edit back that is there.
func (w *work) undo(n int) error {
	e := &w.r.Edits[n]
	switch e.Kind {
	case Put:
		return w.replace(n, e.Path, &Edit{Kind: Put, Before: e.After, After: e.Before, Content: e.Old})
	case Create:
		dir, name := split(e.Path)
		p, err := w.place(dir)
		if err != nil {
			return err
		}
		p.dirty = true
		if err := p.Move(name, p.Place, w.temp(n)); err != nil {
			return err
		}
		now, err := look(p, w.temp(n))
		if err == nil && now.content == e.After {
			return p.Remove(w.temp(n))
		}
		return errors.Join(modified(e.Path), p.Move(w.temp(n), p.Place, name))
	case Move:
		return w.move(n, e.To, e.Path, e)
	case Mkdir:
		dir, name := split(e.Path)
		p, err := w.place(dir)
		if err != nil {
			return err
		}
		p.dirty = true
		return p.RemoveDir(name)
	}
	switch {
	case e.To != "":
		return w.move(n, e.To, e.Path, e)
	case e.Dir:
		return w.mkdir(e.Path)
	}
	dir, name := split(e.Path)
	p, q, err := w.both(dir, w.shelter(n))
	if err != nil {
		return err
	}
	kept, err := look(q, w.temp(n))
	if err != nil {
		return err
	}
	p.dirty, q.dirty = true, true
	if kept.exists {
		return q.Move(w.temp(n), p.Place, name)
	}
	if e.Old == nil && e.Before != OfNothing {
		return modified(e.Path)
	}
	return w.create(n, e.Path, e.Old, e.Mode)
}

// sweep removes temporary files of the record that are still there. Those that
// are named for a person stay.
func (w *work) sweep() error {
	for _, e := range w.r.Edits {
		for _, path := range []string{e.Path, e.To} {
			dir, _ := split(path)
			p, err := w.place(dir)
			if err != nil || path == "" {
				continue
			}
			names, err := p.Names()
			if err != nil {
				return err
			}
			for _, name := range names {
				if strings.HasPrefix(name, w.prefix()) && !slices.Contains(w.r.Foreign, join(dir, name)) {
					p.dirty = true
					if err := p.Remove(name); err != nil {
						return err
					}
				}
			}
		}
	}
	return w.sync()
}
