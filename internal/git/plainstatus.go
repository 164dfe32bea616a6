package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// statusAlone is Status without the git program.
func (r *Repo) statusAlone(ctx context.Context) (*Status, error) {
	a, err := r.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer a.close()
	head, err := r.Head()
	if err != nil {
		return nil, err
	}
	s := &Status{Head: head}
	staged, err := r.Staged(ctx, head, a.ix)
	if err != nil {
		return nil, err
	}
	// A rename from elsewhere is an addition here, as where git looks at a folder.
	staged = slices.DeleteFunc(staged, func(c Change) bool { return !strings.HasPrefix(c.Path, r.Prefix) })
	if staged, err = a.o.renames(ctx, staged, ""); err != nil {
		return nil, err
	}
	work, err := a.look(ctx, r.Prefix, true)
	if err != nil {
		return nil, err
	}
	paths := map[string]*PathStatus{}
	at := func(path string) *PathStatus {
		p := paths[path]
		if p == nil {
			p = &PathStatus{Path: path, Staged: '.', Work: '.'}
			paths[path] = p
		}
		return p
	}
	for _, c := range staged {
		if c.Status == 'U' {
			at(c.Path).Conflict = a.ix.conflict(c.Path)
			continue
		}
		if c.OldMode == submoduleMode || c.NewMode == submoduleMode {
			continue
		}
		p := at(c.Path)
		p.Staged, p.From = c.Status, c.From
	}
	for _, c := range work.changes {
		at(c.Path).Work = c.Status
	}
	for _, p := range paths {
		s.Paths = append(s.Paths, *p)
	}
	slices.SortFunc(s.Paths, func(p, q PathStatus) int { return strings.Compare(p.Path, q.Path) })
	for _, path := range work.untracked {
		s.Paths = append(s.Paths, PathStatus{Path: path, Staged: '.', Work: '.', Untracked: true})
	}
	return s, a.upstream(ctx, s)
}

// conflict is what the two sides of a merge did to a path.
func (ix *Index) conflict(path string) string {
	have := ""
	for _, e := range ix.At(path) {
		have += fmt.Sprint(e.Stage)
	}
	return conflicts[map[string]string{"1": "DD", "2": "AU", "12": "UD", "3": "UA", "13": "DU", "23": "AA", "123": "UU"}[have]]
}

// upstream finds the branch that this one follows, and how far they are apart.
func (a *alone) upstream(ctx context.Context, s *Status) error {
	branch, ok := strings.CutPrefix(s.Head.Ref, "refs/heads/")
	if !ok {
		return nil
	}
	remote, set, err := a.option("branch." + branch + ".remote")
	if err != nil || !set {
		return err
	}
	merge, set, err := a.option("branch." + branch + ".merge")
	name, ok := strings.CutPrefix(merge.value, "refs/heads/")
	if err != nil || !set || !ok {
		return err
	}
	ref := merge.value
	if s.Upstream = name; remote.value != "." {
		fetch, set, err := a.option("remote." + remote.value + ".fetch")
		to, usual := strings.CutPrefix(strings.TrimPrefix(fetch.value, "+"), "refs/heads/*:refs/remotes/")
		if to, ok = strings.CutSuffix(to, "/*"); err != nil || !set || !usual || !ok {
			s.Upstream = ""
			return err
		}
		s.Upstream = to + "/" + name
		ref = "refs/remotes/" + s.Upstream
	}
	other, err := a.r.ref(ref)
	if err != nil || other == "" || s.Head.Commit == "" {
		return err
	}
	ours, whole, err := a.history(ctx, s.Head.Commit, other)
	if err != nil || !whole {
		return err
	}
	theirs, whole, err := a.history(ctx, other, s.Head.Commit)
	if err != nil || !whole {
		return err
	}
	s.Compared = true
	s.Ahead, s.Behind = missingIn(ours, theirs), missingIn(theirs, ours)
	return nil
}

// maxCounted is how many commits are counted of each branch; of more, how far they
// are apart is not told.
const maxCounted = 20_000

// history are a commit and what came before it, unless that is too much.
func (a *alone) history(ctx context.Context, from, other ID) (map[ID]bool, bool, error) {
	seen := map[ID]bool{}
	if from == other {
		return seen, true, nil
	}
	err := a.r.Log(ctx, LogOptions{From: from}, func(l Logged) error {
		if seen[l.ID] = true; len(seen) > maxCounted {
			return fs.SkipAll
		}
		return nil
	})
	if e, ok := errors.AsType[*RefusedError](err); ok && e.Kind == "missing" {
		return nil, false, nil
	}
	return seen, len(seen) <= maxCounted, err
}

func missingIn(a, b map[ID]bool) int {
	n := 0
	for id := range a {
		if !b[id] {
			n++
		}
	}
	return n
}
