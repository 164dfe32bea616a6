package tools

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Room is what is left of a call's budget for the rows of its answer.
type Room struct {
	call *Call
	left int // bytes
	rows int
}

// Room is the budget without an eighth, for the cursor and what is around the
// rows, and without what the warnings take.
func (c *Call) Room(ws []Warning) (*Room, error) {
	r := &Room{call: c, left: c.Budget - c.Budget/8}
	for _, w := range ws {
		if err := r.Spend(w); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Spend takes away what a row costs in both halves of the answer.
func (r *Room) Spend(row any) error {
	n, err := r.call.costs(row)
	r.left -= n + len(", - \n")
	return err
}

// Takes spends what a row costs and reports whether it still fits. The first
// one always does, so that a list that goes on comes to an end.
func (r *Room) Takes(row any) (bool, error) {
	err := r.Spend(row)
	r.rows++
	return r.left >= 0 || r.rows == 1, err
}

// Fit is how many rows go into an answer: a page that would pass the budget
// ends early.
func Fit[T any](c *Call, rows []T, ws []Warning) (int, error) {
	r, err := c.Room(ws)
	if err != nil {
		return 0, err
	}
	for i := range rows {
		if ok, err := r.Takes(rows[i]); !ok || err != nil {
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
