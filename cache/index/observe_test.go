package index

import (
	"os"
	"testing"
)

// Who follows a file learns of every way in which it changes: by a call of this
// process, by another program, and by another server on the vault, who may be
// the indexer or not.
func TestObserversAreToldOfEveryChange(t *testing.T) {
	h := newHome(t, map[string]string{"a.md": "a", "c.png": "c"})
	h.age("a.md", "c.png", "Start.md")
	leader := h.ready(quietly)
	follower := h.open(quietly)
	eventually(t, "the follower is ready", func() bool { return follower.Status(nil).Phase == Ready })
	for name, ix := range map[string]*Index{"leader": leader, "follower": follower} {
		t.Run(name, func(t *testing.T) {
			moved := make(chan struct{}, 1)
			stop := ix.Observe(func() {
				select {
				case moved <- struct{}{}:
				default:
				}
			})
			defer stop()
			was := map[string]Stamp{}
			stamps := func(path string) (now Stamp) {
				read(t, ix, func(m *Model) { now = m.Stamp(path) })
				return now
			}
			changes := func(what, path string, change func()) {
				t.Helper()
				was[path] = stamps(path)
				change()
				eventually(t, what, func() bool {
					<-moved
					return stamps(path).Differs(was[path])
				})
			}
			changes("written by another program", "a.md", func() { h.write("a.md", "by another program, seen by "+name) })
			changes("written by a call", "a.md", func() {
				h.write("a.md", "by a call, seen by "+name)
				must(t, leader.Changed(t.Context(), []string{"a.md"}))
			})
			changes("written by a call of another process", "c.png", func() {
				h.write("c.png", "by a call of the follower, seen by "+name)
				must(t, follower.Changed(t.Context(), []string{"c.png"}))
			})
			changes("removed", "a.md", func() { must(t, os.Remove(h.path("a.md"))) })
			changes("made again", "a.md", func() { h.write("a.md", "again for "+name) })
		})
	}
}

// Where a content is known, another time alone is no change.
func TestAStampTellsAChangeFromATouch(t *testing.T) {
	h := newHome(t, map[string]string{"a.md": "a", "c.png": "c"})
	h.age("a.md", "c.png", "Start.md")
	ix := h.ready(quietly)
	var a, c, again, touched, none Stamp
	read(t, ix, func(m *Model) { a, c, none = m.Stamp("a.md"), m.Stamp("c.png"), m.Stamp("b.md") })
	h.write("a.md", "a")
	h.write("c.png", "c")
	must(t, ix.Changed(t.Context(), []string{"a.md", "c.png"}))
	read(t, ix, func(m *Model) { again, touched = m.Stamp("a.md"), m.Stamp("c.png") })
	if again.Differs(a) || !touched.Differs(c) || none.There || !a.Differs(none) || none.Differs(Stamp{}) {
		t.Errorf("a %v, then %v; c %v, then %v; none %v", a, again, c, touched, none)
	}
}
