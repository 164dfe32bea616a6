package git

import (
	"context"
	"sort"
	"strings"
)

// Staged is how the index differs from HEAD's tree, sorted by path: what a commit
// now would change. A rename is a deletion and an addition; an entry that is only
// to be added is not there; a path with a conflict is U.
func (r *Repo) Staged(ctx context.Context, head Head, ix *Index) ([]Change, error) {
	s := stager{ix: ix.Entries}
	if head.Commit != "" {
		o, err := r.objects()
		if err != nil {
			return nil, err
		}
		defer o.close()
		root, err := o.treeOf(head.Commit)
		if err != nil {
			return nil, err
		}
		same := func(path string, id oid) bool {
			got, ok := ix.trees[path]
			if ok = ok && got == id; ok {
				s.pass(path)
			}
			return ok
		}
		if all, ok := ix.trees[""]; ok && all == root {
			return nil, nil
		}
		w := walk{ctx: ctx, o: o, skip: same, file: func(path string, e treeEntry) error {
			s.file(path, e)
			return nil
		}}
		if err := w.tree(root, ""); err != nil {
			return nil, err
		}
	}
	s.added("")
	return s.changes, nil
}

// stager goes through the index beside a tree.
type stager struct {
	ix      []Entry
	changes []Change
}

// added reports the entries before a path, all for "", as added.
func (s *stager) added(before string) {
	for len(s.ix) > 0 && (before == "" || s.ix[0].Path < before) {
		s.one(Change{Path: s.ix[0].Path})
	}
}

// pass goes over a folder, which is the same on both sides.
func (s *stager) pass(folder string) {
	s.added(folder)
	end := sort.Search(len(s.ix), func(i int) bool { return !strings.HasPrefix(s.ix[i].Path, folder) })
	s.ix = s.ix[end:]
}

// file reports how the index has a file of the tree.
func (s *stager) file(path string, e treeEntry) {
	s.added(path)
	s.one(Change{Path: path, OldMode: e.mode, Old: e.id.id()})
}

// one completes a change by the entries of its path, and takes them.
func (s *stager) one(c Change) {
	for len(s.ix) > 0 && s.ix[0].Path == c.Path {
		switch e := s.ix[0]; {
		case e.Stage > 0:
			c.Status = 'U'
		case !e.IntentToAdd:
			c.NewMode, c.New = e.Mode, e.ID
		}
		s.ix = s.ix[1:]
	}
	if c.Status == 0 {
		c.Status = status(c)
	}
	if c.Status != 0 {
		s.changes = append(s.changes, c)
	}
}

// status is the letter for a change, 0 for none.
func status(c Change) byte {
	switch {
	case c.OldMode == c.NewMode && c.Old == c.New:
		return 0
	case c.OldMode == 0:
		return 'A'
	case c.NewMode == 0:
		return 'D'
	case c.OldMode&typeBits != c.NewMode&typeBits:
		return 'T'
	}
	return 'M'
}
