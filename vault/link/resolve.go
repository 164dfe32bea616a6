package link

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Resolve is the file that a link in the note from leads to. from is a path of the vault as on disk; target is the text
// of the link without what is shown, percent-decoded if it stood in a Markdown link. A sub-path does not matter. visible
// says which files may be known of, nil meaning all: the others are as if they did not exist.
//
// The rules, as observed of Obsidian 1.13 and in this order: nothing means the note itself. "./" and "../" count from the
// note's folder, and nothing else is tried then. A slash at the start means nothing. A path from the root, with ".md"
// behind it or spelled out, wins over all. Else, of all files whose path ends in "/" and the text, one in the note's own
// folder, and then the one with the shortest path. Neither case, nor Unicode form, nor aliases, nor folders above the
// note count. A text without a dot means a file without extension only if there is no such note.
//
// Between equals, which Obsidian takes as they come, the one spelled as the link is chosen, then the first in byte order.
func (x *Index) Resolve(from, target string, visible func(path string) bool) (string, bool) {
	q, ok := newQuery(from, target)
	if !ok {
		return "", false
	}
	q.visible = visible
	x.mu.RLock()
	defer x.mu.RUnlock()
	id := x.resolve(&q)
	if id < 0 {
		return "", false
	}
	return x.files[id].path, true
}

// Candidates are the files that a link can mean, the one that Resolve chooses first and the others in the order in which
// they would take its place. At most limit are returned; a limit below 1 means all.
func (x *Index) Candidates(from, target string, limit int, visible func(path string) bool) []string {
	q, ok := newQuery(from, target)
	if !ok {
		return nil
	}
	q.visible = visible
	x.mu.RLock()
	defer x.mu.RUnlock()
	var found []candidate
	for _, ext := range [...]string{"", noteExt} {
		if q.exactly && ext != "" {
			break
		}
		byFold, _ := x.named(nameOf(q.text), ext)
		for _, id := range byFold {
			f := &x.files[id]
			if q.matches(f, ext) && q.sees(f) {
				found = append(found, candidate{f, ext, q.rank(f, ext)})
			}
		}
	}
	slices.SortFunc(found, q.compare)
	if limit > 0 && len(found) > limit {
		found = found[:limit]
	}
	paths := make([]string, len(found))
	for i, c := range found {
		paths[i] = c.path
	}
	return paths
}

// query is one look-up.
type query struct {
	from    string
	spelled string // the text of the link, or "" if its spelling does not matter
	text    string // folded
	dotted  bool   // the last name has a dot, so that it may be a whole file name
	whole   bool   // text is a path from the root
	exactly bool   // text is a path from the root with its extension
	visible func(string) bool
}

func newQuery(from, raw string) (query, bool) {
	t := clean(raw)
	switch {
	case !t.ok:
		return query{}, false
	case t.self:
		return query{from: from, spelled: from, text: fold(from), dotted: true, whole: true, exactly: true}, true
	case t.relative:
		t.text = path.Join(folderOf(from), t.text)
		if strings.HasPrefix(t.text, "../") {
			return query{}, false
		}
	}
	text := fold(t.text)
	return query{
		from: from, spelled: t.text, text: text, whole: t.relative,
		dotted: strings.LastIndexByte(nameOf(text), '.') > 0,
	}, true
}

func (q *query) sees(f *file) bool { return q.visible == nil || q.visible(f.path) }

// matches reports whether the path of f is the text and ext, or ends so where that is enough.
func (q *query) matches(f *file, ext string) bool {
	rest, ok := strings.CutSuffix(f.fold, ext)
	if ok {
		rest, ok = strings.CutSuffix(rest, q.text)
	}
	return ok && (rest == "" || !q.whole && rest[len(rest)-1] == '/')
}

// asSpelled reports whether the path of f is spelled as the link is.
func (q *query) asSpelled(f *file, ext string) bool {
	return strings.HasSuffix(f.path[:max(len(f.path)-len(ext), 0)], q.spelled)
}

