package link

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Index is the set of a vault's file paths, made ready for resolving links. It holds about 140 bytes a file besides the
// path, whose string it shares. It is safe for concurrent use: a lock lets any number of readers in, or one
// writer. Functions that a caller passes in run under the lock and must not call the Index.
type Index struct {
	mu    sync.RWMutex
	files []file
	free  []int32 // places in files that are not used
	// ids[i] is i, so that one file is a list too.
	ids []int32
	// byName has, by folded name, a place in files, or ^place in shared.
	byName     map[string]int32
	shared     []namesakes
	freeShared []int32
}

// file is one file of the vault.
type file struct {
	path, fold string
	size       int32 // of the composed path in UTF-16 units, which is what Obsidian calls the length of a path
}

// namesakes are the files that have one folded name.
type namesakes struct {
	byFold []int32 // by folded path, then path
	bySize []int32 // by size, then path
}

// NewIndex makes an Index of paths from the vault's root, "/"-separated and spelled as on disk. What Add refuses is left
// out. Which kinds of files are part of the vault is for the caller to decide.
func NewIndex(paths []string) *Index {
	x := &Index{
		files:  make([]file, 0, len(paths)),
		ids:    make([]int32, 0, len(paths)),
		byName: make(map[string]int32, len(paths)),
	}
	for _, p := range paths {
		if isPath(p) {
			x.place(newFile(p), false)
		}
	}
	for i := range x.shared {
		x.sortBulk(&x.shared[i])
	}
	return x
}

// sortBulk puts in order what was only appended, and drops paths that came twice.
func (x *Index) sortBulk(n *namesakes) {
	slices.SortFunc(n.byFold, x.compareFold)
	once := n.byFold[:1]
	for _, id := range n.byFold[1:] {
		if x.files[id].path != x.files[once[len(once)-1]].path {
			once = append(once, id)
			continue
		}
		x.files[id] = file{}
		x.free = append(x.free, id)
	}
	n.byFold = slices.Clip(once)
	n.bySize = slices.Clone(n.byFold)
	slices.SortFunc(n.bySize, x.compareSize)
}

// Add puts a file into the set. It reports false, and does nothing, if the path is in it already, or is none of a file in
// a vault: "", or with an empty name or one that begins with a dot.
func (x *Index) Add(path string) bool {
	if !isPath(path) {
		return false
	}
	f := newFile(path)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.find(f) >= 0 {
		return false
	}
	x.place(f, true)
	return true
}

// Remove takes a file out of the set. It reports whether it was there, spelled in this way.
func (x *Index) Remove(path string) bool {
	if !isPath(path) {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	f := newFile(path)
	id := x.find(f)
	if id < 0 {
		return false
	}
	name := nameOf(f.fold)
	at := x.byName[name]
	x.drop(name, at, id)
	x.files[id] = file{}
	x.free = append(x.free, id)
	return true
}

// drop takes a file from those of its name, which are at a place in byName's sense.
func (x *Index) drop(name string, at, id int32) {
	if at < 0 {
		n := &x.shared[^at]
		n.byFold = without(n.byFold, id)
		n.bySize = without(n.bySize, id)
		if len(n.byFold) > 0 {
			return
		}
		x.freeShared = append(x.freeShared, ^at)
	}
	delete(x.byName, name)
}

func without(ids []int32, id int32) []int32 {
	i := slices.Index(ids, id)
	return slices.Delete(ids, i, i+1)
}

// Has reports whether a file has this path, or one that differs in case or form only, so that a new file should not.
func (x *Index) Has(path string) bool {
	folded := fold(path)
	x.mu.RLock()
	defer x.mu.RUnlock()
	byFold, _ := x.named(nameOf(folded), "")
	return len(x.equal(byFold, folded)) > 0
}

// Named are the files with a name, in whatever folder and case, in the order of
// their folded paths.
func (x *Index) Named(name string) (paths []string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	byFold, _ := x.named(fold(name), "")
	for _, id := range byFold {
		paths = append(paths, x.files[id].path)
	}
	return paths
}

// Len is the number of files in the set.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.files) - len(x.free)
}

// Clone is a copy that can be changed by itself, to see what links would mean after a change. It takes time and memory
// in proportion to the number of files, and shares their strings.
func (x *Index) Clone() *Index {
	x.mu.RLock()
	defer x.mu.RUnlock()
	c := &Index{
		files: slices.Clone(x.files), free: slices.Clone(x.free), ids: slices.Clone(x.ids),
		byName: maps.Clone(x.byName), shared: slices.Clone(x.shared), freeShared: slices.Clone(x.freeShared),
	}
	for i, n := range c.shared {
		c.shared[i] = namesakes{slices.Clone(n.byFold), slices.Clone(n.bySize)}
	}
	return c
}

