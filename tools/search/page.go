package search

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"vault-mcp/tools/search/match"
)

// place is where the next page goes on: behind this line.
type place struct {
	Score float64 `json:"s,omitempty"`
	Path  string  `json:"p"`
	Line  int     `json:"l"`
	// Building is set if the index could not answer.
	Building bool `json:"b,omitempty"`
}

// shape says which parts of an item are made.
type shape struct{ snippet, match bool }

// noteHits are the matching lines of one file; a line 0 is the file as a whole.
type noteHits struct {
	path  string
	score float64
	match.Found
	known bool // the file and its matches are counted already
}

// pager collects what goroutines find, and keeps the best lines behind a
// place: at most three times as many as a page has, whatever comes in.
type pager struct {
	limit  int
	shape  shape
	paged  bool
	behind place

	mu       sync.Mutex
	kept     []kept
	lines    int   // in kept
	worst    *kept // that can be on the page, once there is enough for one
	total    int
	notes    int
	excluded int
}

// kept is a note that may be on the page.
type kept struct {
	score float64
	path  string
	items []item
}

func (p *pager) exclude(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.excluded += n
}

// count adds files that match, and their matches.
func (p *pager) count(notes, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes += notes
	p.total += total
}

// isBehind reports whether a note can have lines behind the place.
func (p *pager) isBehind(score float64, path string) bool {
	return !p.paged || compareNotes(score, path, p.behind.Score, p.behind.Path) >= 0
}

// add takes in a note that matches.
func (p *pager) add(n noteHits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !n.known {
		p.notes++
		p.total += n.Total
	}
	if !p.isBehind(n.score, n.path) {
		return
	}
	skip := 0
	if p.paged && n.path == p.behind.Path && n.score == p.behind.Score {
		for skip < len(n.Lines) && n.Lines[skip].Line <= p.behind.Line {
			skip++
		}
	}
	if p.worst != nil && compareNotes(n.score, n.path, p.worst.score, p.worst.path) > 0 {
		return
	}
	k := kept{score: n.score, path: n.path}
	for i := skip; i < len(n.Lines) && len(k.items) <= p.limit; i++ {
		it := p.item(&n, n.Lines[i])
		it.More = n.More && i == len(n.Lines)-1
		k.items = append(k.items, it)
	}
	if len(k.items) == 0 {
		return
	}
	p.kept = append(p.kept, k)
	if p.lines += len(k.items); p.lines > 2*(p.limit+1) {
		p.cut()
	}
}

func (p *pager) item(n *noteHits, h match.Hit) item {
	if h.Line == 0 {
		return item{Path: n.path, Score: n.score}
	}
	it := item{Path: n.path, Line: h.Line, Col: h.Column(n.Text), Score: n.score}
	if p.shape.snippet {
		it.Snippet = h.Snippet(n.Text)
	}
	if p.shape.match {
		it.Match = h.Match(n.Text)
	}
	return it
}

// cut drops the notes that cannot be on the page.
func (p *pager) cut() {
	p.sort()
	p.lines = 0
	for i := range p.kept {
		if p.lines += len(p.kept[i].items); p.lines > p.limit {
			clear(p.kept[i+1:])
			p.kept = p.kept[:i+1]
			p.worst = &kept{score: p.kept[i].score, path: p.kept[i].path}
			return
		}
	}
}

// fullBefore reports whether the page, and one line more, is there without a
// note and all that are worse.
func (p *pager) fullBefore(score float64, path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := 0
	for i := range p.kept {
		if compareNotes(p.kept[i].score, p.kept[i].path, score, path) < 0 {
			lines += len(p.kept[i].items)
		}
	}
	return lines > p.limit
}

// compareNotes orders better notes first, equal ones by path.
func compareNotes(score float64, path string, score2 float64, path2 string) int {
	return cmp.Or(cmp.Compare(score2, score), strings.Compare(path, path2))
}

func (p *pager) sort() {
	slices.SortFunc(p.kept, func(a, b kept) int { return compareNotes(a.score, a.path, b.score, b.path) })
}

// items is the page, and whether there is another.
func (p *pager) items() ([]item, bool) {
	p.sort()
	var all []item
	for i := range p.kept {
		if all = append(all, p.kept[i].items...); len(all) > p.limit {
			return all[:p.limit], true
		}
	}
	return all, false
}
