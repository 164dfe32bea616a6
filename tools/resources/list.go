package resources

import (
	"context"
	"errors"
	"path"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/compact"
	"vault-mcp/internal/uri"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// PageSize is how many resources a page lists at most; fewer if their names
// are long.
const PageSize = 500

// frame is kept free on a page for everything but its rows, in bytes.
const frame = 4 << 10

type listIn struct{ tools.PageArg }

// Listing is one page of resources.
type Listing struct {
	Resources  []Resource `json:"resources"`
	NextCursor *string    `json:"next_cursor"`

	room int // bytes that are left on the page
}

// PayloadSize is what the page takes as JSON.
func (l Listing) PayloadSize() int {
	size := frame
	for _, r := range l.Resources {
		size += r.size()
	}
	return size
}

// size is what a row takes as JSON.
func (r Resource) size() int {
	const frame = `{"annotations":{"lastModified":"2026-01-02T03:04:05+06:00"},"uri":,"name":,"title":,"mimeType":,"size":1234567890123},`
	return compact.StringLen(r.URI) + compact.StringLen(r.Name) + compact.StringLen(r.Title) + compact.StringLen(r.MIME) + len(frame)
}

// Resource is one file.
type Resource struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
	// Title is the path, which tells files of one name apart; "" where that is the
	// name.
	Title string `json:"title,omitempty"`
	MIME  string `json:"mime"`
	Size  int64  `json:"size"`
	MTime string `json:"mtime"`
}

func resourceOf(vaultID string, f vault.File) Resource {
	r := Resource{
		URI: uri.Of(vaultID, f.Path), Name: path.Base(f.Path), MIME: vault.MIME(f.Path), Size: f.Size, MTime: tools.Clock(f.ModTime),
	}
	if r.Name != f.Path {
		r.Title = f.Path
	}
	return r
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
		out := Listing{Resources: []Resource{}, room: c.Budget - frame}
		var at place
		if _, err := c.Page(in.Cursor, &at); err != nil {
			return out, err
		}
		for ; at.Vault < len(vaults); at = (place{Vault: at.Vault + 1}) {
			v := vaults[at.Vault].Now()
			if !c.Caller.MayUse(v.ID) {
				continue
			}
			err := out.add(ctx, v, at.Path)
			if errors.Is(err, errEnough) {
				last := out.Resources[len(out.Resources)-1]
				_, p, err := uri.Parse(last.URI)
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
		r := resourceOf(v.ID, f)
		if l.room -= r.size(); len(l.Resources) == PageSize || l.room < 0 && len(l.Resources) > 0 {
			return errEnough
		}
		l.Resources = append(l.Resources, r)
		return nil
	})
}
