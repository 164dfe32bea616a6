package query

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Result is where and how well a document matches.
type Result struct {
	// Hits are lines that matched, in text order, one hit for each. A document that is found by its name, path or
	// properties may have none.
	Hits []Hit
	// More is true if there are more hits than the limit.
	More bool
	// Score ranks documents: the more terms are found, in the name and headings above all, the higher. It depends on the
	// query and this document only.
	Score int
}

// Hit is the first match in a line.
type Hit struct {
	Line   int // from 1
	Column int // in UTF-16 units, from 1
	// Span is the match in the document's text; it may go on in the next lines.
	Span Span
}

// The weights of the score.
const (
	wholeName  = 100 // the name is the term
	partOfName = 40
	partOfPath = 10
	inHeading  = 20
	inMetadata = 15 // a tag or property
	maxLines   = 20 // one for each line
)

// result collects the hits of a document that matches.
func (r *run) result(limit int, top scope) Result {
	r.limit = limit
	clear(r.cursors)
	r.collect(r.m.root, top)
	slices.SortFunc(r.places, func(a, b Span) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	res := r.hits()
	res.Score = r.score + min(len(r.places), maxLines)
	return res
}

// hits makes hits of the places, one for each line.
func (r *run) hits() Result {
	var res Result
	text, headings := r.source.text, []Heading(nil)
	if len(r.places) > 0 && r.kind == NoteFile && len(text) > 0 {
		headings = r.headings()
	}
	line, start, end := 1, 0, lineEnd(text, 0)
	h, titled := 0, false
	for _, p := range r.places {
		for p.Start > end {
			line, start = line+1, end+1
			end = lineEnd(text, start)
		}
		for h < len(headings) && headings[h].Span.End <= p.Start {
			h++
		}
		if !titled && h < len(headings) && headings[h].Span.holds(p) {
			titled = true
			r.score += inHeading
		}
		if n := len(res.Hits); n > 0 && res.Hits[n-1].Line == line {
			continue
		}
		if res.More = len(res.Hits) == r.limit; res.More {
			break
		}
		res.Hits = append(res.Hits, Hit{Line: line, Column: columnOf(text[start:p.Start]), Span: r.source.to(p)})
	}
	return res
}

func columnOf(before []byte) int {
	units := 1
	for len(before) > 0 {
		c, size := utf8.DecodeRune(before)
		units++
		if c > 0xFFFF {
			units++
		}
		before = before[size:]
	}
	return units
}

// collect adds the matches of a part of the query that holds.
func (r *run) collect(c *check, s scope) {
	switch c.kind {
	case kindNot:
		return
	case kindAnd:
		for _, kid := range c.kids {
			r.collect(kid, s)
		}
	case kindOr:
		for _, kid := range c.kids {
			if r.holds(kid, s) {
				r.collect(kid, s)
			}
		}
	case kindProperty:
		r.property(c, func(p Property) {
			r.score += inMetadata
			r.add(r.source.from(p.Span), p.Span != Span{})
		})
	case kindOp:
		r.collectOp(c, s)
	default:
		r.collectLeaf(c, s)
	}
}

func (r *run) collectOp(c *check, s scope) {
	if next, ok := r.turned(c.op, s); ok {
		r.collect(c.kids[0], next)
		return
	}
	before := len(r.places)
	r.pieces(c.op, s, func(piece scope) bool {
		if !r.holds(c.kids[0], piece) {
			return true
		}
		n := len(r.places)
		r.collect(c.kids[0], piece)
		if len(r.places) == n { // found by what it does not hold, or a mere task:""
			at := piece.within.Start
			r.add(Span{at, min(lineEnd(r.source.text, at), piece.within.End)}, true)
		}
		return len(r.places)-before <= r.limit
	})
}

func (r *run) add(span Span, known bool) {
	if known && len(r.source.text) > 0 {
		r.places = append(r.places, span)
	}
}

func (r *run) collectLeaf(c *check, s scope) {
	switch s.where {
	case inFile, inPath:
		if c.kind != kindAny {
			r.score += partOfPath
		}
		return
	case inTags:
		for _, t := range r.tagsFor(c, s, r.limit+1) {
			r.add(r.source.from(t.Span), t.Span != Span{})
		}
		r.score += inMetadata
		return
	case inKey, inField:
		return
	}
	if c.kind == kindAny {
		return
	}
	if s.where == everywhere {
		switch {
		case strings.EqualFold(r.name, c.text):
			r.score += wholeName
		case c.inString(r.name):
			r.score += partOfName
		}
	}
	in := r.span(s)
	for n := 0; n <= r.limit && in.Start <= in.End; n++ {
		m, ok := r.find(c, in)
		if !ok {
			return
		}
		r.add(m, true)
		in.Start = lineEnd(r.source.text, m.Start) + 1
	}
}
