package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"vault-mcp/vault"
)

// openPlaces is how many folders are kept open at once.
const openPlaces = 64

// work is the applying of one record, or its recovery.
type work struct {
	disk Disk
	// keep keeps what somebody else saved in the wrong moment.
	keep   func(path string, content []byte) error
	r      *Record
	places map[string]*touched
	// reached is how many edits have done something that can be seen.
	reached int
	// staged are the edits whose temporary files were written ahead, with what is
	// to be replaced; up to until, that was tried. writing are the next ones.
	staged  map[int]vault.Entry
	until   int
	writing *batch
	// paths are those that edits were about which may not be on the disk yet, and
	// moved is set if a folder was moved among them.
	paths map[string]bool
	moved bool
}

// touched is an open folder, and whether something in it is not yet on the disk.
type touched struct {
	Place
	dirty bool
}

func (a *Applier) newWork(r *Record) *work {
	return &work{
		disk: a.Disk, r: r, places: map[string]*touched{}, staged: map[int]vault.Entry{}, paths: map[string]bool{},
		keep: func(path string, content []byte) error {
			return a.Journal.Keep(context.Background(), path, content, a.Now())
		},
	}
}

// temp is the name beside a file under which edit n works. What is there after
// a crash is ours.
func (w *work) temp(n int) string { return fmt.Sprintf("%s%d", w.prefix(), n) }

func (w *work) prefix() string { return TempPrefix + w.r.ID + "-" }

// TempPrefix begins the names of files that are there only while a change is
// being made. They begin with a dot, so they are no part of the vault.
const TempPrefix = ".vault-mcp-"

// place opens a folder, or has it open.
func (w *work) place(dir string) (*touched, error) {
	if p := w.places[dir]; p != nil {
		return p, nil
	}
	if len(w.places) >= openPlaces {
		if err := w.sync(); err != nil {
			return nil, err
		}
		w.close()
	}
	p, err := w.disk.Place(dir)
	if err != nil {
		return nil, err
	}
	t := &touched{Place: p}
	w.places[dir] = t
	return t, nil
}

