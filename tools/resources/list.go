package resources

import (
	"context"
	"errors"
	"path"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// PageSize is how many resources a page lists.
const PageSize = 500

type listIn struct{ tools.PageArg }

// Listing is one page of resources.
type Listing struct {
	Resources  []Resource `json:"resources"`
	NextCursor *string    `json:"next_cursor"`
}

// Resource is one file.
type Resource struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
	MIME string `json:"mime"`
	Size int64  `json:"size"`
}

// place is where the next page goes on.
type place struct {
	Vault int    `json:"v"`
	Path  string `json:"p"`
}

var errEnough = errors.New("enough")

func list(vaults []*acl.View) tools.Tool {
	return tools.Query(tools.Spec{
		Name:  List,
		Title: "List resources",
		Doc:   "Behind resources/list.",
		Scope: auth.Read,
	}, func(ctx context.Context, c *tools.Call, in listIn) (Listing, error) {
		out := Listing{Resources: []Resource{}}
		var at place
		if _, err := c.Page(in.Cursor, &at); err != nil {
			return out, err
		}
		for ; at.Vault < len(vaults); at = (place{Vault: at.Vault + 1}) {
			v := vaults[at.Vault]
			if !c.Caller.MayUse(v.ID) {
				continue
			}
			err := out.add(ctx, v, at.Path)
			if errors.Is(err, errEnough) {
				last := out.Resources[PageSize-1]
				_, p, err := Parse(last.URI)
				if err != nil {
					return out, err
				}
				out.NextCursor, err = c.NextCursor(place{at.Vault, p})
				return out, err
			}
			if err != nil {
				return out, err
			}
		}
		return out, nil
	})
}

// add lists a vault's files behind a path until the page is full.
func (l *Listing) add(ctx context.Context, v *acl.View, after string) error {
	root, err := v.FindFolder(ctx, "")
	if err != nil {
		return err
	}
	o := vault.WalkOptions{After: after, Accept: func(name string) bool { return vault.Kind(name) != vault.Other }}
	return v.Walk(ctx, root, o, func(f vault.File) error {
		if v.Check(acl.Read, f.Path) != nil {
			return nil // its name may be known, but it cannot be read
		}
		if len(l.Resources) == PageSize {
			return errEnough
		}
		l.Resources = append(l.Resources, Resource{URI(v.ID, f.Path), path.Base(f.Path), vault.MIME(f.Path), f.Size})
		return nil
	})
}
