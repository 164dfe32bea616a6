package tables

import (
	"context"

	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

func formatTable() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "format_table",
		Title: "Format a table",
		Doc:   "Makes the columns of a table of even width. No cell says anything else afterwards.",
		Scope: scope,
	}, func(ctx context.Context, c *tools.Call, in tableArg) (change.Plan, tableOut, error) {
		return in.edit(ctx, c, "Format a table", note.FormatTable)
	})
}
