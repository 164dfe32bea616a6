package tables

import (
	"context"
	"encoding/json"
	"strconv"

	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

// order is the direction of a sort.
type order string

// Values implements tools' enums.
func (order) Values() []string { return []string{"asc", "desc"} }

type sortIn struct {
	tableArg
	Column  tools.Value `json:"column" jsonschema:"header text, or number from 0"`
	Order   order       `json:"order,omitempty" limits:"default=asc"`
	Numeric bool        `json:"numeric,omitempty" jsonschema:"compare numbers; what is none comes last"`
	Dates   bool        `json:"dates,omitempty" jsonschema:"compare dates YYYY-MM-DD; what is none comes last"`
}

func sortTableByColumn() tools.Tool {
	return tools.Change(tools.Spec{
		Name:  "sort_table_by_column",
		Title: "Sort a table",
		Doc:   "Sorts the rows of a table by one column. Rows that are equal there keep their order.",
		Scope: scope,
	}, func(ctx context.Context, c *tools.Call, in sortIn) (change.Plan, tableOut, error) {
		column, err := columnOf(in.Column)
		if err != nil {
			return change.Plan{}, tableOut{}, err
		}
		by := note.SortText
		switch {
		case in.Numeric && in.Dates:
			return change.Plan{}, tableOut{}, fault.New(fault.InvalidInput, "Cells are compared as numbers or as dates, not both.").With("argument", "dates")
		case in.Numeric:
			by = note.SortNumber
		case in.Dates:
			by = note.SortDate
		}
		return in.edit(ctx, c, "Sort a table", func(text []byte, ref note.TableRef) (note.TableEdit, error) {
			return note.SortTable(text, ref, column, by, in.Order == "desc")
		})
	})
}

// columnOf is the column that an argument names.
func columnOf(arg tools.Value) (note.ColumnRef, error) {
	v, _ := arg.Get()
	switch v := v.(type) {
	case string:
		if v != "" {
			return note.ColumnRef{Name: v}, nil
		}
	case json.Number:
		if i, err := strconv.Atoi(v.String()); err == nil && i >= 0 {
			return note.ColumnRef{Index: i}, nil
		}
	}
	return note.ColumnRef{}, fault.New(fault.InvalidInput, "A column is the text of its header, or its number from 0.").With("argument", "column")
}
