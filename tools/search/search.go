// Package search holds the tools that search the text of notes and what is
// known of them.
//
// While the index serves, it says which notes can match; those are read, or
// only those of the page that is asked for. Without it the files are read, in
// parallel, with the same answers: what a search finds and how it ranks depends
// on each note alone. Memory grows with the page, not with the text.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"vault-mcp/cache/index"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// Tools are the domain's tools.
func Tools() tools.Domain {
	return tools.Domain{Name: "search", Tools: []tools.Tool{searchText(), searchRegex(), searchVault(), searchJSONLogic()}}
}

// verbosity says how much of a hit comes back.
type verbosity string

// Values lists them for the schema.
func (verbosity) Values() []string { return []string{"full", "terse"} }

// item is one matching line, or a file that matches as a whole.
type item struct {
	Path    string  `json:"path"`
	Line    int     `json:"line,omitempty"`
	Col     int     `json:"col,omitempty" jsonschema:"in UTF-16 units, from 1"`
	Snippet string  `json:"snippet,omitempty" jsonschema:"the line, cut around the match"`
	Match   string  `json:"match,omitempty"`
	Score   float64 `json:"score,omitempty"`
	More    bool    `json:"more,omitempty" jsonschema:"the note has more matching lines than are listed"`
}

type warning struct {
	Path   string `json:"path,omitempty"`
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
}

type out struct {
	ModeUsed   string    `json:"mode_used"`
	Items      []item    `json:"items"`
	Total      int       `json:"total" jsonschema:"items on all pages together; search_text: how often the text occurs in all notes"`
	Notes      int       `json:"notes" jsonschema:"notes that match"`
	NextCursor *string   `json:"next_cursor"`
	Index      string    `json:"index,omitempty" jsonschema:"why the files were read instead of the index; the answer is complete"`
	Excluded   int       `json:"excluded,omitempty" jsonschema:"files left out because Obsidian's settings exclude them"`
	Warnings   []warning `json:"warnings,omitempty"`
}

// session is one call of a search tool.
type session struct {
	call     *tools.Call
	root     vault.Path
	excluded func(path string) bool
	excludes bool // something
	page     *pager
	index    string            // why the index does not answer
	failed   func(path string) // is called for a file that cannot be read; nil if nothing is to be done
}

func begin(c *tools.Call, root *tools.Folder, cursor string, limit int, sh shape) (*session, error) {
	p, err := root.Path()
	if err != nil {
		return nil, err
	}
	var behind place
	paged, err := c.Page(cursor, &behind)
	if err != nil {
		return nil, err
	}
	set := c.View.Settings()
	return &session{
		call: c, root: p, excluded: set.Excluded, excludes: len(set.IgnoreFilters) > 0,
		page: &pager{limit: limit, shape: sh, paged: paged, behind: behind},
	}, nil
}

// below reports whether a path is in the folder that is searched.
func (s *session) below(path string) bool {
	root := s.root.String()
	return root == "" || len(path) > len(root) && path[len(root)] == '/' && path[:len(root)] == root
}

// indexed asks the index with ask, or says that it cannot answer now. The text
// of notes is there only if it was asked for.
func (s *session) indexed(ctx context.Context, withText bool, ask func(corpus) error) (bool, error) {
	ix := s.call.View.Index()
	if ix == nil {
		return false, nil
	}
	status := ix.Status(nil)
	var c corpus
	answer := func(m *index.Model, t *index.Text, v *visible) error {
		c = corpus{notes: m, text: t, view: v}
		for _, f := range status.Skipped {
			// A canvas that cannot be read matters to who reads its cards, and
			// that one says so.
			if !s.below(f.Path) || !s.call.View.Sees(f.Path) || vault.Kind(f.Path) == vault.Canvas {
				continue
			}
			if n, ok := m.Note(f.Path); !ok && m.Has(f.Path) {
				continue // a canvas, which is read where it is searched
			} else if !ok {
				c.skipped = append(c.skipped, f)
			} else if n.Problem != "" {
				c.unread = append(c.unread, f.Path)
			}
		}
		return ask(c)
	}
	var err error
	if withText {
		err = s.call.View.Text(ctx, answer)
	} else {
		err = ix.Read(ctx, func(m *index.Model) error { return answer(m, nil, nil) })
	}
	if errors.Is(err, index.ErrNotReady) {
		s.index = progress(ix.Status(s.call.View.Sees))
		return false, nil
	}
	if err != nil {
		return true, err
	}
	if s.page.behind.Building {
		return true, fault.New(fault.InvalidInput, "The cursor was made while the index was being built, and has expired; start again without one.").
			With("argument", "cursor").With("reason", "expired")
	}
	for _, f := range c.skipped {
		s.page.warn(f.Path, 0, f.Reason)
	}
	return true, nil
}

// progress says how far an index is that cannot answer.
func progress(s index.Status) string {
	switch {
	case s.Phase == index.Degraded:
		return "not usable: " + s.Reason
	case s.Phase == index.Stopped:
		return ""
	case s.Counted:
		return fmt.Sprintf("building, %d of %d", s.Done, s.Total)
	}
	return "building"
}

// finish makes the answer.
func (s *session) finish(mode string) (out, error) {
	items, more := s.page.items()
	res := out{
		ModeUsed: mode, Items: []item{}, Total: s.page.total, Notes: s.page.notes, Index: s.index,
		Excluded: s.page.excluded, Warnings: s.page.allWarnings(),
	}
	fit, err := s.fit(items, res.Warnings)
	if err != nil {
		return res, err
	}
	more = more || fit < len(items)
	res.Items = append(res.Items, items[:fit]...)
	if more {
		last := items[fit-1]
		res.NextCursor, err = s.call.NextCursor(place{last.Score, last.Path, last.Line, s.index != ""})
	}
	return res, err
}

// fit is how many items, at least one, go into an answer: a page that would
// pass the budget ends early.
func (s *session) fit(items []item, warnings []warning) (int, error) {
	left := s.call.Budget - s.call.Budget/8 // for the cursor, and what is around
	spend := func(row any) error {
		n, err := s.call.Cost(row)
		if err != nil {
			return err
		}
		m, err := s.call.TextCost(row)
		left -= n + m + len(", - \n")
		return err
	}
	for _, w := range warnings {
		if err := spend(w); err != nil {
			return 0, err
		}
	}
	for i := range items {
		if err := spend(items[i]); err != nil {
			return 0, err
		}
		if left < 0 {
			return max(i, 1), nil
		}
	}
	return len(items), nil
}

// maxWarnings bounds the notes that are named because they could not be read.
const maxWarnings = 20

// warnings are the first by path of all that were added.
type warnings struct {
	mu    sync.Mutex
	list  []warning
	total int
}

func (ws *warnings) warn(path string, line int, reason string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.total++
	if ws.list = append(ws.list, warning{path, line, reason}); len(ws.list) > 2*maxWarnings {
		ws.cut()
	}
}

func (ws *warnings) cut() {
	slices.SortFunc(ws.list, func(a, b warning) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason))
	})
	ws.list = ws.list[:min(len(ws.list), maxWarnings)]
}

// allWarnings are the first, and how many others there are.
func (ws *warnings) allWarnings() []warning {
	ws.cut()
	if more := ws.total - len(ws.list); more > 0 {
		return append(ws.list, warning{Reason: fmt.Sprintf("%d more that could not be read", more)})
	}
	return ws.list
}
