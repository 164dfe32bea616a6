package note

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// PatchMode says where a patch puts its text.
type PatchMode uint8

// The modes of a patch.
const (
	// PatchAppend puts the text at the end of the target, before the blank lines that it ends with.
	PatchAppend PatchMode = iota
	// PatchPrepend puts it at the start: below the heading, or below the properties.
	PatchPrepend
	// PatchReplace puts it in the place of what the target holds. A heading, its blank lines and a block's id stay.
	PatchReplace
)

// TargetKind says what a patch is made to.
type TargetKind uint8

// The targets of a patch.
const (
	// TargetDocument is the whole note below its properties.
	TargetDocument TargetKind = iota
	// TargetPreamble is what stands between the properties and the first heading.
	TargetPreamble
	// TargetHeading is a section: from its heading to the next one of the same or a higher level.
	TargetHeading
	// TargetBlock is what a block id names; of a list item its sub-items too.
	TargetBlock
)

// Target names a part of a note.
type Target struct {
	Kind TargetKind
	// Heading is the title, or the titles that lead to it (see FindSection).
	Heading []string
	// Line is the line of the heading or block, from 1, where a name is there more than once; or 0.
	Line int
	// Block is the id, with or without ^.
	Block string
}

// Patch is an edit of a part of a note.
type Patch struct {
	Target Target
	Mode   PatchMode
	// Content is Markdown. Its line ends become those of the note. Nothing in it is a pattern.
	Content string
	// CreateHeading makes a missing heading at the end of the section it belongs in, or of the note.
	CreateHeading bool
}

// HeadingPath is a heading with the titles that lead to it.
type HeadingPath struct {
	Path []string
	Line int
}

// Paths are the headings with what stands above each.
func (n *Note) Paths() []HeadingPath {
	paths := make([]HeadingPath, len(n.Headings))
	for i, h := range n.Headings {
		var up []string
		if h.Parent >= 0 {
			up = paths[h.Parent].Path
		}
		paths[i] = HeadingPath{append(up[:len(up):len(up)], h.Text), h.Line}
	}
	return paths
}

// NoTargetError says that a note does not have what a patch is for, and what it has.
type NoTargetError struct {
	// Target is the heading path, its titles parted by >, or the block id with ^.
	Target   string
	Headings []HeadingPath
	Blocks   []Block
}

func (e *NoTargetError) Error() string {
	if strings.HasPrefix(e.Target, "^") {
		return fmt.Sprintf("the note has no block %.200q", e.Target)
	}
	return fmt.Sprintf("the note has no heading %.200q", e.Target)
}

// AmbiguousError says that a name is there more than once and no line was given, or one where it is not.
type AmbiguousError struct {
	Target string
	// Lines are where it is, from 1, in text order.
	Lines []int
}

func (e *AmbiguousError) Error() string {
	if len(e.Lines) == 1 {
		return fmt.Sprintf("%.200q is in line %d alone", e.Target, e.Lines[0])
	}
	return fmt.Sprintf("%.200q is in several lines: %s", e.Target, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(e.Lines)), ", "), "[]"))
}

