package complete

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vault-mcp/vault"
)

// The ranks of a value that fits, from the best on.
const (
	exact    = iota // the name itself
	byName          // its name begins so
	byPath          // its path begins so
	anywhere        // it is somewhere in the path
	ranks
)

// finder keeps the best of the values that are offered, those of one rank in
// their order. Case does not count.
type finder struct {
	want  []byte // folded
	lists [ranks][]string
	// before is where the lists of this turn begin: each may bring Most.
	before [ranks]int
	total  int
	buf    []byte
}

func newFinder(value string) *finder { return &finder{want: []byte(vault.FoldName(value))} }

// offer takes a value that fits, which goes out behind a prefix.
func (f *finder) offer(path, prefix string) {
	f.offerPath(path, prefix, func(string) bool { return true })
}

// offerPath is offer for a value that may be known if sees says so, who is asked
// only of those that fit.
func (f *finder) offerPath(path, prefix string, sees func(string) bool) {
	rank := f.rank(path)
	if rank == ranks || !sees(path) {
		return
	}
	if f.total++; len(f.lists[rank])-f.before[rank] < Most {
		f.lists[rank] = append(f.lists[rank], prefix+path)
	}
}

// turn begins with values that are in an order of their own.
func (f *finder) turn() {
	for i := range f.lists {
		slices.Sort(f.lists[i])
		f.lists[i] = f.lists[i][:min(len(f.lists[i]), Most)]
		f.before[i] = len(f.lists[i])
	}
}

// best is what was found.
func (f *finder) best() Values {
	f.turn()
	all := slices.Concat(f.lists[:]...)
	return Values{append([]string{}, all[:min(len(all), Most)]...), f.total}
}

// rank is that of a path; ranks if it does not fit.
func (f *finder) rank(path string) int {
	folded := f.fold(path)
	name := folded[bytes.LastIndexByte(folded, '/')+1:]
	switch {
	case bytes.HasPrefix(name, f.want):
		rest := name[len(f.want):]
		if dot := bytes.LastIndexByte(rest, '.'); len(rest) == 0 || dot == 0 && len(f.want) > 0 {
			return exact
		}
		return byName
	case bytes.HasPrefix(folded, f.want):
		return byPath
	case bytes.Contains(folded, f.want):
		return anywhere
	}
	return ranks
}

// fold is vault.FoldName without new memory for each path.
func (f *finder) fold(path string) []byte {
	if cap(f.buf) < len(path) {
		f.buf = make([]byte, 2*len(path))
	}
	buf := f.buf[:len(path)]
	for i := range len(path) {
		c := path[i]
		if c >= utf8.RuneSelf {
			return append(f.buf[:0], vault.FoldName(path)...)
		}
		buf[i] = lower[c]
	}
	return buf
}

// lower is the small letter of each letter of ASCII.
var lower = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		t[c] = byte(unicode.ToLower(rune(c)))
	}
	return t
}()

// rankWord is the rank of a tag or key: the whole of it counts before its last
// part.
func rankWord(folded, want string) int {
	switch {
	case folded == want:
		return exact
	case strings.HasPrefix(folded, want):
		return byName
	case strings.Contains(folded, "/"+want):
		return byPath
	case strings.Contains(folded, want):
		return anywhere
	}
	return ranks
}
