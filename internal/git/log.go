package git

import (
	"container/heap"
	"context"
	"errors"
	"io/fs"
)

// LogOptions say which commits are wanted.
type LogOptions struct {
	// From is the commit to begin at; "" gives none.
	From ID
	// Path, if not "", leaves those that changed this file, under its earlier names
	// too, or this folder.
	Path string
}

// Logged is one commit of a log.
type Logged struct {
	Commit
	// Change is what became of the path against the first parent, which may be
	// nothing in a merge; it is empty in a log without a path.
	Change Change
	// Changes are all changes against the first parent, for a root commit all files.
	// It may only be called while the commit is visited.
	Changes func() ([]Change, error)
}

// Log visits commits and what came before them, newest first by the time of their
// commit. A file is followed through renames, found at the commit where it appears.
// An error of visit ends it and is returned; fs.SkipAll ends it without one. It
// keeps the names of the commits that it has seen, and no more.
func (r *Repo) Log(ctx context.Context, o LogOptions, visit func(Logged) error) error {
	if o.From == "" {
		return nil
	}
	objs, err := r.objects()
	if err != nil {
		return err
	}
	defer objs.close()
	from, err := wantOID(o.From)
	if err != nil {
		return err
	}
	l := &logger{ctx: ctx, o: objs, visit: visit, seen: map[followed]bool{}}
	c, err := objs.commit(from)
	if err != nil {
		return err
	}
	if err := l.push(c, o.Path, nil); err != nil {
		return err
	}
	for l.Len() > 0 && err == nil {
		if err = ctx.Err(); err == nil {
			err = l.next(heap.Pop(l).(waiting))
		}
	}
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// followed is a commit in the history of a path.
type followed struct {
	id   oid
	path string
}

// waiting is a commit that is to be visited.
type waiting struct {
	commit Commit
	path   string
	// way leads to the path in the commit's tree.
	way []treeEntry
	// turn keeps commits of the same second in the order they were found.
	turn int
}

// logger is a heap of commits, the newest first.
type logger struct {
	ctx   context.Context
	o     *objects
	visit func(Logged) error
	seen  map[followed]bool
	heap  []waiting
	turns int
}

func (l *logger) Len() int { return len(l.heap) }
func (l *logger) Less(i, j int) bool {
	a, b := l.heap[i], l.heap[j]
	if x, y := a.commit.Committer.When, b.commit.Committer.When; !x.Equal(y) {
		return x.After(y)
	}
	return a.turn < b.turn
}
func (l *logger) Swap(i, j int) { l.heap[i], l.heap[j] = l.heap[j], l.heap[i] }
func (l *logger) Push(w any)    { l.heap = append(l.heap, w.(waiting)) }
func (l *logger) Pop() any {
	last := len(l.heap) - 1
	w := l.heap[last]
	l.heap[last] = waiting{}
	l.heap = l.heap[:last]
	return w
}

// push puts a commit on the heap unless it was there. Without a way it looks for it.
func (l *logger) push(c Commit, path string, way []treeEntry) error {
	id, err := wantOID(c.ID)
	if err != nil {
		return err
	}
	if l.seen[followed{id, path}] {
		return nil
	}
	l.seen[followed{id, path}] = true
	if path != "" && way == nil {
		if way, err = l.way(c, path, nil); err != nil {
			return err
		}
	}
	l.turns++
	heap.Push(l, waiting{c, path, way, l.turns})
	return nil
}

func (l *logger) way(c Commit, path string, like []treeEntry) ([]treeEntry, error) {
	root, err := wantOID(c.Tree)
	if err != nil {
		return nil, err
	}
	return l.o.chain(root, path, like)
}

// next visits a commit, if it is wanted, and puts its parents on the heap.
func (l *logger) next(w waiting) error {
	parents := make([]Commit, len(w.commit.Parents))
	for i, p := range w.commit.Parents {
		id, err := wantOID(p)
		if err != nil {
			return err
		}
		if parents[i], err = l.o.commit(id); err != nil {
			return err
		}
	}
	logged := Logged{Commit: w.commit, Changes: func() ([]Change, error) { return l.changes(w.commit, parents, "") }}
	if w.path != "" {
		return l.follow(w, parents, logged)
	}
	if err := l.visit(logged); err != nil {
		return err
	}
	for _, p := range parents {
		if err := l.push(p, "", nil); err != nil {
			return err
		}
	}
	return nil
}

// changes are those of a commit against its first parent. With a path, a rename is
// only looked for to it.
func (l *logger) changes(c Commit, parents []Commit, only string) ([]Change, error) {
	before := emptyTree
	to, err := wantOID(c.Tree)
	if err == nil && len(parents) > 0 {
		before, err = wantOID(parents[0].Tree)
	}
	if err != nil {
		return nil, err
	}
	all, err := l.o.changes(l.ctx, before, to)
	if err != nil {
		return nil, err
	}
	return l.o.renames(l.ctx, all, only)
}

// follow goes on with a path: along the parent that has it the same, if one does;
// else the commit changed it, and each parent is followed by the name it had there.
func (l *logger) follow(w waiting, parents []Commit, logged Logged) error {
	here := end(w.way, w.path)
	ways := make([][]treeEntry, len(parents))
	for i, p := range parents {
		way, err := l.way(p, w.path, w.way)
		if err != nil {
			return err
		}
		if there := end(way, w.path); there.id == here.id && there.mode == here.mode {
			return l.push(p, w.path, way)
		}
		ways[i] = way
	}
	if len(parents) == 0 && here.mode == 0 {
		return nil
	}
	names := make([]string, len(parents))
	for i := range parents {
		names[i] = w.path
		there := end(ways[i], w.path)
		c := change(w.path, there, here)
		if c.Status == 'A' && here.mode != treeMode {
			found, err := l.changes(w.commit, parents[i:i+1], w.path)
			if err != nil {
				return err
			}
			for _, f := range found {
				if f.Path == w.path && f.Status == 'R' {
					c, names[i] = f, f.From
					ways[i] = nil
				}
			}
		}
		if i == 0 {
			logged.Change = c
		}
	}
	if len(parents) == 0 {
		logged.Change = change(w.path, treeEntry{}, here)
	}
	if err := l.visit(logged); err != nil {
		return err
	}
	for i, p := range parents {
		if err := l.push(p, names[i], ways[i]); err != nil {
			return err
		}
	}
	return nil
}
