package search

import (
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/tools/search/match"
	"vault-mcp/vault/query"
)

// need is what a query needs, asked of an index.
type need struct {
	kind query.NeedKind
	of   []need
	find *match.Text // for what is compared with the name or path
	ids  ids         // of the notes that meet it, for what the index has lists of
}

// readsText reports whether a need is about the text of files.
func readsText(n query.Need) bool {
	if n.Kind == query.NeedText || n.Kind == query.NeedContent {
		return true
	}
	for _, k := range n.Of {
		if readsText(k) {
			return true
		}
	}
	return false
}

func newNeed(n query.Need, c corpus) need {
	r := need{kind: n.Kind}
	for _, k := range n.Of {
		r.of = append(r.of, newNeed(k, c))
	}
	switch n.Kind {
	case query.NeedText, query.NeedContent:
		for _, h := range c.text.Index.Candidates(n.Text, c.view) {
			r.ids.add(c.text.Note(h.Doc))
		}
	case query.NeedTag:
		r.all(c.notes.Tagged(n.Text, true))
	case query.NeedProperty:
		r.all(c.notes.WithProperty(n.Text))
	}
	switch n.Kind {
	case query.NeedText, query.NeedFile, query.NeedPath:
		r.find = match.NewText(n.Text, true, false)
	}
	return r
}

func (n *need) all(list []uint32) {
	for _, id := range list {
		n.ids.add(id)
	}
}

// met reports whether a file may be found: n is nil for one that is no note,
// whose text the index does not know.
func (d *need) met(p string, n *index.Note, w *match.Workspace) bool {
	switch d.kind {
	case query.NeedAll:
		for i := range d.of {
			if !d.of[i].met(p, n, w) {
				return false
			}
		}
		return true
	case query.NeedAny:
		for i := range d.of {
			if d.of[i].met(p, n, w) {
				return true
			}
		}
		return false
	case query.NeedFile:
		return d.find.In(w, p[strings.LastIndexByte(p, '/')+1:])
	case query.NeedPath:
		return d.find.In(w, p)
	case query.NeedNothing:
		return true
	}
	if n == nil {
		return (d.kind == query.NeedText || d.kind == query.NeedContent) && kindOf(p) == query.CanvasFile
	}
	switch d.kind {
	case query.NeedText:
		return d.ids.has(n.ID) || d.find.In(w, nameOf(p))
	case query.NeedContent, query.NeedTag, query.NeedProperty:
		return d.ids.has(n.ID)
	}
	return d.inFacts(n)
}

// inFacts is met for what a note has to be asked.
func (d *need) inFacts(n *index.Note) bool {
	if d.kind == query.NeedAnyTag {
		for range n.Facts.Tags() {
			return true
		}
		return false
	}
	for t := range n.Facts.Tasks() {
		if d.kind == query.NeedTask || t.Done() == (d.kind == query.NeedTaskDone) {
			return true
		}
	}
	return false
}