// Apply makes the patch. Only the target changes, by the least that does it; where the text next to the new one would
// become part of another block, a blank line is put between. A patch that would still change headings or block ids
// outside of its target is refused as a SpoilError. Errors are NoTargetError, AmbiguousError, SpoilError, ErrNotText and
// ErrNothing.
func (p Patch) Apply(text []byte) (Edited, error) {
	if !utf8.Valid(text) || !utf8.ValidString(p.Content) {
		return Edited{}, ErrNotText
	}
	content := newPiece(p.Content)
	if content.empty() && p.Mode != PatchReplace {
		return Edited{}, ErrNothing
	}
	n := Scan(text)
	switch p.Target.Kind {
	case TargetBlock:
		b, err := n.targetBlock(p.Target)
		if err != nil {
			return Edited{}, err
		}
		if content.empty() {
			return Edited{}, ErrNothing // an id needs something that it names
		}
		return n.patchBlock(b, p.Mode, content)
	case TargetHeading:
		h, err := n.targetHeading(p.Target)
		if missing, ok := err.(*NoTargetError); ok && p.CreateHeading {
			return n.createHeading(p.Target.Heading, content, missing)
		}
		if err != nil {
			return Edited{}, err
		}
		return n.put(Span{h.Span.End, n.sectionEnd(h)}, p.Mode, content)
	case TargetPreamble:
		end := len(text)
		if len(n.Headings) > 0 {
			end = n.Headings[0].Span.Start
		}
		return n.put(Span{n.Body, n.boardEnd(end)}, p.Mode, content)
	}
	switch {
	case p.Mode == PatchAppend && n.boardEnd(len(text)) == len(text):
		return Append(text, p.Content, false)
	case p.Mode == PatchReplace:
		return n.replaceAll(p.Content)
	}
	return n.put(Span{n.Body, n.boardEnd(len(text))}, p.Mode, content)
}

// replaceAll replaces the note below its properties; content that brings properties replaces these too.
func (n *Note) replaceAll(content string) (Edited, error) {
	cut := Span{n.Body, len(n.src)}
	eol := lineEndAt(n.src, n.Body)
	add := withLineEnd(content, eol)
	if _, ok := findBlock([]byte(add)); ok {
		cut.Start = bomLen(n.src)
	} else if add != "" && n.Body > bomLen(n.src) && !isLineEnd(n.src[n.Body-1]) {
		add = eol + add
	}
	if cut.Len() > 0 && endsLine(n.src) && add != "" && !isLineEnd(add[len(add)-1]) {
		add += eol
	}
	return splice(n.src, cut, []byte(add)), nil
}

func (n *Note) targetHeading(t Target) (Heading, error) {
	name := strings.Join(t.Heading, " > ")
	found := n.FindSection(t.Heading)
	if found == nil {
		// As in a link: A#B is B below A.
		found = n.FindSection(strings.Split(strings.Trim(strings.Join(t.Heading, "#"), "#"), "#"))
	}
	if len(t.Heading) == 0 && t.Line > 0 {
		name, found = fmt.Sprintf("in line %d", t.Line), n.Headings
	}
	if len(t.Heading) == 1 && t.Line > 0 {
		// What looks like hashes may be the text itself: # # N is the heading "# N".
		for _, h := range n.Headings {
			if h.Line == t.Line && FoldHeading(h.Text) == FoldHeading(t.Heading[0]) {
				return h, nil
			}
		}
	}
	lines := make([]int, len(found))
	for i, h := range found {
		if h.Line == t.Line {
			return h, nil
		}
		lines[i] = h.Line
	}
	switch {
	case len(found) == 0 || len(t.Heading) == 0:
		return Heading{}, &NoTargetError{Target: name, Headings: n.Paths(), Blocks: n.Blocks}
	case len(found) == 1 && t.Line == 0:
		return found[0], nil
	}
	return Heading{}, &AmbiguousError{Target: name, Lines: lines}
}

func (n *Note) targetBlock(t Target) (Block, error) {
	name := "^" + strings.TrimPrefix(t.Block, "^")
	found := n.FindBlock(t.Block)
	lines := make([]int, len(found))
	for i, b := range found {
		if b.Line == t.Line {
			return b, nil
		}
		lines[i] = b.Line
	}
	switch {
	case len(found) == 0:
		return Block{}, &NoTargetError{Target: name, Headings: n.Paths(), Blocks: n.Blocks}
	case len(found) == 1 && t.Line == 0:
		return found[0], nil
	}
	return Block{}, &AmbiguousError{Target: name, Lines: lines}
}

