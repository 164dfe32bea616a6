package vault

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxClosest is how many names are offered for one that is missing.
const maxClosest = 3

// nearest are the entries of the folder rel that may have been meant by name,
// the nearest first: what is sought, may be known of, and is no link.
func (l *lookup) nearest(rel string, entries []fs.DirEntry, name string, want sought) []string {
	type near struct {
		path string
		dir  bool
		far  int
	}
	meant := NearTo(name)
	var all []near
	for _, e := range entries {
		n := node{typ: e.Type()}
		if e.Name()[0] == '.' || !nameable(e.Name()) || n.isLink() || !want.fits(n) {
			continue
		}
		if far, ok := meant.Far(e.Name()); ok {
			all = append(all, near{join(rel, e.Name()), n.isDir(), far})
		}
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.far, b.far), strings.Compare(a.path, b.path))
	})
	var paths []string
	for _, n := range all {
		if l.keep.lets(n.path, n.dir) {
			if paths = append(paths, n.path); len(paths) == maxClosest {
				break
			}
		}
	}
	return paths
}

// Near finds names that may have been meant by one that is missing.
type Near struct {
	folded []rune
	limit  int
}

// NearTo are the names that may have been meant by a name.
func NearTo(name string) Near {
	folded := []rune(FoldName(name))
	stem := strings.TrimSuffix(string(folded), ".md")
	return Near{folded, max(1, min(utf8.RuneCountInString(stem)/3, 4))}
}

// Far is how many characters a name differs in, and whether that is so few that
// it may have been meant.
func (n Near) Far(name string) (far int, ok bool) {
	far = distance(n.folded, []rune(FoldName(name)), n.limit)
	return far, far <= n.limit
}

// distance is how many insertions, deletions and replacements make b of a, or
// some number above limit if it is more than that.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range a {
		diagonal, best := row[0], i+1
		row[0] = i + 1
		for j, cb := range b {
			cost := diagonal
			if ca != cb {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			best = min(best, cost)
		}
		if best > limit {
			return best
		}
	}
	return row[len(b)]
}
