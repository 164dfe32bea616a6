package link

import (
	"slices"
	"strings"

	"vault-mcp/vault/note"
)

// Place is what a sub-path means in a note.
type Place struct {
	// Line is the first line of the heading or block, from 1.
	Line int
	// Span is the section from its heading on, or the block.
	Span note.Span
}

// Locate is the place in a note that a sub-path names: "#Heading", "#Outer#Inner", which goes down the tree of headings
// though not every level must be named, or "#^block". Of several equal ones the first is meant, as in Obsidian. ok is
// false if there is none, which does not make the link itself wrong.
func Locate(n *note.Note, subpath string) (p Place, ok bool) {
	titles := slices.DeleteFunc(strings.Split(subpath, "#"), func(t string) bool { return strings.TrimSpace(t) == "" })
	if len(titles) == 0 {
		return Place{}, false
	}
	if last := strings.TrimSpace(titles[len(titles)-1]); strings.HasPrefix(last, "^") {
		if found := n.FindBlock(last); len(found) > 0 {
			return Place{found[0].Line, found[0].Span}, true
		}
		return Place{}, false
	}
	for i, t := range titles {
		titles[i] = note.FoldHeading(t)
	}
	last := titles[len(titles)-1]
	for i, h := range n.Headings {
		if note.FoldHeading(h.Text) == last && isBelow(n, h.Parent, titles[:len(titles)-1]) {
			return Place{n.Headings[i].Line, h.Section}, true
		}
	}
	return Place{}, false
}

// isBelow reports whether the folded titles stand, in this order, on the way from the top of the note to heading i.
func isBelow(n *note.Note, i int, titles []string) bool {
	for ; i >= 0 && len(titles) > 0; i = n.Headings[i].Parent {
		if note.FoldHeading(n.Headings[i].Text) == titles[len(titles)-1] {
			titles = titles[:len(titles)-1]
		}
	}
	return len(titles) == 0
}

// HeadingSubpath is the sub-path that names a heading by its titles, the outermost first, without what could end or bend
// a link: blanks stand for : # | ^ \ %% [[ and ]] (typings: stripHeadingForLink). Locate finds the heading by it.
func HeadingSubpath(titles ...string) string {
	var s strings.Builder
	for _, t := range titles {
		s.WriteByte('#')
		s.WriteString(strings.Join(strings.Fields(unfitForLinks.Replace(t)), " "))
	}
	return s.String()
}

var unfitForLinks = strings.NewReplacer(":", " ", "#", " ", "|", " ", "^", " ", `\`, " ", "%%", " ", "[[", " ", "]]", " ")
