package search

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// place is where the next page goes on: behind this line.
type place struct {
	Score float64 `json:"s,omitempty"`
	Path  string  `json:"p"`
	Line  int     `json:"l"`
}

// shape says which parts of an item are made.
type shape struct{ snippet, match bool }

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
	warnings warnings
}

// kept is a note that may be on the page.
type kept struct {
	score float64
	path  string
	items []item
}

func (p *pager) warn(path, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.warnings.add(path, reason)
}

func (p *pager) exclude() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.excluded++
}

func (p *pager) allWarnings() []warning { return p.warnings.all() }

// add takes in a note that matches.
func (p *pager) add(n noteHits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes++
	p.total += len(n.lines)
	skip := 0
	if p.paged {
		switch c := compareNotes(n.score, n.path, p.behind.Score, p.behind.Path); {
		case c < 0:
			return
		case c == 0:
			for skip < len(n.lines) && n.lines[skip].line <= p.behind.Line {
				skip++
			}
		}
	}
	if p.worst != nil && compareNotes(n.score, n.path, p.worst.score, p.worst.path) > 0 {
		return
	}
	k := kept{score: n.score, path: n.path}
	for i := skip; i < len(n.lines) && len(k.items) <= p.limit; i++ {
		it := n.lines[i].item(n.text)
		it.Path, it.Score, it.More = n.path, n.score, n.more && i == len(n.lines)-1
		if p.shape.snippet {
			it.Snippet = n.lines[i].snippet(n.text)
		}
		if p.shape.match {
			it.Match = n.lines[i].matched(n.text)
		}
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
