package tools

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"vault-mcp/internal/compact"
)

// Room is what is left of a call's budget for the rows of its answer: of the soft
// one, where a list is cut to whole rows and says so.
type Room struct {
	call    *Call
	left    int // bytes
	rows    int
	columns map[string]bool // of the table that the text half shows
}

// CutList tells in a list that it ends before its limit, as the soft budget of
// lists is used up.
type CutList struct {
	Shown int `json:"shown"`
	// Left is not known where rows are made one by one.
	Left   int    `json:"left,omitempty" jsonschema:"items of this page that were left out; where there is a total, it counts all"`
	Budget int    `json:"budget" jsonschema:"bytes that a list may have: governor.soft_list_bytes"`
	Next   string `json:"next" jsonschema:"how to get the rest, or less"`
}

// listBudget is the bytes that a list may have.
func (c *Call) listBudget() int { return c.Soft.List(c.Budget) }

// cutRoom is kept free for a CutList in both halves, in bytes.
const cutRoom = 600

// Room is the budget of a list without an eighth, for the cursor and what is
// around the rows, and without what the warnings take.
func (c *Call) Room(ws []Warning) (*Room, error) {
	budget := c.listBudget()
	r := &Room{call: c, left: budget - budget/8 - cutRoom, columns: map[string]bool{}}
	for _, w := range ws {
		if err := r.Spend(w); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Spend takes away at least what something costs in both halves of the answer
// that is no row.
func (r *Room) Spend(what any) error {
	b, err := marshal(what)
	r.left -= len(compact.AppendString(nil, string(b))) + len(", - \n")
	if !r.call.TextOnly {
		r.left -= len(b)
	}
	return err
}

// Takes spends what a row costs and reports whether it still fits. The first
// one always does, so that a list that goes on comes to an end.
func (r *Room) Takes(row any) (bool, error) {
	ok, err := r.takes(row)
	if err == nil && !ok {
		r.call.leftOut(r.rows-1, 0)
	}
	return ok, err
}

func (r *Room) takes(row any) (bool, error) {
	b, err := marshal(row)
	if err != nil {
		return false, err
	}
	r.left -= r.cost(b)
	r.rows++
	return r.left >= 0 || r.rows == 1, nil
}

// cost is what a row takes in the structured half, and as a line of a table in
// the text half.
func (r *Room) cost(row json.RawMessage) int {
	n := len(row) + len(",- \n")
	ok := compact.Cells(row, func(column string, size int) {
		if !r.columns[column] {
			r.columns[column] = true
			n += len(column) + len(" | ")*(r.rows+1) // the title, and an empty cell in each row before
		}
		n += size
	})
	if ok && !r.call.TextOnly {
		return n + len(" | ")*len(r.columns)
	}
	n = len(compact.AppendString(nil, string(row))) + len(", - \n")
	if !r.call.TextOnly {
		n += len(row)
	}
	return n
}

// leftOut keeps for the answer that the budget has cut a list.
func (c *Call) leftOut(shown, left int) {
	next := "next_cursor goes on"
	if c.Tool != nil && c.Tool.Narrow != "" {
		next += "; for less: " + c.Tool.Narrow
	}
	c.cut = &CutList{shown, left, c.listBudget(), next}
}

// Fit is how many rows go into an answer: a page that would pass the budget
// ends early.
func Fit[T any](c *Call, rows []T, ws []Warning) (int, error) {
	n, err := Fits(c, rows, ws)
	if err == nil && n < len(rows) {
		c.leftOut(n, len(rows)-n)
	}
	return n, err
}

// Fits is Fit for rows of which the tool itself says how to get the rest.
func Fits[T any](c *Call, rows []T, ws []Warning) (int, error) {
	r, err := c.Room(ws)
	if err != nil {
		return 0, err
	}
	for i := range rows {
		if ok, err := r.takes(rows[i]); !ok || err != nil {
			return i, err
		}
	}
	return len(rows), nil
}

// Page is the rows of one page, at most limit of them, and whether there are
// more. rows may go on behind the page.
func Page[T any](c *Call, rows []T, limit int, ws []Warning) (page []T, more bool, err error) {
	n, err := Fit(c, rows[:min(len(rows), limit)], ws)
	return rows[:n], n < len(rows), err
}

// SortKey is what a name of any length is sorted by where a list goes on behind
// it: the name itself, if a cursor can hold it.
func SortKey(name string) string {
	const most = 1000 // bytes
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
}
