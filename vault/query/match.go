package query

import (
	"bytes"
	"path"
	"strings"
)

// Options says how a document is searched.
type Options struct {
	// Limit is how many hits are returned, at least 1.
	Limit int
	// EmbeddedIn is the path of the note whose query block asks, or empty. A block with this query is not searched in that
	// note, so that it does not find itself (release note 0.11.7).
	EmbeddedIn string
	// ReadText asks for the text of a matching document even if the query needs none, so that tags and properties whose
	// place is known make hits.
	ReadText bool
}

// Match reports whether the document matches, and where. The time is linear in the text for each term of the query.
func (m *Matcher) Match(doc Document, opt Options) (Result, bool) {
	r := &run{m: m, doc: doc, kind: doc.Kind(), cursors: make([]cursor, m.checks)}
	r.path = doc.Path()
	r.file = path.Base(r.path)
	r.name = strings.TrimSuffix(r.file, path.Ext(r.file))
	if r.name == "" {
		r.name = r.file
	}
	needsText := r.kind != OtherFile && m.query.NeedsText()
	if needsText {
		r.source = newSource(doc.Text())
		if opt.EmbeddedIn != "" && opt.EmbeddedIn == r.path {
			r.source.text = withoutQuery(r.source.text, m.query.source)
		}
	}
	top := scope{where: everywhere, section: none}
	if !r.holds(m.root, top) || r.kind == OtherFile && !r.grounded(m.root, top) {
		return Result{}, false
	}
	if opt.ReadText && !needsText && r.kind != OtherFile {
		r.source = newSource(doc.Text())
	}
	return r.result(max(1, opt.Limit), top), true
}

// run is a matcher on its way through one document.
type run struct {
	m                *Matcher
	doc              Document
	kind             Kind
	path, file, name string
	source           source
	cursors          []cursor
	parts            parts

	limit  int
	places []Span // of matches in the text
	score  int
}

// cursor is the search for one literal in the text. It goes on from range to range, and remembers the next match, so
// that no part of the text is looked at twice.
type cursor struct {
	finding Finding
	from    int
	match   Span // the first at or after from; it starts behind the text if there is none
}

// next is the first match at or after at, which is not less than from.
func (c *cursor) next(at, size int) Span {
	if c.from = at; c.match.Start < at {
		start, end := c.finding.Next(at)
		if c.match = (Span{start, end}); start < 0 {
			c.match = Span{size + 1, size + 1}
		}
	}
	return c.match
}

// where says what is looked at.
type where uint8

const (
	everywhere where = iota // the text and the name
	inText                  // a range of the text
	inFile                  // the file name
	inPath
	inTags
	inKey   // the name of a property
	inField // a value of a property
)

const none = -2 // no section; -1 is the one before the first heading

// scope is what a part of a query looks at.
type scope struct {
	where   where
	within  Span // for inText; for inTags if it is not empty
	ranged  bool // within counts
	section int  // index of the heading whose section within is, or none
	key     string
	value   any
}

// span is the range of the text that pieces are taken from.
func (r *run) span(s scope) Span {
	if s.ranged {
		return s.within
	}
	return Span{0, len(r.source.text)}
}

// holds evaluates a part of the query.
func (r *run) holds(c *check, s scope) bool {
	switch c.kind {
	case kindAnd:
		for _, kid := range c.kids {
			if !r.holds(kid, s) {
				return false
			}
		}
		return true
	case kindOr:
		for _, kid := range c.kids {
			if r.holds(kid, s) {
				return true
			}
		}
		return false
	case kindNot:
		return !r.holds(c.kids[0], s)
	case kindProperty:
		return r.property(c, nil)
	case kindOp:
		return r.operator(c, s)
	}
	return r.leaf(c, s)
}

func (r *run) operator(c *check, s scope) bool {
	if next, ok := r.turned(c.op, s); ok {
		return r.holds(c.kids[0], next)
	}
	if r.kind == OtherFile {
		return false
	}
	found := false
	r.pieces(c.op, s, func(piece scope) bool {
		found = r.holds(c.kids[0], piece)
		return !found
	})
	return found
}

// turned is the scope inside an operator that looks at something as a whole.
func (r *run) turned(op operator, s scope) (scope, bool) {
	switch op {
	case opMatchCase, opIgnoreCase:
	case opFile:
		s = scope{where: inFile, section: none}
	case opPath:
		s = scope{where: inPath, section: none}
	case opTag:
		s = scope{where: inTags, within: s.within, ranged: s.ranged, section: none}
	case opContent:
		s = scope{where: inText, within: r.span(s), ranged: true, section: s.section}
	default:
		return scope{}, false
	}
	return s, true
}

