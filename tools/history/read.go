package history

import (
	"context"
	"strings"

	"vault-mcp/cache/state"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type readChangeIn struct {
	tools.VaultArg
	ID string `json:"change_id" limits:"minLength=1,maxLength=64"`
	tools.PartArg
}

type readChangeOut struct {
	changeRow
	Ended string              `json:"ended,omitempty"`
	Edits []tools.WrittenFile `json:"edits"`
	More  int                 `json:"edits_more,omitempty" jsonschema:"edits that are not listed"`
	Diff  string              `json:"diff"`
	tools.DiffPart
	DiffCut bool     `json:"diff_cut,omitempty" jsonschema:"there is more than any part gives"`
	Strange []string `json:"changed_by_others,omitempty" jsonschema:"files that something else had changed, left as they were"`
}

func readChange(s Source) tools.Tool {
	return tools.Query(tools.Spec{
		Name: "read_change", Title: "Read a change",
		Doc:    "Tells all of one change: its files, and the diff as far as the texts are kept; a long one comes in parts.",
		Scope:  auth.Read,
		Narrow: "read the files one by one",
	}, func(ctx context.Context, c *tools.Call, in readChangeIn) (readChangeOut, error) {
		out := readChangeOut{Edits: []tools.WrittenFile{}}
		st, err := s(ctx, c.View)
		if err != nil {
			return out, err
		}
		n, err := st.Change(ctx, in.ID)
		if err != nil {
			return out, unknown(err, "list_changes", "change %q", in.ID)
		}
		ok := false
		if out.changeRow, ok = rowOf(c.View, n); !ok {
			return out, unknown(state.ErrUnknown, "list_changes", "change %q", in.ID)
		}
		if !n.Ended.IsZero() {
			out.Ended = tools.Clock(n.Ended)
		}
		var diff strings.Builder
		for i := range n.Edits {
			e := &n.Edits[i]
			if e.Upkeep && !c.View.Sees(e.Path) {
				continue // that it has such links is in what it holds
			}
			if !c.View.Knows(e.Path) || e.To != "" && !c.View.Knows(e.To) {
				out.More++
				continue
			}
			row, text := tools.FileOf(e)
			if !c.View.Sees(e.Path) {
				text, row.Hash, row.Added, row.Removed = "", "", 0, 0
			}
			if diff.Len()+len(text) > tools.MaxDiff {
				out.DiffCut = true
				text = ""
			}
			diff.WriteString(text)
			if len(out.Edits) == tools.MaxFiles {
				out.More++
				continue
			}
			out.Edits = append(out.Edits, row)
		}
		if out.Diff, out.DiffPart, err = in.PartArg.Diff(c, diff.String()); err != nil {
			return out, err
		}
		for _, p := range n.Foreign {
			if c.View.Knows(p) {
				out.Strange = append(out.Strange, p)
			}
		}
		return out, nil
	})
}