// sync puts on the disk what was done to entries, in all folders at once.
func (w *work) sync() error {
	var dirty []*touched
	for _, dir := range slices.Sorted(maps.Keys(w.places)) {
		if p := w.places[dir]; p.dirty {
			dirty = append(dirty, p)
		}
	}
	failed := make([]error, len(dirty))
	var all sync.WaitGroup
	for i, p := range dirty {
		all.Go(func() {
			if failed[i] = p.Sync(); failed[i] == nil {
				p.dirty = false
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// close closes all folders; what was done in them is not thereby on the disk.
func (w *work) close() {
	w.collect()
	for dir, p := range w.places {
		p.Close()
		delete(w.places, dir)
	}
}

// run makes all edits and puts them on the disk.
func (w *work) run(stop <-chan struct{}) error {
	for i := range w.r.Edits {
		select {
		case <-stop:
			return ErrStopped
		default:
		}
		e := &w.r.Edits[i]
		if err := w.ordered(e); err != nil {
			return failed(e.Path, err)
		}
		if err := w.ahead(i); err != nil {
			return err
		}
		if err := w.edit(i, e); err != nil {
			return failed(e.Path, err)
		}
		w.reached = i + 1
		w.paths[e.Path], w.paths[e.To] = true, true
		w.moved = w.moved || e.Kind == Move && e.Dir
	}
	if err := w.sync(); err != nil {
		return failed(w.r.Edits[0].Path, err)
	}
	return nil
}

// builds reports whether an edit is about a path that an earlier edit was about
// which may not be on the disk yet.
func (w *work) builds(e *Edit) bool {
	return w.moved || w.paths[e.Path] || e.To != "" && w.paths[e.To]
}

// ordered puts on the disk what came before, if an edit builds on it: after a
// power cut such edits must not be there without those that they build on.
func (w *work) ordered(e *Edit) error {
	if !w.builds(e) {
		return nil
	}
	if err := w.sync(); err != nil {
		return err
	}
	if w.moved || e.Kind == Move && e.Dir {
		w.close() // a folder may be somewhere else now
	}
	clear(w.paths)
	w.moved = false
	return nil
}

func (w *work) edit(n int, e *Edit) error {
	switch e.Kind {
	case Put:
		return w.put(n, e)
	case Create:
		return w.create(n, e.Path, e.Content, e.Mode)
	case Move:
		return w.move(n, e.Path, e.To, e)
	case Remove:
		return w.remove(n, e)
	case Mkdir:
		return w.mkdir(e.Path)
	}
	return fmt.Errorf("an edit of kind %d", e.Kind)
}

// put replaces a file's content.
func (w *work) put(n int, e *Edit) error {
	dir, name := split(e.Path)
	p, err := w.place(dir)
	if err != nil {
		return err
	}
	if is, err := p.Stat(name); err == nil && marked(is) != nil {
		return errMarked
	}
	return w.replace(n, e.Path, e)
}

// replace writes e.Content in the place of e.Before, and of nothing else: what
// another program saved in between is put back.
func (w *work) replace(n int, path string, e *Edit) error {
	dir, name := split(path)
	p, err := w.place(dir)
	if err != nil {
		return err
	}
	temp := w.temp(n)
	p.dirty = true
	ready, err := w.ready(n, p, name)
	if err != nil {
		return err
	}
	if !ready {
		was, err := look(p, name)
		if err != nil {
			return err
		}
		if !was.exists || !was.entry.Regular || was.content != e.Before {
			return modified(path)
		}
		if err := p.Write(temp, e.Content, was.entry.Mode, name); err != nil {
			return err
		}
	}
	err = p.Swap(temp, name)
	if errors.Is(err, vault.ErrUnsupported) {
		return w.replaceInSteps(n, p, path, temp, e)
	}
	if err != nil {
		_ = p.Remove(temp)
		return err
	}
	// What was replaced is under the temporary name.
	w.reached = n + 1
	kept, err := look(p, temp)
	if err == nil && kept.content == e.Before {
		if again, err := p.Stat(temp); err == nil && (again.Size != kept.entry.Size || !again.ModTime.Equal(kept.entry.ModTime)) {
			kept.content = OfLarge(again) // written while it was read
		}
	}
	if err == nil && kept.content == e.Before {
		return p.Remove(temp)
	}
	// Somebody saved in between: what they saved goes back.
	if back := p.Swap(temp, name); back != nil {
		return back
	}
	// Saved once more in between: that save is the newer one.
	if ours, e2 := look(p, temp); e2 == nil && ours.exists && ours.content != e.After {
		if back := p.Swap(temp, name); back != nil {
			return back
		}
	}
	w.reached = n
	_ = p.Remove(temp)
	// It is kept as well: for a moment our text could be read in its place, and
	// saved again without it.
	if err == nil && kept.bytes != nil {
		err = w.keep(path, kept.bytes)
	}
	if err != nil {
		return err
	}
	return modified(path)
}

// replaceInSteps is for file systems that cannot exchange two names. With hard
// links the old file keeps a second name until it was looked at once more; a
// save by renaming between that and the replacing is the named residual.
// Without them the file is looked at just before.
func (w *work) replaceInSteps(n int, p *touched, path, temp string, e *Edit) error {
	_, name := split(path)
	kept := temp + "k"
	linked := true
	if err := p.Link(name, kept); errors.Is(err, vault.ErrUnsupported) {
		linked = false
	} else if err != nil {
		_ = p.Remove(temp)
		return err
	}
	was, err := look(p, name)
	if err == nil && was.content != e.Before {
		err = modified(path)
	}
	if err == nil {
		err = p.Replace(temp, name)
	}
	if err != nil {
		_ = p.Remove(temp)
		if linked {
			_ = p.Remove(kept)
		}
		return err
	}
	w.reached = n + 1
	if !linked {
		return nil
	}
	old, err := look(p, kept)
	if err == nil && old.content == e.Before {
		return p.Remove(kept)
	}
	if back := p.Replace(kept, name); back != nil {
		return back
	}
	w.reached = n
	if err == nil && old.bytes != nil {
		err = w.keep(path, old.bytes)
	}
	if err != nil {
		return err
	}
	return modified(path)
}

// create writes a new file.
func (w *work) create(n int, path string, content []byte, mode fs.FileMode) error {
	dir, name := split(path)
	p, err := w.place(dir)
	if err != nil {
		return err
	}
	temp := w.temp(n)
	p.dirty = true
	ready, err := w.ready(n, p, name)
	if err == nil && !ready {
		err = p.Write(temp, content, mode, "")
	}
	if err != nil {
		return err
	}
	if err := p.Move(temp, p.Place, name); err != nil {
		_ = p.Remove(temp)
		if errors.Is(err, fs.ErrExist) {
			return taken(path)
		}
		return err
	}
	return nil
}

// remove takes a file or an empty folder away.
func (w *work) remove(n int, e *Edit) error {
	if e.To != "" {
		return w.move(n, e.Path, e.To, e)
	}
	dir, name := split(e.Path)
	if e.Dir {
		if err := w.sync(); err != nil {
			return err
		}
		w.close()
		p, err := w.place(dir)
		if err != nil {
			return err
		}
		p.dirty = true
		return p.RemoveDir(name)
	}
	p, q, err := w.both(dir, w.shelter(n))
	if err != nil {
		return err
	}
	was, err := look(p, name)
	if err != nil {
		return err
	}
	if !was.exists || !was.entry.Regular || was.content != e.Before {
		return modified(e.Path)
	}
	// Out of sight first: as long as anything may fail it can come back.
	p.dirty, q.dirty = true, true
	if err := p.Move(name, q.Place, w.temp(n)); err != nil {
		return err
	}
	w.reached = n + 1
	now, err := look(q, w.temp(n))
	if err == nil && now.content != e.Before {
		err = modified(e.Path)
	}
	if err != nil {
		if back := q.Move(w.temp(n), p.Place, name); back != nil {
			return errors.Join(err, back)
		}
		w.reached = n
	}
	return err
}

// shelter is the folder where a file that is removed for good waits: its own,
// or the nearest one above that the plan does not remove as well.
func (w *work) shelter(n int) string {
	dir, _ := split(w.r.Edits[n].Path)
	for i := n; i < len(w.r.Edits); i++ {
		if e := &w.r.Edits[i]; e.Kind == Remove && e.Dir && e.To == "" && e.Path == dir {
			dir, _ = split(dir)
			i = n
		}
	}
	return dir
}

// both opens two folders.
func (w *work) both(a, b string) (p, q *touched, err error) {
	if _, err := w.place(b); err != nil {
		return nil, nil, err
	}
	if p, err = w.place(a); err != nil {
		return nil, nil, err
	}
	q, err = w.place(b) // again, as opening a may have closed all others
	return p, q, err
}

func (w *work) mkdir(path string) error {
	dir, name := split(path)
	p, err := w.place(dir)
	if err != nil {
		return err
	}
	p.dirty = true
	return occupied(path, p.Mkdir(name))
}

// drop removes what was kept of files that are removed for good. After it there
// is no way back.
func (w *work) drop() error {
	for n := range w.r.Edits {
		e := &w.r.Edits[n]
		if e.Kind != Remove || e.To != "" || e.Dir {
			continue
		}
		p, err := w.place(w.shelter(n))
		if err != nil {
			return err
		}
		if err := p.Remove(w.temp(n)); err == nil {
			p.dirty = true
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return w.sync()
}
