// Package search holds the tools that search the text of notes.
//
// They read the files themselves, in parallel, so that they are right without
// any index; memory grows with the page that is asked for, not with the vault
// or the number of matches.
package search

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"vault-mcp/tools"
	"vault-mcp/vault"
)

// Tools are the domain's tools.
func Tools() tools.Domain {
	return tools.Domain{Name: "search", Tools: []tools.Tool{searchText(), searchRegex()}}
}

// maxNote is the largest note that is searched, in bytes: as large as one that
// can be read.
const maxNote = 64 << 20

// verbosity says how much of a hit comes back.
type verbosity string

// Values lists them for the schema.
func (verbosity) Values() []string { return []string{"full", "terse"} }

// item is one matching line.
type item struct {
	Path    string  `json:"path"`
	Line    int     `json:"line"`
	Col     int     `json:"col" jsonschema:"in UTF-16 units, from 1"`
	Snippet string  `json:"snippet,omitempty" jsonschema:"the line, cut around the match"`
	Match   string  `json:"match,omitempty"`
	Score   float64 `json:"score,omitempty"`
	More    bool    `json:"more,omitempty" jsonschema:"the note has more matching lines than are listed"`
}

type warning struct {
	Path   string `json:"path,omitempty"`
	Reason string `json:"reason"`
}

type out struct {
	ModeUsed   string    `json:"mode_used"`
	Items      []item    `json:"items"`
	Total      int       `json:"total" jsonschema:"items on all pages together"`
	Notes      int       `json:"notes" jsonschema:"notes that match"`
	NextCursor *string   `json:"next_cursor"`
	Excluded   int       `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings   []warning `json:"warnings,omitempty"`
}

// query is one search over a vault.
type query struct {
	call   *tools.Call
	mode   string
	root   *tools.Folder
	cursor string
	limit  int
	shape  shape
	match  matcher
}

// matcher finds the lines of a note that match. Several goroutines use it at
// the same time, each with a workspace of its own.
type matcher interface {
	match(ctx context.Context, w *workspace, path string, b []byte) noteHits
}

// noteHits are the matching lines of one note, in order. They are valid until
// the workspace is used again.
type noteHits struct {
	path  string
	score float64
	text  []byte // what the offsets of lines are about
	lines []hit
	more  bool // the note has more matching lines
}

// workspace is what one goroutine needs to search a note, kept for the next.
type workspace struct {
	finding finding
	liner   liner
	lines   []hit
	text    []byte
	runes   runes
}

func (q query) run(ctx context.Context) (out, error) {
	res := out{ModeUsed: q.mode, Items: []item{}}
	root, err := q.root.Path()
	if err != nil {
		return res, err
	}
	var behind place
	paged, err := q.call.Page(q.cursor, &behind)
	if err != nil {
		return res, err
	}
	excluded := q.call.View.Settings().Excluded
	page := &pager{limit: q.limit, shape: q.shape, paged: paged, behind: behind}
	spaces := sync.Pool{New: func() any { return new(workspace) }}
	o := vault.ScanOptions{MaxBytes: maxNote, WalkOptions: vault.WalkOptions{
		Accept:  func(name string) bool { return vault.Kind(name) == vault.Note },
		Problem: func(path string, err error) { page.warn(path, err.Error()) },
	}}
	err = q.call.View.Scan(ctx, root, o, func(f vault.File, b []byte, err error) error {
		switch {
		case excluded(f.Path):
			page.exclude()
		case err != nil:
			page.warn(f.Path, err.Error())
		case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
			page.warn(f.Path, "it is UTF-16, which is not searched")
		default:
			w := spaces.Get().(*workspace)
			defer spaces.Put(w)
			// A byte-order mark is no part of the first line.
			if n := q.match.match(ctx, w, f.Path, bytes.TrimPrefix(b, []byte("\ufeff"))); len(n.lines) > 0 {
				page.add(n)
			}
			return ctx.Err() // a match that was cut short does not count
		}
		return nil
	})
	if err != nil {
		return res, err
	}
	return q.finish(res, page)
}

func (q query) finish(res out, page *pager) (out, error) {
	items, more := page.items()
	res.Total, res.Notes, res.Excluded = page.total, page.notes, page.excluded
	res.Warnings = page.allWarnings()
	fit, err := q.fit(items, res.Warnings)
	if err != nil {
		return res, err
	}
	more = more || fit < len(items)
	res.Items = append(res.Items, items[:fit]...)
	if more {
		last := items[fit-1]
		res.NextCursor, err = q.call.NextCursor(place{last.Score, last.Path, last.Line})
	}
	return res, err
}

// fit is how many items, at least one, go into an answer: a page that would
// pass the budget ends early.
func (q query) fit(items []item, warnings []warning) (int, error) {
	left := q.call.Budget - q.call.Budget/8 // for the cursor, and what is around
	spend := func(row any) error {
		n, err := q.call.Cost(row)
		if err != nil {
			return err
		}
		m, err := q.call.TextCost(row)
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
	list  []warning
	total int
}

func (ws *warnings) add(path, reason string) {
	ws.total++
	if ws.list = append(ws.list, warning{path, reason}); len(ws.list) > 2*maxWarnings {
		ws.cut()
	}
}

func (ws *warnings) cut() {
	slices.SortFunc(ws.list, func(a, b warning) int { return strings.Compare(a.Path, b.Path) })
	ws.list = ws.list[:min(len(ws.list), maxWarnings)]
}

// all are the first, and how many others there are.
func (ws *warnings) all() []warning {
	ws.cut()
	if more := ws.total - len(ws.list); more > 0 {
		return append(ws.list, warning{Reason: fmt.Sprintf("%d more that could not be read", more)})
	}
	return ws.list
}
