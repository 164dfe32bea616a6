package change

import (
	"sync"

	"vault-mcp/vault"
)

const (
	// aheadFiles and aheadBytes are how many temporary files are written at once,
	// and how much is read and written for them at most. While they are put in
	// their places, as many others are written; all their folders are open.
	aheadFiles = openPlaces / 2
	aheadBytes = 8 << 20
	// aheadWorkers is how many of them wait for the disk, which has many files in
	// hardly more time than one.
	aheadWorkers = 8
)

// batch are edits whose temporary files are being written.
type batch struct {
	n      int // the first edit
	edits  []Edit
	places []*touched
	was    []vault.Entry
	done   []bool
	failed []error
	all    sync.WaitGroup
}

// ahead waits for the temporary files of edit n and of those behind it, as far
// as they are puts and creates and none builds on what is not yet on the disk.
// The edits are then made one by one, with all their checks. A file that cannot
// be written fails the plan before any edit of its batch is made.
func (w *work) ahead(n int) error {
	if n < w.until {
		return nil
	}
	_, there := w.staged[n]
	if w.writing == nil && !there {
		w.begin(n, nil)
	}
	b := w.writing
	if b == nil { // or what was being written when the folders were closed
		w.until = n + 1
		return nil
	}
	w.collect()
	w.until = n + len(b.edits)
	for i, err := range b.failed {
		if err != nil {
			return failed(b.edits[i].Path, err)
		}
	}
	w.begin(w.until, b.edits)
	return nil
}

// collect waits for the batch that is being written.
func (w *work) collect() {
	b := w.writing
	if b == nil {
		return
	}
	b.all.Wait()
	w.writing = nil
	for i, written := range b.done {
		if written {
			w.staged[b.n+i] = b.was[i]
		}
	}
}

// begin begins to write the temporary files from edit n on. open are edits
// before them that were not made yet.
func (w *work) begin(n int, open []Edit) {
	edits := w.independent(n, open)
	if len(edits) < 2 {
		return
	}
	b := &batch{n: n, edits: edits, was: make([]vault.Entry, len(edits)), done: make([]bool, len(edits)), failed: make([]error, len(edits))}
	if b.places = w.open(edits); b.places == nil {
		return
	}
	next := make(chan int, len(edits))
	for i := range edits {
		next <- i
	}
	close(next)
	for range min(aheadWorkers, len(edits)) {
		b.all.Go(func() {
			for i := range next {
				b.was[i], b.done[i], b.failed[i] = prepare(&b.edits[i], w.temp(n+i), b.places[i])
			}
		})
	}
	w.writing = b
}

// independent are the edits from n on whose temporary files can be written now.
func (w *work) independent(n int, open []Edit) []Edit {
	size := 0
	paths := map[string]bool{}
	for i := range open {
		paths[open[i].Path] = true
	}
	end := min(n+aheadFiles, len(w.r.Edits))
	for i := n; i < end; i++ {
		e := &w.r.Edits[i]
		size += len(e.Content) + len(e.Old)
		_, there := w.staged[i]
		if there || e.Kind != Put && e.Kind != Create || size > aheadBytes || paths[e.Path] || w.builds(e) {
			return w.r.Edits[n:i]
		}
		paths[e.Path] = true
	}
	return w.r.Edits[min(n, end):end]
}

// open opens the folders of edits, all of which stay open; nil if one cannot be
// opened, for a reason that its edit will tell.
func (w *work) open(edits []Edit) []*touched {
	missing := map[string]bool{}
	for i := range edits {
		if dir, _ := split(edits[i].Path); w.places[dir] == nil {
			missing[dir] = true
		}
	}
	if len(w.places)+len(missing) > openPlaces {
		if w.sync() != nil {
			return nil
		}
		w.close()
	}
	places := make([]*touched, len(edits))
	for i := range edits {
		dir, _ := split(edits[i].Path)
		p, err := w.place(dir)
		if err != nil {
			return nil
		}
		p.dirty = true
		places[i] = p
	}
	return places
}

// prepare writes the temporary file of an edit, unless the edit cannot be made
// as the vault is: that is for the edit to say. It runs beside others.
func prepare(e *Edit, temp string, p Place) (was vault.Entry, written bool, err error) {
	if e.Kind == Create {
		err = p.Write(temp, e.Content, e.Mode, "")
		return was, err == nil, err
	}
	_, name := split(e.Path)
	f, err := look(p, name)
	if err != nil || !f.exists || !f.entry.Regular || f.content != e.Before {
		return was, false, nil
	}
	if err := marked(f.entry); err != nil {
		return was, false, err
	}
	err = p.Write(temp, e.Content, f.entry.Mode, name)
	return f.entry, err == nil, err
}

// ready reports whether the temporary file of edit n is there; of a put, also
// whether the file that it replaces is the one that was looked at.
func (w *work) ready(n int, p Place, name string) (bool, error) {
	was, ok := w.staged[n]
	if !ok {
		return false, nil
	}
	delete(w.staged, n)
	if w.r.Edits[n].Kind == Create {
		return true, nil
	}
	if is, err := p.Stat(name); err == nil && is == was {
		return true, nil
	}
	return false, p.Remove(w.temp(n))
}

// unstage removes the temporary files of edits that will not be made.
func (w *work) unstage() error {
	w.collect()
	if len(w.staged) == 0 {
		return nil
	}
	for n := range w.staged {
		dir, _ := split(w.r.Edits[n].Path)
		p, err := w.place(dir)
		if err != nil {
			return err
		}
		p.dirty = true
		if err := p.Remove(w.temp(n)); err != nil {
			return err
		}
		delete(w.staged, n)
	}
	return w.sync()
}
