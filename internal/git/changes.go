package git

import (
	"context"
	"fmt"
	"strings"
)

// Changes is how the tree of one commit differs from that of another, sorted by
// path; "" stands for an empty tree. A file that is gone and one that appeared are
// a rename if they hold the same, or much the same.
func (r *Repo) Changes(ctx context.Context, from, to ID) ([]Change, error) {
	o, err := r.objects()
	if err != nil {
		return nil, err
	}
	defer o.close()
	trees := [2]oid{emptyTree, emptyTree}
	for i, id := range []ID{from, to} {
		if id == "" {
			continue
		}
		if trees[i], err = o.treeOf(id); err != nil {
			return nil, err
		}
	}
	changes, err := o.changes(ctx, trees[0], trees[1])
	if err != nil {
		return nil, err
	}
	return o.renames(ctx, changes, "")
}

// changes compares two trees, without renames.
func (o *objects) changes(ctx context.Context, from, to oid) ([]Change, error) {
	d := differ{ctx: ctx, o: o}
	if err := d.trees(from, to, ""); err != nil {
		return nil, err
	}
	return d.out, nil
}

type differ struct {
	ctx context.Context
	o   *objects
	out []Change
}

// trees compares two folders, whose path with a slash at its end is prefix.
func (d *differ) trees(from, to oid, prefix string) error {
	if from == to {
		return nil
	}
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if len(d.out) > maxTreeFiles || len(prefix) > 1<<16 {
		return fmt.Errorf("more than %d files differ", maxTreeFiles)
	}
	a, err := d.o.tree(from)
	if err != nil {
		return err
	}
	b, err := d.o.tree(to)
	if err != nil {
		return err
	}
	var x, y treeEntry // the heads of both, "" where one is to be read
	for len(a) > 0 || len(b) > 0 || x.name != "" || y.name != "" {
		if x.name == "" && len(a) > 0 {
			if x, a, err = nextEntry(a); err != nil {
				return err
			}
		}
		if y.name == "" && len(b) > 0 {
			if y, b, err = nextEntry(b); err != nil {
				return err
			}
		}
		order := compareNames(x, y)
		var before, after treeEntry
		if order <= 0 {
			before, x = x, treeEntry{}
		}
		if order >= 0 {
			after, y = y, treeEntry{}
		}
		if err := d.pair(before, after, prefix); err != nil {
			return err
		}
	}
	return nil
}

// compareNames orders two entries as trees do, where a folder's name ends with a
// slash; one that is not there comes last.
func compareNames(x, y treeEntry) int {
	switch {
	case x.name == "":
		return 1
	case y.name == "":
		return -1
	}
	return strings.Compare(sortName(x), sortName(y))
}

func sortName(e treeEntry) string {
	if e.mode == treeMode {
		return e.name + "/"
	}
	return e.name
}

// pair reports how one entry became another. Both are folders or files of one name;
// one of them may not be there.
func (d *differ) pair(before, after treeEntry, prefix string) error {
	path := prefix + before.name
	if before.name == "" {
		path = prefix + after.name
	}
	if before.mode == treeMode || after.mode == treeMode {
		from, to := emptyTree, emptyTree
		if before.name != "" {
			from = before.id
		}
		if after.name != "" {
			to = after.id
		}
		return d.trees(from, to, path+"/")
	}
	if c := change(path, before, after); c.Status != 0 {
		d.out = append(d.out, c)
	}
	return nil
}

// change is how one entry became another; either may be none, with mode 0.
func change(path string, before, after treeEntry) Change {
	c := Change{Path: path, OldMode: before.mode, NewMode: after.mode}
	if before.mode != 0 {
		c.Old = before.id.id()
	}
	if after.mode != 0 {
		c.New = after.id.id()
	}
	c.Status = status(c)
	return c
}
