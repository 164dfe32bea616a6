package tables

import (
	"context"

	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

type rowIn struct {
	tableArg
	Values []string `json:"values" jsonschema:"text of the cells, of which | and line ends are written so that they stay in them" limits:"maxItems=1000,maxLength=100000"`
	At     int      `json:"at,omitempty" jsonschema:"row to put it above, from 0; -1 is the end" limits:"min=-1,default=-1"`
}

func insertTableRow() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "insert_table_row",
		Title: "Insert a row into a table",
		Doc:   "Puts a row into a table of a note. The other rows stay as they are.",
		Scope: scope,
	}, func(ctx context.Context, c *tools.Call, in rowIn) (change.Plan, tableOut, error) {
		return in.edit(ctx, c, "Insert a row into a table", func(text []byte, ref note.TableRef) (note.TableEdit, error) {
			return note.InsertRow(text, ref, in.At, in.Values)
		})
	})
}

// align is how a column is aligned.
type align string

// Values implements tools' enums.
func (align) Values() []string { return []string{"none", "left", "center", "right"} }

type columnIn struct {
	tableArg
	Header string   `json:"header" limits:"maxLength=10000"`
	Values []string `json:"values,omitempty" jsonschema:"text of the cells below the header, from the top" limits:"maxItems=10000,maxLength=100000"`
	At     int      `json:"at,omitempty" jsonschema:"column to put it before, from 0; -1 is the end" limits:"min=-1,default=-1"`
	Align  align    `json:"align,omitempty" limits:"default=none"`
}

func insertTableColumn() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "insert_table_column",
		Title: "Insert a column into a table",
		Doc:   "Puts a column into a table of a note. The cells of the other columns stay as they are.",
		Scope: scope,
	}, func(ctx context.Context, c *tools.Call, in columnIn) (change.Plan, tableOut, error) {
		return in.edit(ctx, c, "Insert a column into a table", func(text []byte, ref note.TableRef) (note.TableEdit, error) {
			how := map[align]note.Align{"left": note.AlignLeft, "center": note.AlignCenter, "right": note.AlignRight}[in.Align]
			return note.InsertColumn(text, ref, in.At, in.Header, how, in.Values)
		})
	})
}
