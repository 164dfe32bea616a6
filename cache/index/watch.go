package index

import (
	"errors"
	"maps"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long no event has to come before the files are read, and
	// longest how long the first event waits at most: editors write a file in
	// several steps.
	quiet   = 75 * time.Millisecond
	longest = 500 * time.Millisecond
	// maxEvents is how many files are read one by one. With more, all files are
	// compared.
	maxEvents = 2000
	// maxOpened is how many files there may be where a watch keeps each open.
	maxOpened = 2000
)

// batch is what a watcher has seen in a moment.
type batch struct {
	// paths have the time when something was last seen to have happened before.
	paths map[string]time.Time
	// all is set if events were lost, or are too many.
	all bool
}

// watcher reports files and folders of the vault where something happened.
type watcher struct {
	fs   *fsnotify.Watcher
	root string
	out  chan batch
	stop chan struct{}
	done sync.WaitGroup

	mu      sync.Mutex
	dirs    map[string]bool
	limited string // why folders are not watched, if some are not
}

// newWatcher watches nothing until add is called. root is the vault's folder.
func newWatcher(root string) (*watcher, error) {
	fs, err := fsnotify.NewBufferedWatcher(1024)
	if err != nil {
		return nil, err
	}
	w := &watcher{fs: fs, root: root, out: make(chan batch), stop: make(chan struct{}), dirs: map[string]bool{}}
	w.done.Go(w.run)
	return w, nil
}

// opensFiles reports whether watching a folder keeps its files open.
func opensFiles() bool {
	switch runtime.GOOS {
	case "darwin", "freebsd", "openbsd", "netbsd", "dragonfly":
		return true
	}
	return false
}

func (w *watcher) close() {
	close(w.stop)
	w.fs.Close()
	w.done.Wait()
}

// add watches a folder of the vault, but none below it.
func (w *watcher) add(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirs[dir] || w.limited != "" {
		return
	}
	err := w.fs.Add(filepath.Join(w.root, filepath.FromSlash(dir)))
	switch {
	case err == nil:
		w.dirs[dir] = true
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		w.limited = "the system's limit of watched folders is reached"
	}
}

// watches reports whether a folder is watched.
func (w *watcher) watches(dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dirs[dir]
}

// drop ends the watches of a folder and all below it. A folder that moved keeps
// its watches, which would go on to report the old path.
func (w *watcher) drop(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for d := range w.dirs {
		if within(d, dir) {
			delete(w.dirs, d)
			w.fs.Remove(filepath.Join(w.root, filepath.FromSlash(d)))
		}
	}
}

// problem is why not every folder is watched, or "".
func (w *watcher) problem() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limited
}

// run gathers events until nothing comes for a moment.
func (w *watcher) run() {
	paths := map[string]time.Time{}
	var first time.Time
	var all bool
	var out chan batch
	var ready batch
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-w.fs.Events:
			if !ok {
				return
			}
			path, of := w.path(e)
			if !of {
				continue
			}
			if len(paths) == 0 && !all {
				first = time.Now()
			}
			if paths[path] = time.Now(); len(paths) > maxEvents {
				all = true
				clear(paths)
			}
			out = nil
			timer.Reset(max(0, min(quiet, longest-time.Since(first))))
		case err, ok := <-w.fs.Errors:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				all, out = true, nil
				timer.Reset(quiet)
			}
		case <-timer.C:
			out, ready = w.out, batch{maps.Clone(paths), all}
		case out <- ready:
			clear(paths)
			all, out = false, nil
		case <-w.stop:
			return
		}
	}
}

// path is the path of the vault that an event is about, if it is of any.
func (w *watcher) path(e fsnotify.Event) (string, bool) {
	if e.Op == fsnotify.Chmod && opensFiles() {
		return "", false // the search of the system touches files all day
	}
	rel, err := filepath.Rel(w.root, e.Name)
	if err != nil {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	for name := range strings.SplitSeq(rel, "/") {
		if strings.HasPrefix(name, ".") { // also the root itself, and what is outside
			return "", false
		}
	}
	return rel, true
}
