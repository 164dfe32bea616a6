// Package tables holds the tools for the tables in notes.
package tables

import (
	"context"
	"errors"
	"fmt"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault/change"
	"vault-mcp/vault/note"
)

// Tools are the domain's tools.
func Tools() tools.Domain {
	return tools.Domain{Name: "structured", Tools: []tools.Tool{formatTable(), insertTableRow(), insertTableColumn(), sortTableByColumn()}}
}

// tableArg names a table of a note.
type tableArg struct {
	tools.VaultArg
	tools.TargetArg
	Index int `json:"table_index,omitempty" jsonschema:"which table of the note, from 0" limits:"min=0,default=0"`
	Line  int `json:"line,omitempty" jsonschema:"instead: any line of the table" limits:"min=1"`
	tools.VersionArg
	tools.WriteArg
}

type tableOut struct {
	Path    string `json:"path"`
	Index   int    `json:"table_index"`
	Line    int    `json:"line" jsonschema:"of the header"`
	Rows    int    `json:"rows" jsonschema:"without the header"`
	Columns int    `json:"columns"`
	tools.Versions
	tools.Written
}

const scope = auth.Read | auth.Write

// edit plans an edit of the table that the arguments name.
func (a *tableArg) edit(ctx context.Context, c *tools.Call, doing string, f func([]byte, note.TableRef) (note.TableEdit, error)) (change.Plan, tableOut, error) {
	var out tableOut
	t, err := a.Path.Note(c)
	if err != nil {
		return change.Plan{}, out, err
	}
	ref := note.TableRef{Line: a.Line, Index: a.Index}
	p, e, err := c.EditNote(ctx, &a.Path, a.PrevHash, fmt.Sprintf("%s of %s", doing, t.Path), func(text []byte) ([]byte, error) {
		edited, err := f(text, ref)
		if err != nil {
			return nil, noEdit(t.Path, err)
		}
		out.Line, out.Rows, out.Columns = edited.Line, edited.Rows, edited.Columns
		for i, table := range note.Scan(edited.Text).Inline().Tables {
			if table.Line == edited.Line {
				out.Index = i
			}
		}
		return edited.Text, nil
	})
	out.Path, out.Versions = t.Path, tools.VersionsOf(e)
	return p, out, err
}

// Bounds of what an error lists: tables, columns of one, and the bytes of a
// column's name.
const (
	maxListed  = 20
	maxColumns = 50
	longest    = 100
)

// noEdit is what a caller is told about an edit of a table that cannot be made.
func noEdit(path string, err error) error {
	if e, ok := errors.AsType[*note.NoTableError](err); ok {
		there := []map[string]any{}
		for _, t := range e.Tables[:min(len(e.Tables), maxListed)] {
			there = append(there, map[string]any{"line": t.Line, "columns": names(t.Columns)})
		}
		argument := "table_index"
		if e.Ref.Line != 0 {
			argument = "line"
		}
		return fault.New(fault.NotFound, "In %q %s.", path, e).With("argument", argument).With("path", path).
			With("tables", there).With("tables_more", len(e.Tables)-len(there))
	}
	if e, ok := errors.AsType[*note.NoColumnError](err); ok {
		return fault.New(fault.NotFound, "In the table %s.", e).With("argument", "column").With("columns", names(e.Columns))
	}
	return fault.New(fault.InvalidInput, "The table stays as it is: %s.", err).With("path", path)
}

func names(columns []string) []string {
	cut := []string{}
	for _, c := range columns[:min(len(columns), maxColumns)] {
		cut = append(cut, tools.Cut(c, longest))
	}
	return cut
}
