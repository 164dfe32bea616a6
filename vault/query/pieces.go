package query

import (
	"sort"
	"strings"
)

// parts are the parts of the document that have been asked for. Their spans are those of the source's text.
type parts struct {
	headings   []Heading
	blocks     []Span
	tasks      []Task
	tags       []Tag
	properties []Property

	hasHeadings, hasBlocks, hasTasks, hasTags, hasProperties bool
}

func (r *run) headings() []Heading {
	if !r.parts.hasHeadings {
		r.parts.hasHeadings = true
		for _, h := range r.doc.Headings() {
			h.Span = r.source.from(h.Span)
			r.parts.headings = append(r.parts.headings, h)
		}
	}
	return r.parts.headings
}

func (r *run) blocks() []Span {
	if !r.parts.hasBlocks {
		r.parts.hasBlocks = true
		for _, b := range r.doc.Blocks() {
			r.parts.blocks = append(r.parts.blocks, r.source.from(b))
		}
	}
	return r.parts.blocks
}

func (r *run) tasks() []Task {
	if !r.parts.hasTasks {
		r.parts.hasTasks = true
		for _, t := range r.doc.Tasks() {
			t.Text = r.source.from(t.Text)
			r.parts.tasks = append(r.parts.tasks, t)
		}
	}
	return r.parts.tasks
}

func (r *run) tags() []Tag {
	if !r.parts.hasTags {
		r.parts.hasTags = true
		r.parts.tags = r.doc.Tags()
	}
	return r.parts.tags
}

func (r *run) properties() []Property {
	if !r.parts.hasProperties {
		r.parts.hasProperties = true
		r.parts.properties = r.doc.Properties()
	}
	return r.parts.properties
}

// pieces gives the lines, blocks, sections or tasks of a scope one after the other, until yield returns false.
func (r *run) pieces(op operator, s scope, yield func(scope) bool) {
	in := r.span(s)
	piece := func(span Span, section int) bool {
		span = Span{max(span.Start, in.Start), min(span.End, in.End)}
		return yield(scope{where: inText, within: span, ranged: true, section: section})
	}
	switch op {
	case opLine:
		r.lines(in, piece)
	case opSection:
		r.sections(s, piece, yield)
	case opBlock:
		blocks := r.blocks()
		for i := sort.Search(len(blocks), func(i int) bool { return blocks[i].End > in.Start }); i < len(blocks); i++ {
			if blocks[i].Start >= in.End || !piece(blocks[i], none) {
				return
			}
		}
	default:
		tasks := r.tasks()
		for i := sort.Search(len(tasks), func(i int) bool { return tasks[i].Text.End >= in.Start }); i < len(tasks); i++ {
			switch t := tasks[i]; {
			case t.Text.Start > in.End:
				return
			case op == opTaskTodo && t.Done, op == opTaskDone && !t.Done:
			case !piece(t.Text, none):
				return
			}
		}
	}
}

func (r *run) lines(in Span, piece func(Span, int) bool) {
	for at := in.Start; at < in.End; {
		end := min(lineEnd(r.source.text, at), in.End)
		if !piece(Span{at, end}, none) {
			return
		}
		at = end + 1
	}
}

// sections gives the texts from one heading to the next of any level, heading included, and the text before the first
// (release note 0.10.3). Inside a section these are the ones below its heading (release note 0.11.7), which begin where
// its own text ends, so that they are not cut to it.
func (r *run) sections(s scope, piece func(Span, int) bool, yield func(scope) bool) {
	headings, in := r.headings(), r.span(s)
	extent := func(i int) Span {
		end := len(r.source.text)
		if i+1 < len(headings) {
			end = headings[i+1].Span.Start
		}
		if i < 0 {
			return Span{0, end}
		}
		return Span{headings[i].Span.Start, end}
	}
	if at := s.section; at >= 0 {
		for i := at + 1; i < len(headings) && headings[i].Level > headings[at].Level; i++ {
			if !yield(scope{where: inText, within: extent(i), ranged: true, section: i}) {
				return
			}
		}
		return
	} else if at != none {
		return // nothing is below the text before the first heading
	}
	first := sort.Search(len(headings), func(i int) bool { return headings[i].Span.Start > in.Start }) - 1
	for i := first; i < len(headings); i++ {
		e := extent(i)
		if e.Start >= in.End && e.Start > in.Start {
			return
		}
		if e.Start == e.End && i < 0 && len(headings) > 0 {
			continue
		}
		if !piece(e, i) {
			return
		}
	}
}

// tagsFor are the tags of a scope that a term matches, at most limit.
func (r *run) tagsFor(c *check, s scope, limit int) []Tag {
	if r.kind == OtherFile {
		return nil
	}
	var found []Tag
	for _, t := range r.tags() {
		if s.ranged {
			span := r.source.from(t.Span)
			if t.Span.Start == t.Span.End || !s.within.holds(span) {
				continue
			}
		}
		if c.matchesTag(strings.TrimPrefix(t.Name, "#")) {
			if found = append(found, t); len(found) == limit {
				break
			}
		}
	}
	return found
}

// matchesTag: a tag is found by its whole name or the beginning up to a slash, without regard to case.
func (c *check) matchesTag(name string) bool {
	switch c.kind {
	case kindAny:
		return true
	case kindRegex:
		return c.inString("#" + name)
	}
	want := tagName(c.text)
	return want == "" || hasTagPrefix(name, want)
}

// tagName is a tag as a query asks for it, without # and without a slash at its end.
func tagName(s string) string { return strings.TrimRight(strings.TrimPrefix(s, "#"), "/") }

// hasTagPrefix reports whether a tag is the wanted one or below it.
func hasTagPrefix(name, want string) bool {
	for {
		if strings.EqualFold(name, want) {
			return true
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return false
		}
		name = name[:i]
	}
}
