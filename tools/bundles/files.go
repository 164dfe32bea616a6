package bundles

import (
	"context"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

type filesIn struct {
	tools.VaultArg
	Paths tools.Notes `json:"paths" jsonschema:"paths from the vault's root, with or without .md" limits:"minItems=1,maxItems=200"`
	shape
}

func bundleFiles() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "bundle_files",
		Title:  "Bundle notes",
		Doc:    "Puts the named notes one after the other into one text; those that cannot be read are named. Goes on with next_cursor.",
		Scope:  auth.Read,
		Narrow: "a lower max_bytes, or fewer paths",
		Long:   true,
	}, func(ctx context.Context, c *tools.Call, in filesIn) (out, error) {
		var at int
		if _, err := c.Page(in.Cursor, &at); err != nil {
			return out{}, err
		}
		b := newBundle(c, in.shape)
		for ; at < len(in.Paths); at++ {
			if err := ctx.Err(); err != nil {
				return out{}, err
			}
			ok, err := in.take(c, b, at)
			if err != nil {
				return out{}, err
			}
			if !ok {
				return b.out(c, at)
			}
		}
		return b.out(c, nil)
	})
}

func (in filesIn) take(c *tools.Call, b *bundle, at int) (bool, error) {
	p, err := in.Paths[at].Path()
	if err != nil {
		return b.leave(in.Paths[at].Arg, fault.Of(err).Message), nil
	}
	return b.take(c, p)
}
