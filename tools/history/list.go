package history

import (
	"cmp"
	"context"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
)

type listChangesIn struct {
	tools.VaultArg
	Path  string `json:"path,omitempty" jsonschema:"only changes of this note, file or folder, by its path then" limits:"maxLength=1024"`
	Since string `json:"since,omitempty" jsonschema:"RFC 3339 time, or a date"`
	All   bool   `json:"all,omitempty" jsonschema:"also those that changed nothing in the end"`
	Limit int    `json:"limit,omitempty" limits:"min=1,max=500,default=20"`
	tools.PageArg
}

type changeRow struct {
	ID       string `json:"change_id"`
	At       string `json:"at"`
	Tool     string `json:"tool"`
	Caller   string `json:"caller"`
	Summary  string `json:"summary"`
	Outcome  string `json:"outcome"`
	Files    int    `json:"files"`
	Undoes   string `json:"undoes,omitempty"`
	UndoneBy string `json:"undone_by,omitempty"`
	// Approval is left out where nobody had to approve the change.
	Approval *approval `json:"approval,omitempty" jsonschema:"who approved it"`
}

type approval struct {
	Request string `json:"request_id"`
	Route   string `json:"route"`
	By      string `json:"attested_by" jsonschema:"client, or the account of the person"`
	At      string `json:"at"`
}

type listChangesOut struct {
	Changes    []changeRow `json:"changes"`
	NextCursor *string     `json:"next_cursor"`
}

func listChanges(s Source) tools.Tool {
	return tools.Query(tools.Spec{
		Name: "list_changes", Title: "List changes",
		Doc:    "Lists what was changed through this server, the newest first, with the change_id that read_change and undo_change take.",
		Scope:  auth.Read,
		Narrow: "a lower limit or a later since",
	}, func(ctx context.Context, c *tools.Call, in listChangesIn) (listChangesOut, error) {
		out := listChangesOut{Changes: []changeRow{}}
		since, err := instant(in.Since)
		if err != nil {
			return out, err
		}
		path := ""
		if in.Path != "" {
			if path, err = vault.Clean(in.Path); err != nil {
				return out, err
			}
		}
		var before int64
		if _, err := c.Page(in.Cursor, &before); err != nil {
			return out, err
		}
		st, err := s(ctx, c.View)
		if err != nil {
			return out, err
		}
		room, err := c.Room(nil)
		if err != nil {
			return out, err
		}
		more := false
		var bad error
		err = st.Changes(ctx, before, path, func(n state.Numbered) bool {
			if n.Began.Before(since) || ctx.Err() != nil {
				return false
			}
			row, ok := rowOf(c.View, n)
			if !ok || !in.All && (n.Outcome == change.NotApplied || n.Outcome == change.RolledBack) {
				return true
			}
			if more = len(out.Changes) == in.Limit; more {
				return false
			}
			if ok, bad = room.Takes(row); !ok || bad != nil {
				more = true
				return false
			}
			out.Changes = append(out.Changes, row)
			before = n.Seq
			return true
		})
		if err = cmp.Or(err, bad, ctx.Err()); err != nil {
			return out, err
		}
		if more {
			out.NextCursor, err = c.NextCursor(before)
		}
		return out, err
	})
}

// rowOf is a change as a caller may see it. One that is about nothing that the
// caller may know of is not listed; what is said of others in one sentence would
// name files, so a change that also is about hidden ones has no summary.
func rowOf(w *acl.View, n state.Numbered) (changeRow, bool) {
	row := changeRow{
		ID: n.ID, At: tools.Clock(n.Began), Tool: n.Tool, Caller: n.Caller, Summary: n.Summary, Outcome: string(n.Outcome),
		Undoes: n.Undoes, UndoneBy: n.UndoneBy,
	}
	if a := n.Approval; a != nil {
		row.Approval = &approval{a.Request, string(a.Route), a.By, tools.Clock(a.At)}
	}
	for _, e := range n.Edits {
		if e.Upkeep && !w.Sees(e.Path) {
			continue
		}
		if !w.Knows(e.Path) || e.To != "" && !w.Knows(e.To) {
			row.Summary = ""
			continue
		}
		row.Files++
	}
	return row, row.Files > 0
}

// instant reads a time argument; "" is the beginning of time.
func instant(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fault.New(fault.ValidationError, "The argument %q is neither a date nor an RFC 3339 time.", "since").With("argument", "since")
}
