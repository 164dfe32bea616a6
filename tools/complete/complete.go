// Package complete answers how a value that somebody types may go on: the path
// of a note or resource, a tag, a property, a vault. It offers only what its
// caller may read.
package complete

import (
	"context"
	"errors"

	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/compact"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// Names of the queries behind completion/complete: in one vault, and over all.
const (
	InVault = "complete_in_vault"
	Overall = "complete_overall"
)

// Tools are the queries behind completion/complete.
func Tools(vaults []*acl.View) tools.Domain {
	return tools.Domain{Name: "complete", Hidden: true, Tools: []tools.Tool{inVault(), overall(vaults)}}
}

// What is completed. Resource and Vault are for Overall.
const (
	Note     What = "note"
	Tag      What = "tag"
	Property What = "property"
	Vault    What = "vault"
	// Resource is the id of a vault and the path of a file in it.
	Resource What = "resource"
)

// What says what a value is the beginning of.
type What string

// Values lists what there is for the schema.
func (What) Values() []string {
	return []string{string(Note), string(Tag), string(Property), string(Vault), string(Resource)}
}

// Most is how many values an answer has at most: what the protocol allows.
const Most = 100

type in struct {
	What  What   `json:"what"`
	Value string `json:"value"`
}

type inVaultIn struct {
	tools.VaultArg
	in
}

// Values are how a value may go on, the best first.
type Values struct {
	Values []string `json:"values"`
	// Total counts all that fit, also those that are not in Values.
	Total int `json:"total"`
}

// frame is kept free in an answer for all but its values, in bytes.
const frame = 1 << 10

// PayloadSize is what the values take as JSON.
func (v Values) PayloadSize() int {
	size := frame
	for _, s := range v.Values {
		size += compact.StringLen(s) + len(",")
	}
	return size
}

// within drops values behind the first that does not fit a budget.
func (v Values) within(budget int) Values {
	for v.PayloadSize() > budget && len(v.Values) > 0 {
		v.Values = v.Values[:len(v.Values)-1]
	}
	return v
}

func inVault() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  InVault,
		Title: "Complete a value",
		Doc:   "Behind completion/complete.",
		Scope: auth.Read,
	}, func(ctx context.Context, c *tools.Call, in inVaultIn) (Values, error) {
		var out Values
		var err error
		switch in.What {
		case Tag, Property:
			out, err = words(ctx, c.View, in.What, in.Value)
		default:
			f := newFinder(in.Value)
			err = f.notes(ctx, c.View)
			out = f.best()
		}
		return out.within(c.Budget), err
	})
}

func overall(vaults []*acl.View) tools.Tool {
	return tools.Query(tools.Spec{
		Name:  Overall,
		Title: "Complete a value",
		Doc:   "Behind completion/complete.",
		Scope: auth.Read,
	}, func(ctx context.Context, c *tools.Call, in in) (Values, error) {
		var mine []*acl.View
		for _, v := range vaults {
			if c.Caller.MayUse(v.ID) {
				mine = append(mine, v.Now())
			}
		}
		if in.What == Vault {
			f := newFinder(in.Value)
			for _, v := range mine {
				f.offer(v.ID, "")
			}
			return f.best().within(c.Budget), nil
		}
		out, err := files(ctx, mine, in.Value)
		return out.within(c.Budget), err
	})
}

// files completes the id of a vault and the path of a file in it. What names no
// vault is looked for in all of them.
func files(ctx context.Context, vaults []*acl.View, value string) (Values, error) {
	for _, v := range vaults {
		if rest, ok := cutVault(value, v.ID); ok {
			f := newFinder(rest)
			err := f.resources(ctx, v)
			return f.best(), err
		}
	}
	f := newFinder(value)
	for _, v := range vaults {
		if err := f.resources(ctx, v); err != nil {
			return Values{}, err
		}
	}
	return f.best(), nil
}

func cutVault(value, id string) (rest string, ok bool) {
	if len(value) > len(id) && value[:len(id)] == id && value[len(id)] == '/' {
		return value[len(id)+1:], true
	}
	return "", false
}

// notes offers the notes of a vault by their paths.
func (f *finder) notes(ctx context.Context, v *acl.View) error {
	return f.paths(ctx, v, "", func(path string) bool { return vault.Kind(path) == vault.Note })
}

// resources offers the files of a vault that are resources, behind the vault's id.
func (f *finder) resources(ctx context.Context, v *acl.View) error {
	return f.paths(ctx, v, v.ID+"/", func(path string) bool { return vault.Kind(path) != vault.Other })
}

// paths offers files behind a prefix: those of the index, or while that does not
// answer of the folders. No file is read.
func (f *finder) paths(ctx context.Context, v *acl.View, prefix string, accept func(path string) bool) error {
	defer f.turn()
	if ix := v.Index(); ix != nil {
		err := ix.Read(ctx, func(m *index.Model) error {
			for p := range m.NotePaths() {
				f.offerPath(p, prefix, v.Sees)
			}
			f.turn()
			for o := range m.Files() {
				if accept(o.Path) {
					f.offerPath(o.Path, prefix, v.Sees)
				}
			}
			return ctx.Err()
		})
		if !errors.Is(err, index.ErrNotReady) {
			return err
		}
	}
	root, err := v.FindFolder(ctx, "")
	if err != nil {
		return err
	}
	return v.Walk(ctx, root, vault.WalkOptions{Accept: accept}, func(file vault.File) error {
		f.offerPath(file.Path, prefix, v.Sees)
		return nil
	})
}
