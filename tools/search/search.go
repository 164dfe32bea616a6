// Package search holds the tools that search the text of notes.
//
// They read the files themselves, in parallel, so that they are right without
// any index; memory grows with the page that is asked for, not with the vault.
package search

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"vault-mcp/tools"
	"vault-mcp/vault"
)

// Tools are the domain's tools.
func Tools() tools.Domain {
	return tools.Domain{Name: "search", Tools: []tools.Tool{searchText(), searchRegex()}}
}

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
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

type out struct {
	Items      []item    `json:"items"`
	Total      int       `json:"total" jsonschema:"items on all pages together"`
	Notes      int       `json:"notes" jsonschema:"notes that match"`
	NextCursor *string   `json:"next_cursor"`
	Excluded   int       `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings   []warning `json:"warnings,omitempty"`
}

// maxWarnings bounds the notes that are named because they could not be read.
const maxWarnings = 20

// place is where the next page goes on: behind this line.
type place struct {
	Score float64 `json:"s,omitempty"`
	Path  string  `json:"p"`
	Line  int     `json:"l"`
}

// query is one search over a vault.
type query struct {
	call    *tools.Call
	root    *tools.Folder
	cursor  string
	limit   int
	perNote int
	terse   bool
	// match fills in the lines of a note that match, at most perNote of them,
	// and the note's score.
	match func(path string, b []byte) noteHits
}

// noteHits are a note's matching lines in order.
type noteHits struct {
	path  string
	score float64
	lines []item
}

func (q query) run(ctx context.Context) (out, error) {
	res := out{Items: []item{}}
	root, err := q.root.Path()
	if err != nil {
		return res, err
	}
	var after place
	paged, err := q.call.Page(q.cursor, &after)
	if err != nil {
		return res, err
	}
	excluded := q.call.View.Settings().Excluded
	var mu sync.Mutex
	warn := func(path, reason string) {
		mu.Lock()
		defer mu.Unlock()
		res.Warnings = append(res.Warnings, warning{path, reason})
	}
	page := pager{limit: q.limit, paged: paged, after: after}
	o := vault.ScanOptions{WalkOptions: vault.WalkOptions{
		Accept:  func(name string) bool { return vault.Kind(name) == vault.Note },
		Problem: func(path string, err error) { warn(path, err.Error()) },
	}}
	err = q.call.View.Scan(ctx, root, o, func(f vault.File, b []byte, err error) error {
		switch {
		case err != nil:
			warn(f.Path, err.Error())
			return nil
		case bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")):
			warn(f.Path, "it is UTF-16, which is not searched")
			return nil
		}
		if excluded(f.Path) {
			mu.Lock()
			defer mu.Unlock()
			res.Excluded++
			return nil
		}
		if n := q.match(f.Path, b); len(n.lines) > 0 {
			page.add(n)
		}
		return nil
	})
	if err != nil {
		return res, err
	}
	return q.finish(res, &page)
}

func (q query) finish(res out, page *pager) (out, error) {
	slices.SortFunc(res.Warnings, func(a, b warning) int { return strings.Compare(a.Path, b.Path) })
	if n := len(res.Warnings); n > maxWarnings {
		res.Warnings = append(res.Warnings[:maxWarnings:maxWarnings], warning{"", "and more that could not be read"})
	}
	items, more := page.items()
	for _, it := range items {
		if q.terse {
			it.Snippet, it.Match = "", ""
		}
		res.Items = append(res.Items, it)
	}
	res.Total, res.Notes = page.total, page.notes
	if !more {
		return res, nil
	}
	last := items[len(items)-1]
	var err error
	res.NextCursor, err = q.call.NextCursor(place{last.Score, last.Path, last.Line})
	return res, err
}

// pager keeps the best notes behind a place: at most twice as many as a page
// has items, since each has at least one.
type pager struct {
	limit int
	paged bool
	after place

	mu    sync.Mutex
	kept  []noteHits
	total int
	notes int
}

func (p *pager) add(n noteHits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes++
	p.total += len(n.lines)
	if p.paged {
		switch c := compareNotes(n.score, n.path, p.after.Score, p.after.Path); {
		case c < 0:
			return
		case c == 0:
			n.lines = slices.DeleteFunc(n.lines, func(it item) bool { return it.Line <= p.after.Line })
			if len(n.lines) == 0 {
				return
			}
		}
	}
	p.kept = append(p.kept, n)
	if len(p.kept) >= 2*p.limit+2 {
		p.sort()
		clear(p.kept[p.limit+1:])
		p.kept = p.kept[:p.limit+1]
	}
}

// compareNotes orders better notes first, equal ones by path.
func compareNotes(score float64, path string, score2 float64, path2 string) int {
	switch {
	case score > score2:
		return -1
	case score < score2:
		return 1
	}
	return strings.Compare(path, path2)
}

func (p *pager) sort() {
	slices.SortFunc(p.kept, func(a, b noteHits) int { return compareNotes(a.score, a.path, b.score, b.path) })
}

// items is the page, and whether there is another.
func (p *pager) items() ([]item, bool) {
	p.sort()
	var all []item
	for _, n := range p.kept {
		for _, it := range n.lines {
			if len(all) == p.limit {
				return all, true
			}
			it.Path, it.Score = n.path, n.score
			all = append(all, it)
		}
	}
	return all, false
}

// liner turns offsets, which never decrease, into lines and columns. Lines end
// with LF, CRLF or CR.
type liner struct {
	b     []byte
	cr    bool // the text has a CR somewhere
	at    int  // start of the current line
	line  int
	ready bool
}

func (l *liner) seek(offset int) {
	if !l.ready {
		l.ready, l.line = true, 1
		l.cr = bytes.IndexByte(l.b, '\r') >= 0
	}
	if !l.cr {
		part := l.b[l.at:offset]
		if n := bytes.Count(part, []byte{'\n'}); n > 0 {
			l.line += n
			l.at += bytes.LastIndexByte(part, '\n') + 1
		}
		return
	}
	for {
		_, next := l.end()
		if next > offset || next == len(l.b) && next == l.at {
			return
		}
		if next == len(l.b) && !endsLine(l.b) {
			return
		}
		l.at = next
		l.line++
	}
}

func endsLine(b []byte) bool { return len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') }

// end is the end of the current line without and with its line end.
func (l *liner) end() (text, next int) {
	i := -1
	if l.cr {
		i = bytes.IndexAny(l.b[l.at:], "\r\n")
	} else {
		i = bytes.IndexByte(l.b[l.at:], '\n')
	}
	if i < 0 {
		return len(l.b), len(l.b)
	}
	text, next = l.at+i, l.at+i+1
	if l.b[text] == '\r' && next < len(l.b) && l.b[next] == '\n' {
		next++
	}
	return text, next
}

// hit describes a match at an offset in the current line.
func (l *liner) hit(at, length int) item {
	text, _ := l.end()
	return item{
		Line: l.line, Col: units(l.b[l.at:at]) + 1,
		Snippet: snippet(l.b[l.at:text], at-l.at, min(length, text-at)),
	}
}

// units counts UTF-16 units, as the app and the language server protocol do.
func units(b []byte) int {
	n := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		n += utf16.RuneLen(r)
		b = b[size:]
	}
	return n
}

const (
	// before and after bound a snippet around its match, in bytes.
	before = 80
	after  = 160
)

// snippet is a line cut around a match, at whole characters.
func snippet(line []byte, at, length int) string {
	start, end := 0, len(line)
	lead, tail := "", ""
	if at > before+before/2 {
		start, lead = at-before, "…"
		for start < at && !utf8.RuneStart(line[start]) {
			start++
		}
	}
	if most := at + min(length, after) + after; end > most+before/2 {
		end, tail = most, "…"
		for end > at && !utf8.RuneStart(line[end]) {
			end--
		}
	}
	return lead + strings.ToValidUTF8(string(bytes.TrimSpace(line[start:end])), "\uFFFD") + tail
}