// grounded reports whether a part that holds for a file without text does so because of its name or path: no other file
// is found by what it does not hold.
func (r *run) grounded(c *check, s scope) bool {
	switch c.kind {
	case kindAnd:
		for _, kid := range c.kids {
			if r.grounded(kid, s) {
				return true
			}
		}
	case kindOr:
		for _, kid := range c.kids {
			if r.holds(kid, s) && r.grounded(kid, s) {
				return true
			}
		}
	case kindNot:
		return c.kids[0].named()
	case kindOp:
		return c.op == opFile || c.op == opPath ||
			(c.op == opMatchCase || c.op == opIgnoreCase) && r.grounded(c.kids[0], s)
	}
	return false
}

// named reports whether the part looks at names or paths.
func (n *node) named() bool {
	if n.kind == kindOp && (n.op == opFile || n.op == opPath) {
		return true
	}
	for _, kid := range n.kids {
		if kid.named() {
			return true
		}
	}
	return false
}

func (r *run) leaf(c *check, s scope) bool {
	switch s.where {
	case inKey:
		return c.matchesKey(s.key)
	case inField:
		return c.matchesValue(s.value)
	case inFile:
		return c.inString(r.file)
	case inPath:
		return c.inString(r.path)
	case inTags:
		return len(r.tagsFor(c, s, 1)) > 0
	}
	if r.kind == OtherFile {
		return false
	}
	if c.kind == kindAny {
		return true
	}
	_, ok := r.find(c, r.span(s))
	return ok || s.where == everywhere && c.inString(r.name)
}

// inString reports whether a text that is not the document's matches.
func (c *check) inString(s string) bool {
	if c.kind == kindAny {
		return true
	}
	_, ok := c.next(c.finder.Begin([]byte(s)), []byte(s), 0)
	return ok
}

// next is the first match at or after from; a phrase begins and ends with whole words.
func (c *check) next(f Finding, text []byte, from int) (Span, bool) {
	for from <= len(text) {
		start, end := f.Next(from)
		if start < 0 {
			break
		}
		if c.kind != kindPhrase || WholeWords(text, start, end) {
			return Span{start, end}, true
		}
		from = start + 1
	}
	return Span{}, false
}

// find is the first match inside a range of the text.
func (r *run) find(c *check, in Span) (Span, bool) {
	text := r.source.text
	if c.kind == kindRegex { // it must not see beyond the range
		part := text[in.Start:in.End]
		m, ok := c.next(c.finder.Begin(part), part, 0)
		return Span{in.Start + m.Start, in.Start + m.End}, ok
	}
	cur := &r.cursors[c.id]
	if cur.finding == nil {
		*cur = cursor{finding: c.finder.Begin(text), match: Span{-1, -1}}
	}
	if in.Start < cur.from { // back in the text: a search of its own, that does not cost a second pass
		part := text[in.Start:in.End]
		f := c.finder.Begin(part)
		for from := 0; ; {
			start, end := f.Next(from)
			if start < 0 {
				return Span{}, false
			}
			if c.kind != kindPhrase || WholeWords(text, in.Start+start, in.Start+end) {
				return Span{in.Start + start, in.Start + end}, true
			}
			from = start + 1
		}
	}
	for at := in.Start; ; {
		m := cur.next(at, len(text))
		if m.Start >= in.End {
			return Span{}, false
		}
		if m.End <= in.End && (c.kind != kindPhrase || WholeWords(text, m.Start, m.End)) {
			return m, true
		}
		at = m.Start + 1
	}
}

// property looks for a property whose name and one of whose values match. Those that do are given to each, if there is
// one.
func (r *run) property(c *check, each func(p Property)) bool {
	if r.kind == OtherFile {
		return false
	}
	found := false
	for _, p := range r.properties() {
		if !r.holds(c.kids[0], scope{where: inKey, key: p.Name, section: none}) {
			continue
		}
		ok := len(c.kids) == 1
		if !ok {
			eachValue(p.Value, 0, func(v any) bool {
				ok = r.holds(c.kids[1], scope{where: inField, value: v, section: none})
				return !ok
			})
		}
		if ok && each == nil {
			return true
		}
		if ok {
			found = true
			each(p)
		}
	}
	return found
}

// lineEnd is where the line that holds an offset ends, without its line end.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}