func (x *Index) resolve(q *query) int32 {
	switch {
	case q.exactly:
		return x.best(q, "")
	case q.dotted:
		return x.best(q, "", noteExt)
	}
	if id := x.best(q, noteExt); id >= 0 {
		return id
	}
	return x.best(q, "")
}

// best is the file that the text and one of exts lead to, or -1.
func (x *Index) best(q *query, exts ...string) int32 {
	base := nameOf(q.text)
	namesakes := 0
	for _, ext := range exts {
		byFold, _ := x.named(base, ext)
		namesakes += len(byFold)
		if id := x.spelled(q, ext, x.equal(byFold, q.text, ext)); id >= 0 {
			return id
		}
	}
	if namesakes == 0 || q.whole {
		return -1
	}
	if namesakes > 1 {
		if id := x.beside(q, base, exts); id >= 0 {
			return id
		}
	}
	shortest := int32(-1)
	for _, ext := range exts {
		id := x.shortest(q, ext)
		if id >= 0 && (shortest < 0 || x.files[id].size < x.files[shortest].size) {
			shortest = id
		}
	}
	return shortest
}

// beside is the best file in the note's own folder, or -1.
func (x *Index) beside(q *query, base string, exts []string) int32 {
	folder := folderOf(q.from)
	if folder == "" {
		return -1
	}
	folded := fold(folder)
	for _, ext := range exts {
		byFold, _ := x.named(base, ext)
		ids := x.equal(byFold, folded, "/", base, ext)
		if len(ids) > 0 && q.matches(&x.files[ids[0]], ext) {
			if id := x.spelled(q, ext, ids); id >= 0 {
				return id
			}
		}
	}
	return -1
}

// spelled is the best of files with one folded path, or -1.
func (x *Index) spelled(q *query, ext string, ids []int32) int32 {
	best := int32(-1)
	for _, id := range ids {
		f := &x.files[id]
		if !q.sees(f) {
			continue
		}
		if best < 0 || q.compareTwins(f, &x.files[best], ext) < 0 {
			best = id
		}
	}
	return best
}

// shortest is the file with the shortest path that ends in the text and ext, or -1.
func (x *Index) shortest(q *query, ext string) int32 {
	_, bySize := x.named(nameOf(q.text), ext)
	best := int32(-1)
	for _, id := range bySize {
		f := &x.files[id]
		if best >= 0 && f.size > x.files[best].size {
			break
		}
		if !q.matches(f, ext) || best >= 0 && !q.asSpelled(f, ext) || !q.sees(f) {
			continue
		}
		if best = id; q.asSpelled(f, ext) {
			break
		}
	}
	return best
}

// candidate is a file that a link can mean.
type candidate struct {
	*file
	ext  string
	rank int
}

// The ranks of candidates, best first. What has no extension comes behind all notes.
const (
	isExact = iota
	isBeside
	isElsewhere
	ranks
)

func (q *query) rank(f *file, ext string) int {
	rank := isElsewhere
	switch {
	case len(f.fold) == len(q.text)+len(ext):
		rank = isExact
	case folderOf(f.fold) == fold(folderOf(q.from)):
		rank = isBeside
	}
	if ext == "" && !q.dotted {
		rank += ranks
	}
	return rank
}

func (q *query) compare(a, b candidate) int {
	c := cmp.Compare(a.rank, b.rank)
	if c == 0 && a.rank%ranks == isElsewhere {
		c = cmp.Compare(a.size, b.size)
	}
	return cmp.Or(c, strings.Compare(a.ext, b.ext), q.compareTwins(a.file, b.file, a.ext))
}

// compareTwins orders files that only their spelling tells apart: in the very folder of the note, then spelled as the
// link, then in byte order.
func (q *query) compareTwins(a, b *file, ext string) int {
	folder := folderOf(q.from)
	own := func(f *file) bool { return len(f.fold) > len(q.text)+len(ext) && folderOf(f.path) == folder }
	return cmp.Or(
		first(own(a), own(b)),
		first(q.asSpelled(a, ext), q.asSpelled(b, ext)),
		strings.Compare(a.path, b.path))
}

// first puts what holds before what does not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
