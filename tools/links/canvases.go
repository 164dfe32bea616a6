package links

import (
	"golang.org/x/text/unicode/norm"

	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
)

// A card of a canvas that shows a file counts as a link to it (release note
// 1.12.0). It has the whole path, which only a file in that very place has.

// shows reports whether a card with a target shows a file.
func shows(target, path string) bool {
	return target == path || norm.NFC.String(target) == norm.NFC.String(path)
}

// shownBy is the file that a card with a target shows, among those that the
// caller may read.
func shownBy(w *acl.View, m *index.Model, target string) (string, bool) {
	if m.Has(target) && w.Sees(target) {
		return target, true
	}
	if p, ok := w.Resolve(m.Paths(), "", "/"+target); ok && shows(target, p) {
		return p, true
	}
	return "", false
}

// shownIn are the composed paths that cards of canvases show.
func shownIn(w *acl.View, m *index.Model) map[string]bool {
	set := map[string]bool{}
	for k := range m.Canvases() {
		if !w.Sees(k.Path) {
			continue
		}
		for l := range k.Facts.Links() {
			set[norm.NFC.String(l.Target)] = true
		}
	}
	return set
}
