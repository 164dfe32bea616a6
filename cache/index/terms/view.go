package terms

import (
	"math/bits"
	"sync"
)

// View is what one kind of caller may see of an index. It remembers the answer
// for each document, how many it is and how long they are, and looks only at
// what was added or removed since the last query. Any number of goroutines use
// it at the same time.
//
// Counts, ranks and the average length come from the documents of the view
// alone, so that they are those of an index that never had any other.
type View struct {
	index   *Index
	visible func(doc uint32) bool

	mu   sync.Mutex
	set  set
	next uint32 // the first document that was not looked at
}

// View makes the view of the documents for which visible is true. visible is
// asked once for each document, from inside of a query, one document after the
// other in the order of their numbers; it must not use the index, nor change
// its mind about a number.
func (x *Index) View(visible func(doc uint32) bool) *View {
	return &View{index: x, visible: visible}
}

// Docs is the number of documents of the view.
func (v *View) Docs() int {
	v.index.mu.RLock()
	defer v.index.mu.RUnlock()
	return v.current().docs
}

// current brings the view up to date. The index is locked, at least shared:
// until it is free again, no other call changes the set.
func (v *View) current() *set {
	v.mu.Lock()
	defer v.mu.Unlock()
	x := v.index
	for w := range v.set.bits {
		for gone := v.set.bits[w] &^ x.live.bits[w]; gone != 0; gone &= gone - 1 {
			doc := uint32(w<<6 | bits.TrailingZeros64(gone))
			v.set.remove(doc, x.lengths[doc])
		}
	}
	for len(v.set.bits) < len(x.live.bits) {
		v.set.bits = append(v.set.bits, 0)
	}
	for ; v.next < uint32(len(x.lengths)); v.next++ {
		if x.live.has(v.next) && v.visible(v.next) {
			v.set.add(v.next, x.lengths[v.next])
		}
	}
	return &v.set
}
