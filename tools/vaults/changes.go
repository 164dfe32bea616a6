package vaults

import (
	"context"
	"errors"

	"vault-mcp/cache/index"
	"vault-mcp/governor"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

type changesIn struct {
	tools.VaultArg
	Limit  int    `json:"limit,omitempty" limits:"min=1,max=1000,default=200"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the last answer, up to 90 days old; left out to get a first one" limits:"maxLength=8192"`
}

type changedRow struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"`
	MTime string `json:"mtime"`
}

type changesOut struct {
	Changed    []changedRow `json:"changed" jsonschema:"files that are new or were changed"`
	Removed    []string     `json:"removed" jsonschema:"paths where no file is any more; a file that was moved is in changed too"`
	More       bool         `json:"more" jsonschema:"there are more changes now: call again"`
	NextCursor string       `json:"next_cursor" jsonschema:"the point behind this answer, to come back with now or later"`
}

func changesSince() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "changes_since",
		Title:  "List changes",
		Doc:    "Lists what changed in the vault since an earlier call, by its next_cursor. A call without cursor lists nothing and gives the point of now.",
		Scope:  auth.Read,
		Narrow: "a lower limit",
	}, func(ctx context.Context, c *tools.Call, in changesIn) (changesOut, error) {
		out := changesOut{Changed: []changedRow{}, Removed: []string{}}
		var from, to index.Point
		back, err := c.Since(in.Cursor, &from)
		if err != nil {
			return out, err
		}
		ix := c.View.Index()
		if ix == nil {
			return out, fault.New(fault.InvalidInput, "This vault has no index, so nobody keeps track of its changes.").With("reason", "no_index")
		}
		err = ix.Read(ctx, func(m *index.Model) error {
			if !back {
				to = m.Now(c.View.Knows)
				return nil
			}
			all, ok := m.Since(from, c.View.Knows)
			if !ok {
				return governor.Expired("What changed since then is no longer known; look at everything again, and start again without a cursor.")
			}
			n, err := out.take(c, all.List[:min(len(all.List), in.Limit)])
			out.More, to = n < len(all.List), all.After(n)
			return err
		})
		if errors.Is(err, index.ErrNotReady) {
			return out, fault.New(fault.InvalidInput, "The index is not ready yet; make the same call again when get_index_status says ready.").
				With("reason", "index_not_ready")
		}
		if err != nil {
			return out, err
		}
		out.NextCursor, err = c.Point(to)
		return out, err
	})
}

// take adds changes as long as they fit, at least one, and tells how many.
func (o *changesOut) take(c *tools.Call, list []index.Change) (int, error) {
	room, err := c.Room(nil)
	if err != nil {
		return 0, err
	}
	for i, f := range list {
		row := changedRow{f.Path, f.Size, tools.Clock(f.ModTime)}
		if ok, err := room.Takes(row); !ok || err != nil {
			return i, err
		}
		if f.Gone {
			o.Removed = append(o.Removed, f.Path)
		} else {
			o.Changed = append(o.Changed, row)
		}
	}
	return len(list), nil
}
