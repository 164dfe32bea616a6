// Package search holds the tools that search the text of notes and what is
// known of them.
//
// While the index serves, it says which notes can match; those are read, or
// only those of the page that is asked for. Without it the files are read, in
// parallel, with the same answers: what a search finds and how it ranks depends
// on each note alone. Memory grows with the page, not with the text.
package search

import (
	"context"
	"errors"
	"fmt"

	"vault-mcp/cache/index"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// Tools are the domain's tools.
func Tools() tools.Domain {
	return tools.Domain{Name: "search", Tools: []tools.Tool{searchText(), searchRegex(), searchVault(), searchJSONLogic()}}
}

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

type out struct {
	ModeUsed string `json:"mode_used"`
	Items    []item `json:"items"`
	// How many lines a text is on is known only once all notes are read; how often
	// it occurs the index knows.
	Total       *int            `json:"total,omitempty" jsonschema:"items on all pages together"`
	Occurrences *int            `json:"occurrences,omitempty" jsonschema:"how often the text occurs in all notes, of search_text instead of total"`
	Notes       int             `json:"notes" jsonschema:"notes that match"`
	NextCursor  *string         `json:"next_cursor"`
	Index       string          `json:"index,omitempty" jsonschema:"why the files were read instead of the index; the answer is complete"`
	Excluded    int             `json:"excluded,omitempty" jsonschema:"files left out because Obsidian's settings exclude them"`
	Warnings    []tools.Warning `json:"warnings,omitempty"`
}

// session is one call of a search tool.
type session struct {
	call     *tools.Call
	root     vault.Path
	excluded func(path string) bool
	excludes bool // something
	page     *pager
	warnings *tools.Warnings
	index    string            // why the index does not answer
	failed   func(path string) // is called for a file that cannot be read; nil if nothing is to be done
	canvases bool              // are read, too
	names    bool              // nothing is read: names are enough
	filling  bool              // what is read is only read for this page
	// again are the notes that the index could not read; they are read and judged
	// here. served is set if the index knows the others.
	again  map[string]bool
	served bool
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
		page: &pager{limit: limit, shape: sh, paged: paged, behind: behind}, warnings: c.NewWarnings(paged),
	}, nil
}

// below reports whether a path is in the folder that is searched.
func (s *session) below(path string) bool {
	root := s.root.String()
	return root == "" || len(path) > len(root) && path[len(root)] == '/' && path[:len(root)] == root
}

// reads reports whether a file is one that the search reads, or a folder of such.
func (s *session) reads(path string) bool {
	return s.below(path) && (s.canvases || vault.Kind(path) != vault.Canvas) && !s.excluded(path)
}

// indexed asks the index with ask, or says that it cannot answer now. The text
// of notes is there only if it was asked for.
func (s *session) indexed(ctx context.Context, withText bool, ask func(corpus) error) (bool, error) {
	ix := s.call.View.Index()
	if ix == nil {
		return false, nil
	}
	answer := func(m *index.Model, t *index.Text, v *visible) error {
		c := corpus{notes: m, text: t, view: v}
		// What could not be read is read again, and named if that fails; it may
		// only have been too large for the index.
		s.again, s.served = map[string]bool{}, true
		known := map[string]bool{}
		for _, n := range m.Flawed() {
			if known[n.Path] = s.names; n.Problem == "" || vault.Kind(n.Path) == vault.Canvas {
				continue
			}
			known[n.Path], s.again[n.Path] = true, true
			if s.below(n.Path) && s.call.View.Sees(n.Path) {
				c.unread = append(c.unread, n.Path)
			}
		}
		s.warnings.Model(m, func(path string) bool { return s.reads(path) && !known[path] })
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
		ModeUsed: mode, Items: []item{}, Notes: s.page.notes, Index: s.index,
		Excluded: s.page.excluded, Warnings: s.warnings.List(),
	}
	if mode == "text" {
		res.Occurrences = &s.page.total
	} else {
		res.Total = &s.page.total
	}
	fit, err := tools.Fit(s.call, items, res.Warnings)
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
