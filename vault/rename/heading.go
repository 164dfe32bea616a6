package rename

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"vault-mcp/internal/fault"
	"vault-mcp/vault/link"
	"vault-mcp/vault/note"
)

// Heading gives the heading that starts in a line of a note another title, and lets all links follow that lead to it or on
// their way down pass it. Links that would now lead to another heading, as its new title is an old one too, get more of
// the way down. The title is Markdown source in one line. What cannot be a title there is invalid_input.
func Heading(v Vault, path string, line int, title string) (*Result, error) {
	text, err := v.Read(path)
	if err != nil {
		return nil, err
	}
	n := note.Scan(text)
	at := slices.IndexFunc(n.Headings, func(h note.Heading) bool { return h.Line == line })
	if at < 0 {
		return nil, fault.New(fault.NotFound, "No heading starts in line %d.", line)
	}
	title = strings.TrimSpace(title)
	e := retitle(text, n.Headings[at], title)
	now := note.Scan(apply(text, []edit{e}))
	if title == "" || strings.ContainsAny(title, "\r\n") || !sameHeadings(n, now, at) || now.Headings[at].Text != title {
		return nil, fault.New(fault.InvalidInput, "%q cannot be the title of a heading there.", title).With("argument", "to")
	}
	s := &subpaths{was: n, is: now, find: func(n *note.Note, sub string) int {
		if strings.Contains(sub, "^") && strings.HasPrefix(sub[strings.LastIndexByte(sub, '#')+1:], "^") {
			return -1
		}
		p, ok := link.Locate(n, sub)
		if !ok {
			return -1
		}
		return slices.IndexFunc(n.Headings, func(h note.Heading) bool { return h.Line == p.Line })
	}}
	s.ways = func(sub string, to int) []string { return s.headingWays(sub, at, to) }
	return s.follow(v, path, text, e)
}

// retitle is the edit that gives a heading a title. Marks of the heading stay.
func retitle(text []byte, h note.Heading, title string) edit {
	source := h.Span.Of(text)
	content := bytes.TrimRight(source, " \t\r\n")
	if trimmed := bytes.TrimLeft(source, " \t"); len(trimmed) > 0 && trimmed[0] == '#' && !bytes.ContainsAny(content, "\r\n") {
		start := len(source) - len(trimmed)
		start += h.Level
		end := len(content)
		closers := bytes.TrimRight(content, "#")
		if i := len(closers); i < end && i > start && (closers[i-1] == ' ' || closers[i-1] == '\t') {
			end = len(bytes.TrimRight(closers, " \t"))
		}
		end = max(end, start)
		for start < end && (source[start] == ' ' || source[start] == '\t') {
			start++
		}
		if start == end { // it had no title
			title = " " + title
		}
		return edit{note.Span{Start: h.Span.Start + start, End: h.Span.Start + end}, title}
	}
	// A setext heading: all lines but the last one.
	start := len(source) - len(bytes.TrimLeft(source, " \t"))
	end := bytes.LastIndexAny(content, "\r\n")
	end = len(bytes.TrimRight(content[:max(end, 0)], " \t\r\n"))
	return edit{note.Span{Start: h.Span.Start + start, End: h.Span.Start + max(start, end)}, title}
}

// sameHeadings reports whether two texts have the same headings, but for the title of one.
func sameHeadings(a, b *note.Note, but int) bool {
	if len(a.Headings) != len(b.Headings) {
		return false
	}
	for i, g := range a.Headings {
		if h := b.Headings[i]; g.Level != h.Level || g.Parent != h.Parent || i != but && g.Text != h.Text {
			return false
		}
	}
	return true
}

// headingWays are the sub-paths that name heading to now: the one that named it, with the new title in place of the old
// one; then by its own title and ever more of those above it.
func (s *subpaths) headingWays(sub string, at, to int) []string {
	var ways []string
	parts := strings.Split(sub, "#")
	h := to
	for i := len(parts) - 1; i >= 0 && h >= 0; h = s.was.Headings[h].Parent {
		for i >= 0 && strings.TrimSpace(parts[i]) == "" {
			i--
		}
		if i >= 0 && note.FoldHeading(parts[i]) == note.FoldHeading(s.was.Headings[h].Text) {
			if h == at {
				parts[i] = link.HeadingSubpath(s.is.Headings[at].Text)[1:]
			}
			i--
		}
	}
	ways = append(ways, strings.Join(parts, "#"))
	var titles []string
	for h := to; h >= 0; h = s.is.Headings[h].Parent {
		titles = append([]string{s.is.Headings[h].Text}, titles...)
		ways = append(ways, link.HeadingSubpath(titles...))
	}
	return ways
}