// Equal reports whether two sets are known to be the same: the answer may be false for sets that came about in
// different ways. other may be nil.
func (x *Index) Equal(other *Index) bool {
	if other == nil || x == other {
		return x == other
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	other.mu.RLock()
	defer other.mu.RUnlock()
	return slices.Equal(x.files, other.files)
}

// place puts in a file that is not there, among its namesakes in order or just at the end.
func (x *Index) place(f file, inOrder bool) {
	id := x.slot(f)
	name := nameOf(f.fold)
	at, taken := x.byName[name]
	if !taken {
		x.byName[name] = id
		return
	}
	if at >= 0 {
		other := at
		at = x.slotShared(other)
		x.byName[name] = at
	}
	n := &x.shared[^at]
	if !inOrder {
		n.byFold = append(n.byFold, id)
		return
	}
	n.byFold = x.insert(n.byFold, id, x.compareFold)
	n.bySize = x.insert(n.bySize, id, x.compareSize)
}

func (x *Index) insert(ids []int32, id int32, compare func(a, b int32) int) []int32 {
	i, _ := slices.BinarySearchFunc(ids, id, compare)
	return slices.Insert(ids, i, id)
}

// slot is the place in files that f is put to.
func (x *Index) slot(f file) int32 {
	if n := len(x.free); n > 0 {
		id := x.free[n-1]
		x.free = x.free[:n-1]
		x.files[id] = f
		return id
	}
	id := int32(len(x.files))
	x.files = append(x.files, f)
	x.ids = append(x.ids, id)
	return id
}

// slotShared opens a list of namesakes with its first one, and is what byName says of it.
func (x *Index) slotShared(first int32) int32 {
	n := namesakes{byFold: []int32{first}, bySize: []int32{first}}
	if k := len(x.freeShared); k > 0 {
		at := x.freeShared[k-1]
		x.freeShared = x.freeShared[:k-1]
		x.shared[at] = n
		return ^at
	}
	x.shared = append(x.shared, n)
	return ^int32(len(x.shared) - 1)
}

// find is the place of a file with just this path, or -1.
func (x *Index) find(f file) int32 {
	byFold, _ := x.named(nameOf(f.fold), "")
	for _, id := range x.equal(byFold, f.fold) {
		if x.files[id].path == f.path {
			return id
		}
	}
	return -1
}

// named are the files whose folded name is base+ext, in both orders.
func (x *Index) named(base, ext string) (byFold, bySize []int32) {
	var room [256]byte
	key := append(append(room[:0], base...), ext...)
	at, ok := x.byName[string(key)]
	switch {
	case !ok:
		return nil, nil
	case at >= 0:
		one := x.ids[at : at+1 : at+1]
		return one, one
	}
	n := x.shared[^at]
	return n.byFold, n.bySize
}

// equal are those of some namesakes whose folded path is made of the parts.
func (x *Index) equal(byFold []int32, parts ...string) []int32 {
	from, to := 0, len(byFold)
	for from < to {
		mid := int(uint(from+to) / 2)
		if compareParts(x.files[byFold[mid]].fold, parts) < 0 {
			from = mid + 1
		} else {
			to = mid
		}
	}
	for to < len(byFold) && compareParts(x.files[byFold[to]].fold, parts) == 0 {
		to++
	}
	return byFold[from:to]
}

// compareParts compares s with the parts put together.
func compareParts(s string, parts []string) int {
	for _, p := range parts {
		n := min(len(s), len(p))
		if c := strings.Compare(s[:n], p); c != 0 {
			return c
		}
		s = s[n:]
	}
	return len(s)
}

func (x *Index) compareFold(a, b int32) int {
	f, g := &x.files[a], &x.files[b]
	return cmp.Or(strings.Compare(f.fold, g.fold), strings.Compare(f.path, g.path))
}

func (x *Index) compareSize(a, b int32) int {
	f, g := &x.files[a], &x.files[b]
	return cmp.Or(cmp.Compare(f.size, g.size), strings.Compare(f.path, g.path))
}

func newFile(path string) file { return file{path: path, fold: fold(path), size: units(path)} }

// units is the length of a path as Obsidian counts it.
func units(path string) int32 {
	n := 0
	for i := range len(path) {
		if path[i] >= utf8.RuneSelf {
			for _, r := range norm.NFC.String(path) {
				n++
				if r > 0xffff {
					n++
				}
			}
			return int32(n)
		}
	}
	return int32(len(path))
}

// isPath reports whether p can be the path of a file in a vault.
func isPath(p string) bool {
	start := true
	for i := range len(p) {
		if start && (p[i] == '/' || p[i] == '.') {
			return false
		}
		start = p[i] == '/'
	}
	return !start
}

func nameOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// folderOf is the folder that holds a path; "" is the root.
func folderOf(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }
