package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// commitAlone is Commit without the git program.
func (h *Held) commitAlone(ctx context.Context, c *Committed, message string, intend func(tree, parent, commit ID) error) error {
	r := h.r
	ix, head, err := h.ready()
	if err != nil {
		return err
	}
	a, err := r.alone(ix)
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.committable(head); err != nil {
		return err
	}
	now := time.Now()
	author, err := a.person("author", now)
	if err != nil {
		return err
	}
	committer, err := a.person("committer", now)
	if err != nil {
		return err
	}
	root, err := a.writeTree(ctx)
	if err != nil {
		return err
	}
	r.step("tree")
	before := emptyTree
	if head.Commit != "" {
		if before, err = a.o.treeOf(head.Commit); err != nil {
			return err
		}
	}
	if root == before {
		return refused("nothing", "Nothing is staged.")
	}
	c.Ref, c.Tree, c.Parent = head.Ref, root.id(), head.Commit
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	if c.Parent != "" {
		fmt.Fprintf(&b, "parent %s\n", c.Parent)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", author, committer, message)
	id, err := a.store(plumbing.CommitObject, []byte(b.String()))
	if err != nil {
		return err
	}
	c.ID = id.id()
	r.step("commit")
	if err := intend(c.Tree, c.Parent, c.ID); err != nil {
		return err
	}
	r.step("intended")
	return h.moveAlone(a, *c, committer)
}

// committable refuses what a commit would do otherwise than git's.
func (a *alone) committable(head Head) error {
	if a.r.o.Hooks {
		return refused("hooks", "git.hooks is on, and hooks run with the git program alone: install it, or set git.hooks to false.")
	}
	sign, err := a.on("commit.gpgsign", false)
	if err != nil {
		return err
	}
	if sign {
		return refused("signing", "Commits are signed here (commit.gpgSign), which needs the git program.")
	}
	if err := a.writable(); err != nil {
		return err
	}
	if head.Ref == "" {
		return nil
	}
	target, _, err := a.r.rawRef(head.Ref)
	if err == nil && target != "" {
		err = refused("branch", "The branch %s stands for another one, which needs the git program.", head.Ref)
	}
	if err == nil && head.Commit == "" {
		err = a.r.free(head.Ref)
	}
	return err
}

// moveAlone sets the branch to the commit if all is still where it was.
func (h *Held) moveAlone(a *alone, c Committed, who string) error {
	r := h.r
	if now, err := r.Head(); err != nil || now != (Head{c.Ref, c.Parent}) {
		return errors.Join(err, refused("moved", "HEAD has moved meanwhile."))
	}
	// The very branch, and not HEAD: that may name another one by now.
	ref, refs := c.Ref, []string{"HEAD", c.Ref}
	if ref == "" {
		ref, refs = "HEAD", []string{"HEAD"}
	}
	if err := h.moveRef(ref, c.Parent, c.ID); err != nil {
		return err
	}
	kind := "commit"
	if c.Parent == "" {
		kind = "commit (initial)"
	}
	for _, name := range refs {
		// The commit is made: that its line is missing undoes nothing.
		_ = a.noteMove(name, c, who, kind+": "+c.Subject)
	}
	r.step("moved")
	return nil
}

// writeTree stores the folders of the index and returns the root's name. What is
// only to be added stays out.
func (a *alone) writeTree(ctx context.Context) (oid, error) {
	t := treeWriter{a: a, ctx: ctx}
	for _, e := range a.ix.Entries {
		if !e.IntentToAdd {
			t.left = append(t.left, e)
		}
	}
	id, _, err := t.folder("")
	return id, err
}

type treeWriter struct {
	a    *alone
	ctx  context.Context
	left []Entry
}

// folder stores a folder whose path, with a slash at its end, is dir, and takes its
// entries. The order of the index is that of trees.
func (t *treeWriter) folder(dir string) (id oid, filled bool, err error) {
	if err := t.ctx.Err(); err != nil {
		return id, false, err
	}
	if strings.Count(dir, "/") > maxDeep {
		return id, false, errors.New("folders of the index are too deep")
	}
	var b []byte
	var blobs []Entry
	for len(t.left) > 0 && strings.HasPrefix(t.left[0].Path, dir) {
		e := t.left[0]
		name, _, sub := strings.Cut(e.Path[len(dir):], "/")
		if name == "" || e.Path == dir+name && plainPath(e.Path) != nil {
			return id, false, broken("index", fmt.Sprintf("%q is no path of a file", e.Path))
		}
		if sub {
			sub, filled, err := t.folder(dir + name + "/")
			if err != nil {
				return id, false, err
			}
			if filled {
				b = appendTreeEntry(b, name, treeMode, sub)
			}
			continue
		}
		t.left = t.left[1:]
		at, err := wantOID(e.ID)
		if err != nil {
			return id, false, err
		}
		b = appendTreeEntry(b, name, e.Mode, at)
		blobs = append(blobs, e)
	}
	id = oid(plumbing.ComputeHash(plumbing.TreeObject, b))
	have, err := t.a.have(id)
	if have || err != nil {
		return id, len(b) > 0, err
	}
	for _, e := range blobs { // a new folder names nothing that is not there
		at, _ := parseOID(string(e.ID))
		if have, err := t.a.have(at); e.Mode != submoduleMode && (!have || err != nil) {
			return id, false, errors.Join(err, refused("missing", "The content of %s is missing from the repository: stage it again.", e.Path))
		}
	}
	_, err = t.a.store(plumbing.TreeObject, b)
	return id, len(b) > 0, err
}

func appendTreeEntry(b []byte, name string, mode Mode, id oid) []byte {
	b = fmt.Appendf(b, "%o %s\x00", mode, name)
	return append(b, id[:]...)
}
