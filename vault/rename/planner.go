package rename

import (
	"bytes"
	"maps"
	"runtime"
	"slices"
	"sync"

	"vault-mcp/vault/change"
	"vault-mcp/vault/link"
	"vault-mcp/vault/settings"
)

// Planner plans moves. A plan is made a second time before it is carried out;
// then everything is read anew, and only in files that differ links are looked
// for again: as long as the same files move among the same paths, what becomes of a
// file hangs on nothing but its bytes. It is for one goroutine. The zero value is
// ready.
type Planner struct {
	moves  []Move
	moved  map[string]string
	over   map[string]bool
	after  *link.Index // with moved and over it tells what was before
	format settings.LinkFormat
	// known are the files that were respelled, by their paths before.
	known map[string]*followed
}

// followed is what becomes of one file.
type followed struct {
	file             file
	done             respelled
	ambiguous, alive int
	// edit is nil if the file stays as it is.
	edit *change.Edit
	err  error
}

// large is the size in bytes above which files are parsed one after the other,
// as some take many times their size in memory.
const large = 1 << 20

// follow respells the links of files: they are read one by one, and parsed on
// all processors.
func (p *Planner) follow(w *world, r *Result, moves []Move, paths []string) error {
	known := p.known
	if w.format != p.format || !slices.Equal(moves, p.moves) || !maps.Equal(w.moved, p.moved) || !maps.Equal(w.over, p.over) || !w.after.Equal(p.after) {
		known = nil
	}
	all := make([]*followed, len(paths))
	next := make(chan int)
	var workers sync.WaitGroup
	var one sync.Mutex
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		workers.Go(func() {
			for i := range next {
				if f := all[i]; len(f.file.text) > large {
					one.Lock()
					f.respell(w)
					one.Unlock()
				} else {
					f.respell(w)
				}
			}
		})
	}
	for i, path := range paths {
		f := &followed{}
		all[i] = f
		var text []byte
		if text, f.err = w.vault.Read(path); f.err != nil {
			break
		}
		if k := known[path]; k != nil && bytes.Equal(k.file.text, text) {
			all[i] = k
			continue
		}
		f.file = file{path: path, to: w.to(path), text: text}
		next <- i
	}
	close(next)
	workers.Wait()
	*p = Planner{moves: moves, moved: w.moved, over: w.over, after: w.after, format: w.format, known: map[string]*followed{}}
	for _, f := range all {
		if f == nil {
			break // behind one that cannot be read
		}
		if f.err != nil {
			return f.err
		}
		if w.back != nil {
			f.asWritten(w)
		} else if f.edit != nil { // the others are few, and would be kept only for this
			p.known[f.file.path] = f
		}
		r.Report.Ambiguous += f.ambiguous
		if f.alive > 0 {
			r.Report.Alive = append(r.Report.Alive, Count{f.file.to, f.alive})
		}
		r.take(f)
	}
	return nil
}

// respell works out what becomes of the file. It runs beside others.
func (f *followed) respell(w *world) {
	path := f.file.path
	f.done, f.err = f.file.respell(w, func(it *item) goal {
		if it.kind == linked && !w.touches(path, it.Target) {
			return goal{}
		}
		before, led := it.leadsTo(w.before, path)
		now, leads := it.leadsTo(w.after, f.file.to)
		if it.kind == folder {
			now, leads = before, led
		}
		if !led {
			if leads {
				f.alive++
			}
			return goal{}
		}
		after := w.to(before)
		if it.kind == folder {
			after = w.toFolder(before)
		}
		if leads && now == after {
			return goal{}
		}
		if before == after && path == f.file.to {
			f.ambiguous++
		}
		return goal{change: true, before: before, after: after, subpath: it.Subpath}
	})
	if f.err != nil {
		return
	}
	if f.edit = f.done.edit(&f.file); f.edit == nil {
		f.file.text, f.done.text = nil, nil
	}
}

// asWritten gives the file what it held before the change that is taken back.
func (f *followed) asWritten(w *world) {
	if f.done.links > 0 && len(f.done.left) == 0 {
		f.done.text = w.asWritten(&f.file, f.done.text)
		f.edit = f.done.edit(&f.file)
	}
}

// edit is what is done to a file; nil for nothing.
func (done *respelled) edit(f *file) *change.Edit {
	if done.links == 0 && bytes.Equal(done.text, f.text) {
		return nil
	}
	e := change.NewPut(f.to, f.text, done.text)
	e.Upkeep = f.path == f.to
	return &e
}

// take takes over what became of a file.
func (r *Result) take(f *followed) {
	r.Report.Left = append(r.Report.Left, f.done.left...)
	if f.edit == nil {
		return
	}
	if f.done.links > 0 {
		r.Report.Files = append(r.Report.Files, Count{f.file.to, f.done.links})
	}
	r.Edits = append(r.Edits, *f.edit)
}
