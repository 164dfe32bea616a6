package notes

import (
	"errors"
	"fmt"

	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

// bulkArg is embedded by the tools that take many rows.
type bulkArg struct {
	Partial bool `json:"partial,omitempty" jsonschema:"leave out rows that cannot be done; else one such row refuses all"`
}

// rowError says why a row was left out.
type rowError struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
}

// maxRowErrors is how many rows a refusal of all names.
const maxRowErrors = 20

// failures are the rows that cannot be done, by their numbers from 0.
type failures map[int]*fault.Error

func (f failures) add(row int, err error) {
	if err != nil && f[row] == nil {
		f[row] = fault.Of(err)
	}
}

// of is what an answer says of a row; nil if nothing is wrong with it.
func (f failures) of(row int) *rowError {
	if e := f[row]; e != nil {
		return &rowError{e.Code, e.Message}
	}
	return nil
}

// refuse is the refusal of all rows for those that cannot be done; nil if there
// are none, or if the call is for the others only and there are any.
func (f failures) refuse(rows int, partial bool) error {
	if len(f) == 0 || partial && len(f) < rows {
		return nil
	}
	type failed struct {
		Row int `json:"row"`
		rowError
	}
	var first *fault.Error
	var all []failed
	for i := range rows {
		if e := f[i]; e != nil {
			if first == nil {
				first = fault.New(e.Code, "Row %d: %s Nothing was done for any row.", i+1, e.Message).Because(e)
			}
			if len(all) < maxRowErrors {
				all = append(all, failed{i + 1, *f.of(i)})
			}
		}
	}
	return first.With("rows", all).With("failed", len(f))
}

// bulkReason is why a person is asked.
func bulkReason(rows int) []string {
	return []string{fmt.Sprintf("it is a bulk run of %s", tools.Many(rows, "row", "rows"))}
}

// isFault reports whether an error is about a row and not about the server.
func isFault(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return ok && e.Code != fault.Internal && e.Code != fault.Aborted
}