// sectionEnd is where text under a heading ends. On a board of the Kanban plugin the settings at the end of the note, and
// the rule before the archive, belong to no lane: what is put behind them is lost.
func (n *Note) sectionEnd(h Heading) int {
	end := n.boardEnd(h.Section.End)
	if end == len(n.src) || !n.isBoard() {
		return end
	}
	for _, next := range n.Headings {
		if next.Span.Start != end || FoldHeading(next.Text) != "archive" {
			continue
		}
		for i := len(n.nodes) - 1; i > 0; i-- {
			if b := n.nodes[i]; int(b.start) < end {
				if b.kind == KindRule && int(b.start) >= h.Span.End {
					return int(n.lines[b.first].start)
				}
				break
			}
		}
	}
	return end
}

// boardEnd is the end of the text, or the start of a board's settings there.
func (n *Note) boardEnd(end int) int {
	if end != len(n.src) || len(n.nodes) < 2 || !n.isBoard() {
		return end
	}
	last := n.nodes[len(n.nodes)-1]
	text := bytes.TrimLeft(n.src[last.start:last.end], "% \t")
	if last.kind == KindComment && bytes.HasPrefix(text, []byte("kanban:settings")) {
		return int(n.lines[last.first].start)
	}
	return end
}

func (n *Note) isBoard() bool {
	if n.Body <= bomLen(n.src) {
		return false
	}
	p := ParseProperties(n.src)
	_, ok := p.Find("kanban-plugin")
	return ok
}

// createHeading puts content below a new heading at the end of the section of the deepest title that is there, or at the
// end of the note.
func (n *Note) createHeading(path []string, content piece, missing *NoTargetError) (Edited, error) {
	at, level, rest := n.boardEnd(len(n.src)), n.topLevel(), path
	for i := len(path) - 1; i > 0; i-- {
		h, err := n.targetHeading(Target{Heading: path[:i]})
		if _, absent := err.(*NoTargetError); absent {
			continue
		}
		if err != nil {
			return Edited{}, err
		}
		at, level, rest = n.sectionEnd(h), h.Level+1, path[i:]
		break
	}
	p := piece{tail: max(1, content.tail)}
	for i, s := range rest {
		t := newTitle(s)
		if t.text == "" || strings.ContainsAny(t.text, "\r\n") {
			return Edited{}, missing
		}
		if i == 0 && t.level > 0 && len(rest) == len(path) {
			level = t.level
		}
		if level > 6 {
			return Edited{}, &SpoilError{Harm: fmt.Sprintf("the heading %.200q would be at level %d, and 6 is the deepest", t.text, level)}
		}
		p.lines = append(p.lines, strings.Repeat("#", level)+" "+t.text)
		if level++; i < len(rest)-1 {
			p.lines = append(p.lines, "")
		}
	}
	if !content.empty() {
		p.lines = append(p.lines, make([]string, content.lead)...)
		p.lines = append(p.lines, content.lines...)
	}
	if at > n.Body && len(bytes.TrimSpace(n.src[n.Body:at])) > 0 {
		p.lead = 1
	}
	e, err := n.put(Span{n.Body, at}, PatchAppend, p)
	if err != nil {
		return Edited{}, err
	}
	made := Scan(e.Text)
	if _, err := made.targetHeading(Target{Heading: path, Line: made.Pos(e.Added.Start+leadLen(e.Added.Of(e.Text))).Line + 2*(len(rest)-1)}); err != nil {
		return Edited{}, &SpoilError{Harm: fmt.Sprintf("the new heading %.200q would not be read as one", path[len(path)-1])}
	}
	return e, nil
}

// leadLen is the length of the blank lines at the start of b.
func leadLen(b []byte) int { return len(b) - len(bytes.TrimLeft(b, " \t\r\n")) }

// topLevel is the level of a new heading that stands below no other: that of the first one, or below it if it is the only
// one of level 1 and so the note's title; 2 in a note without headings.
func (n *Note) topLevel() int {
	if len(n.Headings) == 0 {
		return 2
	}
	first, same := n.Headings[0].Level, 0
	for _, h := range n.Headings {
		if h.Level == first {
			same++
		}
	}
	if first == 1 && same == 1 {
		return 2
	}
	return first
}
