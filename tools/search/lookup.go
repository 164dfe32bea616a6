package search

import (
	"context"
	"slices"
	"sync"

	"vault-mcp/cache/index"
	"vault-mcp/cache/index/terms"
	"vault-mcp/tools/search/match"
)

// visible is what a caller may see of the full text.
type visible = terms.View

// corpus is the index during a question: the text and its view only if they
// were asked for.
type corpus struct {
	notes *index.Model
	text  *index.Text
	view  *visible
	// unread are the notes below the root whose content could not be read, as far
	// as the caller may know.
	unread []string
}

// lookup is a search for lines in notes.
type lookup struct {
	*session
	mode  string
	match matcher
	// literals are texts of which every match holds one, if any are known.
	literals []string
	// text is set if the search is for a text, which the index may count.
	text *textMatcher

	spaces sync.Pool
}

// matcher finds the lines of a note that match. Several goroutines use it at
// the same time, each with a Workspace of its own. size is that of the file.
type matcher interface {
	match(ctx context.Context, w *match.Workspace, path string, b []byte, size int) noteHits
}

// ranked is a note whose score is known without its text.
type ranked struct {
	score float64
	path  string
}

func (q *lookup) space() *match.Workspace {
	if w, ok := q.spaces.Get().(*match.Workspace); ok {
		return w
	}
	return new(match.Workspace)
}

func (q *lookup) run(ctx context.Context) (out, error) {
	visit := func(f source) {
		w := q.space()
		defer q.spaces.Put(w)
		if n := q.match.match(ctx, w, f.path, f.text, f.size); len(n.Lines) > 0 && ctx.Err() == nil {
			q.page.add(n)
		}
	}
	var p proposal
	served, err := false, error(nil)
	if q.literals != nil {
		served, err = q.indexed(ctx, true, func(c corpus) error { p = q.propose(c); return nil })
	}
	switch {
	case err != nil:
	case !served:
		err = q.scan(ctx, isNote, visit)
	default:
		q.page.exclude(p.excluded)
		q.page.count(len(p.exact), p.total)
		if err = q.read(ctx, p.read, p.of, visit); err == nil && len(p.exact) > 0 {
			err = q.fill(ctx, p.exact, p.of)
		}
	}
	if err != nil {
		return out{}, err
	}
	return q.finish(q.mode)
}

// proposal is what the index knows: every note that matches is in exact or
// read.
type proposal struct {
	exact    []ranked // match, and are on the page if they are good enough
	total    int      // matches in exact
	read     []string // have to be read
	excluded int
	of       int // notes there are
}

func (q *lookup) propose(c corpus) proposal {
	p := proposal{of: c.notes.Len()}
	if q.excludes {
		for n := range c.notes.NotesBelow(q.root.String()) {
			if q.excluded(n.Path) && q.call.View.Sees(n.Path) {
				p.excluded++
			}
		}
	}
	for _, path := range c.unread { // to say what is wrong with them, or to search them nevertheless
		if !q.excluded(path) {
			p.read = append(p.read, path)
		}
	}
	w := q.space()
	defer q.spaces.Put(w)
	var seen ids
	for _, l := range q.literals {
		for _, h := range q.candidates(c, l) {
			n, ok := c.notes.ByID(c.text.Note(h.Doc))
			if !ok || !seen.add(n.ID) || !q.below(n.Path) || q.excluded(n.Path) {
				continue
			}
			if !h.Exact || q.text == nil || !q.text.countable {
				p.read = append(p.read, n.Path)
				continue
			}
			p.total += int(h.Count)
			p.exact = append(p.exact, ranked{q.text.score(w, n.Path, int(h.Count), int(n.Size)), n.Path})
		}
	}
	return p
}

func (q *lookup) candidates(c corpus, literal string) []terms.Hit {
	if q.text != nil && q.text.word {
		return c.text.Index.Whole(literal, c.view)
	}
	return c.text.Index.Candidates(literal, c.view)
}

// fill reads the best notes until the page is full.
func (q *lookup) fill(ctx context.Context, notes []ranked, of int) error {
	q.filling = true
	notes = slices.DeleteFunc(notes, func(n ranked) bool { return !q.page.isBehind(n.score, n.path) })
	slices.SortFunc(notes, func(a, b ranked) int { return compareNotes(a.score, a.path, b.score, b.path) })
	step := q.page.limit/q.text.perNote + 2
	for len(notes) > 0 && !q.page.fullBefore(notes[0].score, notes[0].path) {
		some := notes[:min(step, len(notes))]
		notes = notes[len(some):]
		paths := make([]string, len(some))
		scores := make(map[string]float64, len(some))
		for i, n := range some {
			paths[i], scores[n.path] = n.path, n.score
		}
		err := q.read(ctx, paths, of, func(f source) {
			w := q.space()
			defer q.spaces.Put(w)
			n := q.match.match(ctx, w, f.path, f.text, f.size)
			n.score, n.known = scores[f.path], true // as it was ranked, also if the file has changed since
			q.page.add(n)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ids is a set of the numbers of notes.
type ids []uint64

// add puts a number in and reports whether it was not there.
func (s *ids) add(id uint32) bool {
	for int(id>>6) >= len(*s) {
		*s = append(*s, 0)
	}
	bit := uint64(1) << (id & 63)
	if (*s)[id>>6]&bit != 0 {
		return false
	}
	(*s)[id>>6] |= bit
	return true
}

func (s ids) has(id uint32) bool { return int(id>>6) < len(s) && s[id>>6]>>(id&63)&1 != 0 }
