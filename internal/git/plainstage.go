package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// stageAlone is Stage without the git program, of paths that were judged. there
// says for each whether there is a file.
func (h *Held) stageAlone(ctx context.Context, before *Index, there map[string]bool) (*Index, error) {
	return h.draftAlone(ctx, before, func(a *alone, d *draft) error {
		paths := slices.Sorted(maps.Keys(there))
		for _, p := range paths {
			if err := a.stageable(p, there[p]); err != nil {
				return err
			}
		}
		for _, p := range paths { // what goes makes room for what comes
			if !there[p] {
				d.remove(p)
			}
		}
		for _, p := range paths {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !there[p] {
				continue
			}
			if err := a.stage(d, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// stageable refuses what git would refuse, or do otherwise than is done here.
func (a *alone) stageable(path string, there bool) error {
	for _, e := range a.ix.At(path) {
		if e.SkipWorktree {
			return refused("sparse", "%s is outside of the sparse checkout: change it with git sparse-checkout add.", path)
		}
	}
	if a.sparse {
		return refused("sparse", "The checkout is sparse: which files belong to it needs the git program.")
	}
	if !there {
		return nil
	}
	if err := a.sameFolded(path); err != nil {
		return err
	}
	if len(a.ix.At(path)) > 0 {
		return nil
	}
	hit, err := a.ignoredFile(path)
	if hit && err == nil {
		err = refused("ignored", "%s is ignored by .gitignore, .git/info/exclude or the global ignore file, so it is not staged.", path)
	}
	return err
}

// stage puts the file of a path into the draft as it is now.
func (a *alone) stage(d *draft, path string) error {
	full := filepath.Join(a.r.Work, filepath.FromSlash(path))
	info, err := os.Lstat(full)
	if err != nil {
		return refused("unreadable", "%s cannot be read: %v.", path, err)
	}
	was, err := statOf(full, info)
	if err != nil {
		return refused("unreadable", "%s cannot be read: %v.", path, err)
	}
	content, err := a.content(path, info)
	if err != nil {
		return err
	}
	// Else the entry would say of one content that the file has another's times.
	if now, err := os.Lstat(full); err != nil || !os.SameFile(info, now) || !now.ModTime().Equal(info.ModTime()) || now.Size() != info.Size() {
		return refused("changing", "%s changes while it is read: stage it again.", path)
	}
	id, err := a.store(plumbing.BlobObject, content)
	if err != nil {
		return err
	}
	d.put(Entry{Path: path, Mode: a.modeOf(info, a.ix.At(path)), ID: id.id()}, was)
	return nil
}

// unstageAlone is Unstage without the git program.
func (h *Held) unstageAlone(ctx context.Context, before *Index, paths []string) (*Index, error) {
	head, err := h.r.Head()
	if err != nil {
		return nil, err
	}
	return h.draftAlone(ctx, before, func(a *alone, d *draft) error {
		root := emptyTree
		if head.Commit != "" {
			if root, err = a.o.treeOf(head.Commit); err != nil {
				return err
			}
		}
		for _, p := range paths {
			way, err := a.o.chain(root, p, nil)
			if err != nil {
				return err
			}
			e := end(way, p)
			if at := a.ix.At(p); len(at) == 1 && (at[0].SkipWorktree || at[0].Mode == submoduleMode) {
				kind := "sparse"
				if !at[0].SkipWorktree {
					kind = "submodule"
				}
				return refused(kind, "%s is no file of this checkout: that needs the git program.", p)
			}
			if e.mode == 0 || e.mode == treeMode {
				d.remove(p)
				continue
			}
			if at := a.ix.At(p); len(at) == 1 && at[0].ID == e.id.id() && at[0].Mode == e.mode && !at[0].IntentToAdd {
				continue // as it is, and known to be unchanged
			}
			d.put(Entry{Path: p, Mode: e.mode, ID: e.id.id()}, stat{})
		}
		return nil
	})
}

// draftAlone changes a copy of the index.
func (h *Held) draftAlone(ctx context.Context, before *Index, edit func(a *alone, d *draft) error) (*Index, error) {
	d, err := before.draft()
	if err != nil {
		return nil, err
	}
	a, err := h.r.alone(before)
	if err != nil {
		return nil, err
	}
	defer a.close()
	if err := a.writable(); err != nil {
		return nil, err
	}
	written, err := h.r.indexTime()
	if err != nil {
		return nil, err
	}
	d.smudge(written)
	if err := edit(a, d); err != nil {
		return nil, err
	}
	if err := h.writeIndex(d.bytes()); err != nil {
		return nil, fmt.Errorf("write the index: %w", err)
	}
	h.r.step("edited")
	return h.edited()
}

// writeIndex makes the copy of the index anew, with the mode that it has.
func (h *Held) writeIndex(b []byte) error {
	f, err := os.OpenFile(h.index(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}
