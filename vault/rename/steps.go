package rename

import (
	"fmt"
	"path"
	"strings"

	"vault-mcp/internal/fault"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
)

// step is a move that is still to be made: from where the thing is by now.
type step struct {
	Move
	at     string
	parked bool // under a temporary name
}

// sequence puts moves in order.
type sequence struct {
	w       *world
	pending []*step
	edits   []change.Edit
	parked  int
}

// steps are the moves as edits, and the folders that they need. Where one waits for another in a circle, as in a swap, a
// temporary name beside it takes one of them out of the way.
func (w *world) steps(moves []Move) ([]change.Edit, error) {
	if err := w.check(moves); err != nil {
		return nil, err
	}
	s := &sequence{w: w}
	for _, m := range moves {
		s.pending = append(s.pending, &step{Move: m, at: m.From})
	}
	for len(s.pending) > 0 {
		i := s.next()
		if i < 0 {
			return nil, fault.New(fault.InvalidInput, "The moves cannot be made together: %q waits for another of them.", s.pending[0].From)
		}
		if err := s.take(i); err != nil {
			return nil, err
		}
	}
	return s.edits, nil
}

// check refuses moves that cannot be made at once, and new names that not every system can hold.
func (w *world) check(moves []Move) error {
	from, to, folders := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, m := range moves {
		if from[m.From] {
			return fault.New(fault.InvalidInput, "%q is moved twice.", m.From)
		}
		from[m.From] = true
		if m.Dir && !w.isFolder(m.From) {
			return fault.New(fault.NoteNotFound, "There is no folder %q.", m.From).With("path", m.From)
		}
	}
	for _, m := range moves {
		folded := vault.FoldName(m.To)
		if to[folded] {
			return fault.New(fault.InvalidInput, "Two moves lead to %q.", m.To)
		}
		to[folded] = true
		if err := w.free(m, folders); err != nil {
			return err
		}
		if err := w.checkName(m); err != nil {
			return err
		}
	}
	return nil
}

// free refuses a place where something is and stays, and folders that would differ from others in case only.
func (w *world) free(m Move, folders map[string]string) error {
	if m.Dir && w.after.Has(m.To) {
		return taken(m.To)
	}
	for p := m.To; p != "."; p = path.Dir(p) {
		is, ok := w.vault.Folder(p)
		if stays := ok && w.toFolder(is) == is; stays && p == m.To {
			return taken(is)
		} else if stays && is != p {
			return fault.New(fault.PathInvalid, "The folder of %q is spelled %q.", m.To, is)
		}
		if is, ok := w.along(p); ok && p == m.To {
			return taken(p)
		} else if ok && is != p {
			return fault.New(fault.PathInvalid, "The folder of %q is spelled %q.", m.To, is)
		}
		if p == m.To && !m.Dir {
			continue
		}
		if p != m.To && w.after.Has(p) {
			return fault.New(fault.PathInvalid, "%q is a file, so nothing can be moved below it.", p)
		}
		if other, ok := folders[vault.FoldName(p)]; ok && other != p {
			return fault.New(fault.InvalidInput, "The moves spell one folder in two ways: %q and %q.", other, p)
		}
		folders[vault.FoldName(p)] = p
	}
	return nil
}

// along is the folder that comes to a path with one above it that is moved, or comes to be one that differs in case only.
func (w *world) along(p string) (is string, ok bool) {
	for _, m := range w.folders {
		if p == m.To || !within(p, m.To) {
			continue
		}
		if was, ok := w.vault.Folder(m.From + p[len(m.To):]); ok {
			if is := w.toFolder(was); vault.FoldName(is) == vault.FoldName(p) {
				return is, true
			}
		}
	}
	return "", false
}

