package index

import (
	"testing"
	"time"
)

// What a call meant to write is not what is in the index, but what is there.
func TestWhatIsExpectedIsNotWhatIsRead(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[Old]]", "B.md": "[[Old]]", "C.canvas": `{"nodes":[]}`})
	ix := h.ready(quietly)
	canvas := `{"nodes":[{"id":"1","type":"file","file":"New.md","x":0,"y":0,"width":1,"height":1}]}`
	done := ix.Expect(t.Context(), []Coming{{"A.md", []byte("[[New]] word7 #tag")}, {"B.md", []byte("[[New]] word7 #tag")}, {"C.canvas", []byte(canvas)}, {"D.md", []byte("\xff")}})
	defer done()
	eventually(t, "it is parsed", func() bool {
		ix.coming.mu.Lock()
		defer ix.coming.mu.Unlock()
		return len(ix.coming.parsed) == 2 // two notes have one text
	})
	h.write("A.md", "[[New]] word7 #tag")
	h.write("B.md", "[[Other]]") // somebody else was faster
	h.write("C.canvas", canvas)
	h.write("D.md", "[[New]]")
	must(t, ix.Changed(t.Context(), []string{"A.md", "B.md", "C.canvas", "D.md"}))
	wants(t, "new", []string{"A.md", "C.canvas", "D.md"}, linking(t, ix, "New.md"))
	wants(t, "other", []string{"B.md"}, linking(t, ix, "Other.md"))
	wants(t, "old", []string{}, linking(t, ix, "Old.md"))
	done()
	want := dump(t, ix)
	must(t, ix.Rebuild(t.Context(), nil))
	wants(t, "what is found", want, dump(t, ix))
}

// Who writes a file while a call writes others, or just after, is heard.
func TestChangesBesideACallAreFound(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "a", "B.md": "b"})
	ix := h.ready(quietly)
	done := ix.Expect(t.Context(), nil)
	h.write("B.md", "[[X]]")
	h.write("A.md", "[[Y]]")
	must(t, ix.Changed(t.Context(), []string{"A.md"}))
	h.write("A.md", "[[X]]")
	done()
	eventually(t, "both are found", func() bool { return len(linking(t, ix, "X.md")) == 2 })
	defer ix.Expect(t.Context(), nil)() // also beside one that never ends
	h.write("B.md", "[[Z]]")
	eventually(t, "it is found", func() bool { return len(linking(t, ix, "Z.md")) == 1 })
}

func TestOnlyWhatWasReportedBeforeItWasReadIsLeftOut(t *testing.T) {
	var c coming
	then := time.Now()
	c.wasRead([]string{"before", "after", "at once", "folder"}, then)
	got := map[string]bool{}
	for _, p := range c.unread(map[string]time.Time{
		"before": then.Add(-1), "after": then.Add(1), "at once": then, "folder": then.Add(-1), "other": then.Add(-1),
	}, func(p string) bool { return p == "folder" }) {
		got[p] = true
	}
	wants(t, "to be read", map[string]bool{"after": true, "at once": true, "folder": true, "other": true}, got)
}
