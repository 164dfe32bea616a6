package note

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Heading is an ATX or setext heading at the top level of a note. Headings in quotes, callouts, lists, footnotes,
// comments, code and HTML are none for Obsidian. A blank or the end of the line must follow the hashes.
type Heading struct {
	// Level is 1 to 6.
	Level int
	// Text is the source of the title, links and formatting as written, without hashes and outer blanks. The lines of a
	// setext title are joined with one blank.
	Text string
	// Line is where the title starts, from 1.
	Line int
	// Span is the lines of the heading itself, with the last line end.
	Span Span
	// Section runs from the start of the heading to the next heading of the same or a higher level, or to the end of the
	// text.
	Section Span
	// SectionLines is the number of lines of the section.
	SectionLines int
	// Parent is the index in Note.Headings of the heading that this one stands below, or -1.
	Parent int
}

// Body is the section without its heading: the place for text that is put under it.
func (h Heading) Body() Span { return Span{h.Span.End, h.Section.End} }

type rawHeading struct {
	node   int32
	level  int
	text   Span
	setext bool
}

func (s *scanner) headingList(size int) []Heading {
	if len(s.heads) == 0 {
		return nil
	}
	var texts strings.Builder // one string for all titles
	total := 0
	for _, raw := range s.heads {
		total += raw.text.Len()
	}
	texts.Grow(total)
	ends := make([]int, len(s.heads))
	for i, raw := range s.heads {
		if n := s.nodes[raw.node]; raw.setext && n.last-n.first > 1 {
			s.joinLines(&texts, n)
		} else {
			texts.Write(raw.text.Of(s.src))
		}
		ends[i] = texts.Len()
	}
	all, from := texts.String(), 0
	heads := make([]Heading, len(s.heads))
	parent := -1
	for i, raw := range s.heads {
		n := s.nodes[raw.node]
		h := &heads[i]
		*h = Heading{
			Level: raw.level, Text: all[from:ends[i]], Line: int(n.first) + 1, Span: s.wholeLines(n),
		}
		from = ends[i]
		for parent >= 0 && heads[parent].Level >= h.Level {
			heads[parent].close(h.Span.Start, h.Line-1)
			parent = heads[parent].Parent
		}
		h.Parent, parent = parent, i
	}
	for ; parent >= 0; parent = heads[parent].Parent {
		heads[parent].close(size, len(s.lines))
	}
	return heads
}

// close ends the section at an offset, of which lastLine is the last line before it.
func (h *Heading) close(end, lastLine int) {
	h.Section = Span{h.Span.Start, end}
	h.SectionLines = lastLine - h.Line + 1
}

// joinLines writes the title of a setext heading of several lines. The last line of the node is the underline.
func (s *scanner) joinLines(w *strings.Builder, n node) {
	for i := n.first; i < n.last; i++ {
		if i > n.first {
			w.WriteByte(' ')
		}
		start := int(s.lines[i].text)
		end := trimRight(s.src, start, contentEnd(s.src, int(s.lines[i+1].start)))
		w.Write(s.src[start:end])
	}
}

// FindSection returns the headings that a path of titles leads to, in text order: the last title is the heading's own,
// those before it stand above it in the same order, though not every level must be named. Titles may carry their leading
// hashes. Titles that are equal byte for byte win over those that are equal for Obsidian (see FoldHeading), and those
// whose hashes fit win over others. Several results are an ambiguous path: callers report the lines, and never guess.
func (n *Note) FindSection(path []string) []Heading {
	if len(path) == 0 {
		return nil
	}
	want := make([]title, len(path))
	for i, p := range path {
		want[i] = newTitle(p)
	}
	folded := make([]string, len(n.Headings))
	for i, h := range n.Headings {
		folded[i] = FoldHeading(h.Text)
	}
	for _, how := range []match{{exact: true, level: true}, {exact: true}, {level: true}, {}} {
		var found []Heading
		for i, h := range n.Headings {
			if n.leadsTo(i, want, folded, how) {
				found = append(found, h)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// title is one step of a heading path.
type title struct {
	text, folded string
	level        int // the number of hashes given, or 0
}

// match says how strictly titles are compared.
type match struct{ exact, level bool }

func newTitle(s string) title {
	s = strings.Trim(s, " \t\r\n")
	level := 0
	for level < len(s) && s[level] == '#' {
		level++
	}
	if level > 6 || level == 0 || level < len(s) && !isBlank(s[level]) {
		level = 0
	}
	s = strings.TrimLeft(s[level:], " \t")
	return title{text: s, folded: FoldHeading(s), level: level}
}

// leadsTo walks up from heading i and reports whether the path ends at it.
func (n *Note) leadsTo(i int, path []title, folded []string, how match) bool {
	step := len(path) - 1
	for first := true; i >= 0; i, first = n.Headings[i].Parent, false {
		if path[step].fits(n.Headings[i], folded[i], how) {
			if step--; step < 0 {
				return true
			}
		} else if first {
			return false
		}
	}
	return false
}

func (t title) fits(h Heading, folded string, how match) bool {
	if how.level && t.level != 0 && t.level != h.Level {
		return false
	}
	if how.exact {
		return t.text == h.Text
	}
	return t.folded != "" && t.folded == folded
}

// FoldHeading is the form in which Obsidian compares the titles of headings (typings: stripHeading): punctuation counts as
// a blank, blanks are one blank, and case does not count. Titles of nothing but punctuation fold to "". Text is brought
// to NFC, because keyboards differ.
func FoldHeading(title string) string {
	var b strings.Builder
	b.Grow(len(title))
	for _, r := range norm.NFC.String(title) {
		switch {
		case r < 0x80 && headingBlank[r] || r == 0xA0:
			if b.Len() > 0 && b.String()[b.Len()-1] != ' ' {
				b.WriteByte(' ')
			}
		default:
			b.WriteRune(r)
		}
	}
	folded := strings.TrimSuffix(b.String(), " ")
	if ascii(folded) {
		return strings.ToLower(folded)
	}
	return cases.Fold().String(folded) // a final sigma is a sigma
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// headingBlank is the ASCII that counts as a blank in a title: all punctuation but ' - and _, and white space.
var headingBlank = func() (t [0x80]bool) {
	for _, c := range "!\"#$%&()*+,./:;<=>?@[\\]^`{|}~ \t\r\n\v\f" {
		t[c] = true
	}
	return t
}()