// Block gives a block of a note another id, without ^, and lets all links to it follow. An id that the note does not have
// is not_found; one that it has twice, or a new one that is taken or is no id, invalid_input.
func Block(v Vault, path, id, to string) (*Result, error) {
	text, err := v.Read(path)
	if err != nil {
		return nil, err
	}
	n := note.Scan(text)
	id, to = strings.TrimPrefix(id, "^"), strings.TrimPrefix(to, "^")
	found := n.FindBlock(id)
	switch {
	case len(found) == 0:
		return nil, fault.New(fault.NotFound, "No block has the id %q.", id)
	case len(found) > 1:
		return nil, fault.New(fault.InvalidInput, "%d blocks have the id %q.", len(found), id)
	case len(n.FindBlock(to)) > 0 && !strings.EqualFold(id, to):
		return nil, fault.New(fault.InvalidInput, "The id %q is taken.", to)
	}
	at := slices.IndexFunc(n.Blocks, func(b note.Block) bool { return b.Mark == found[0].Mark })
	e := edit{found[0].Mark, "^" + to}
	now := note.Scan(apply(text, []edit{e}))
	if len(now.Blocks) != len(n.Blocks) || now.Blocks[at].ID != to {
		return nil, fault.New(fault.InvalidInput, "%q is no id: it has letters, digits and - only.", to)
	}
	s := &subpaths{was: n, is: now, find: func(n *note.Note, sub string) int {
		last := strings.TrimSpace(sub[strings.LastIndexByte(sub, '#')+1:])
		if !strings.HasPrefix(last, "^") {
			return -1
		}
		blocks := n.FindBlock(last)
		if len(blocks) == 0 {
			return -1
		}
		return slices.IndexFunc(n.Blocks, func(b note.Block) bool { return b.Mark == blocks[0].Mark })
	}}
	s.ways = func(sub string, _ int) []string { return []string{sub[:strings.LastIndexByte(sub, '^')] + "^" + to} }
	return s.follow(v, path, text, e)
}

// subpaths is a note before and after a change of what sub-paths lead to.
type subpaths struct {
	was, is *note.Note
	// find is the number of the heading or block that a sub-path leads to, or -1.
	find func(n *note.Note, sub string) int
	// ways are the sub-paths that may lead to it now, the best first.
	ways func(sub string, to int) []string
}

// follow makes the edit in the note, and respells the sub-paths that lead elsewhere.
func (s *subpaths) follow(v Vault, path string, text []byte, e edit) (*Result, error) {
	w := &world{vault: v, before: v.Paths(), after: v.Paths()}
	files := slices.Concat(v.Linking(link.KeysOf(path)...), v.Boards(), []string{path})
	slices.Sort(files)
	r := &Result{}
	for _, p := range slices.Compact(files) {
		f := file{path: p, to: p, text: text}
		if p == path {
			f.more = []edit{e}
		} else if b, err := v.Read(p); err == nil {
			f.text = b
		} else {
			return nil, err
		}
		done, err := f.respell(w, func(it *item) goal { return s.goal(w, p, path, it) })
		if errors.Is(err, errSpoils) {
			return nil, fault.New(fault.InvalidInput, "%q cannot stand there, as the text around it would mean something else.", e.text)
		}
		if err != nil {
			return nil, err
		}
		r.add(&f, done)
	}
	for i := range r.Edits {
		r.Edits[i].Upkeep = r.Edits[i].Path != path
	}
	r.Report.sort()
	return r, nil
}

func (s *subpaths) goal(w *world, from, path string, it *item) goal {
	if to, ok := it.leadsTo(w.before, from); !ok || to != path || it.kind == folder || it.Subpath == "" {
		return goal{}
	}
	was := s.find(s.was, it.Subpath)
	if was < 0 || s.find(s.is, it.Subpath) == was {
		return goal{}
	}
	g := goal{change: true, before: path, after: path, subpaths: []string{}}
	for _, sub := range s.ways(it.Subpath, was) {
		if s.find(s.is, sub) == was {
			g.subpaths = append(g.subpaths, sub)
		}
	}
	return g
}
