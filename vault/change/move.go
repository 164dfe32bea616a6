package change

import (
	"errors"
	"io/fs"

	"vault-mcp/vault"
)

// move gives a file or folder another path, and never takes the place of
// anything.
func (w *work) move(n int, from, to string, e *Edit) error {
	if e.Dir {
		if err := w.sync(); err != nil {
			return err
		}
		w.close() // folders below it are somewhere else afterwards
	}
	fromDir, name := split(from)
	toDir, as := split(to)
	p, q, err := w.both(fromDir, toDir)
	if err != nil {
		return err
	}
	was, err := look(p, name)
	if err != nil {
		return err
	}
	if !was.exists || was.entry.Dir != e.Dir || was.content != e.Before {
		return modified(from)
	}
	p.dirty, q.dirty = true, true
	if fromDir == toDir && vault.FoldName(name) == vault.FoldName(as) {
		// On some file systems the new name is the old file.
		if err := p.Move(name, p.Place, w.temp(n)); err != nil {
			return err
		}
		w.reached = n + 1
		if err := p.Move(w.temp(n), p.Place, as); err != nil {
			if back := p.Move(w.temp(n), p.Place, name); back != nil {
				return back
			}
			w.reached = n
			return occupied(to, err)
		}
		return nil
	}
	err = p.Move(name, q.Place, as)
	if errors.Is(err, vault.ErrUnsupported) && !e.Dir && was.bytes != nil {
		return w.copyOver(n, p, q, name, as, from, to, was)
	}
	if err != nil {
		return occupied(to, err)
	}
	w.reached = n + 1
	if e.Dir {
		return nil
	}
	now, err := look(q, as)
	if err == nil && now.content != e.Before { // saved in between
		err = modified(from)
	}
	if err != nil {
		if back := q.Move(as, p.Place, name); back != nil {
			return errors.Join(err, back)
		}
		w.reached = n
	}
	return err
}

func occupied(path string, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return taken(path)
	}
	return err
}

// copyOver moves a file to another device.
func (w *work) copyOver(n int, p, q *touched, name, as, from, to string, was found) error {
	if err := q.Write(w.temp(n), was.bytes, was.entry.Mode, ""); err != nil {
		return err
	}
	if err := q.Move(w.temp(n), q.Place, as); err != nil {
		_ = q.Remove(w.temp(n))
		return occupied(to, err)
	}
	if err := q.Sync(); err != nil {
		return err
	}
	now, err := look(p, name)
	if err == nil && now.content != was.content {
		err = modified(from)
	}
	if err == nil {
		err = p.Remove(name)
	}
	if err != nil {
		return errors.Join(err, q.Remove(as))
	}
	return nil
}