// checkName refuses what Clean or CheckNew would of a path, but for the names in it that exist.
func (w *world) checkName(m Move) error {
	if clean, err := vault.Clean(m.To); err != nil {
		return err
	} else if clean != m.To || clean == "" {
		return fault.New(fault.PathInvalid, "The path %q is not in its plain form.", m.To)
	}
	p := m.To
	if path.Base(p) == path.Base(m.From) {
		p = path.Dir(p)
	}
	for ; p != "." && !w.isFolder(p); p = path.Dir(p) {
		if err := vault.CheckNew(path.Base(p)); err != nil {
			return err
		}
		if s := stem(path.Base(p)); s != strings.TrimSpace(s) {
			return fault.New(fault.PathInvalid, "The path %q has a name with a blank at one end, which links leave out.", m.To)
		}
	}
	return nil
}

// next is a move that can be made now, or one that has to be parked, or -1.
func (s *sequence) next() int {
	for i := range s.pending {
		if s.ready(i) {
			return i
		}
	}
	for _, m := range s.pending {
		if !m.parked {
			m.parked = true
			s.parked++
			s.rename(m, path.Join(path.Dir(m.at), fmt.Sprintf("%smove-%d", change.TempPrefix, s.parked)))
			return s.next()
		}
	}
	return -1
}

// ready reports whether nothing pending stands in the way of a move, or would carry off what it moves to.
func (s *sequence) ready(i int) bool {
	m := s.pending[i]
	to := vault.FoldName(m.To)
	for j, other := range s.pending {
		if j == i {
			continue
		}
		at := vault.FoldName(other.at)
		switch {
		case to == at,
			other.Dir && within(to, at),
			other.Dir && within(to, vault.FoldName(other.To)),
			m.Dir && within(other.at, m.at) && !within(other.To, m.To):
			return false
		}
	}
	return true
}

// take makes the last edit of a move.
func (s *sequence) take(i int) error {
	m := s.pending[i]
	s.mkdirs(path.Dir(m.To))
	s.rename(m, m.To)
	s.pending = append(s.pending[:i:i], s.pending[i+1:]...)
	return s.hash(m)
}

// rename adds the edit that puts a thing elsewhere, with all that is in it.
func (s *sequence) rename(m *step, to string) {
	s.edits = append(s.edits, change.Edit{Kind: change.Move, Path: m.at, To: to, Dir: m.Dir})
	was := m.at
	for _, other := range s.pending {
		if other == m || m.Dir && within(other.at, was) {
			other.at = to + other.at[len(was):]
		}
	}
}

// hash fills in what the file of a move holds.
func (s *sequence) hash(m *step) error {
	if m.Dir {
		return nil
	}
	content, err := s.w.vault.Hash(m.From)
	if err != nil {
		return err
	}
	at := m.To
	for i := len(s.edits) - 1; i >= 0; i-- {
		e := &s.edits[i]
		if e.Kind != change.Move {
			continue
		}
		switch {
		case e.To == at && !e.Dir:
			e.Before, e.After = content, content
			at = e.Path
		case e.Dir && within(at, e.To):
			at = e.Path + at[len(e.To):]
		}
	}
	return nil
}

// mkdirs adds the folders that do not exist.
func (s *sequence) mkdirs(folder string) {
	if folder == "." || s.isFolder(folder) {
		return
	}
	s.mkdirs(path.Dir(folder))
	s.edits = append(s.edits, change.Edit{Kind: change.Mkdir, Path: folder})
}

// isFolder reports whether there is a folder after the edits so far.
func (s *sequence) isFolder(p string) bool {
	for i := len(s.edits) - 1; i >= 0; i-- {
		switch e := &s.edits[i]; {
		case e.Kind == change.Mkdir && e.Path == p:
			return true
		case e.Kind != change.Move || !e.Dir:
		case within(p, e.To):
			p = e.Path + p[len(e.To):]
		case within(p, e.Path):
			return false
		}
	}
	return s.w.isFolder(p)
}

func (w *world) isFolder(p string) bool {
	is, ok := w.vault.Folder(p)
	return ok && is == p
}
