package bundles

import (
	"context"
	"errors"
	"slices"
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

type folderIn struct {
	tools.VaultArg
	Root       tools.Folder     `json:"root" jsonschema:"folder with the notes; empty for the whole vault"`
	MaxFiles   int              `json:"max_files,omitempty" limits:"min=1,max=500,default=100"`
	Extensions tools.Extensions `json:"extensions,omitempty" jsonschema:"instead of .md" limits:"maxItems=20,minLength=1,maxLength=20"`
	shape
}

func isNote(name string) bool { return vault.Kind(name) == vault.Note }

var errFull = errors.New("full")

func bundleFolder() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "bundle_folder",
		Title:  "Bundle a folder",
		Doc:    "Puts the notes of a folder one after the other into one text, in the order of their paths. Goes on with next_cursor.",
		Scope:  auth.Read,
		Narrow: "a lower max_bytes, or a folder further down",
		Long:   true,
	}, func(ctx context.Context, c *tools.Call, in folderIn) (out, error) {
		root, err := in.Root.Path()
		if err != nil {
			return out{}, err
		}
		var last string
		if _, err := c.Page(in.Cursor, &last); err != nil {
			return out{}, err
		}
		b := newBundle(c, in.shape)
		var missed []left // in the order of their paths, in turn with the notes
		miss := func(path, reason string) {
			at, _ := slices.BinarySearchFunc(missed, path, func(l left, p string) int { return strings.Compare(l.Path, p) })
			missed = slices.Insert(missed, at, left{path, reason})
		}
		o := vault.WalkOptions{
			After: last, Accept: in.Extensions.Accept(isNote),
			Problem: func(path string, err error) { miss(path, vault.Reason(err)) },
			Gone:    func(path string) { miss(path, vault.Gone) },
		}
		// name names what was missed before a path.
		name := func(path string) error {
			for ; len(missed) > 0 && missed[0].Path < path; missed = missed[1:] {
				l := missed[0]
				if !c.View.Sees(l.Path) {
					continue
				}
				if !b.leave(l.Path, l.Reason) {
					return errFull
				}
				last = l.Path
			}
			return nil
		}
		err = c.View.Walk(ctx, root, o, func(f vault.File) error {
			if c.View.Check(acl.Read, f.Path) != nil {
				return nil
			}
			if err := name(f.Path); err != nil {
				return err
			}
			if len(b.files) == in.MaxFiles {
				return errFull
			}
			ok, err := b.take(c, f.AsPath())
			if err == nil && !ok {
				err = errFull
			}
			if err == nil {
				last = f.Path
			}
			return err
		})
		if err == nil {
			err = name("\U0010ffff") // behind all paths
		}
		if errors.Is(err, errFull) {
			return b.out(c, last)
		}
		if err != nil {
			return out{}, err
		}
		return b.out(c, nil)
	})
}
