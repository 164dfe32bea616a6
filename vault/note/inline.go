package note

import (
	"bytes"
	"slices"
	"strings"
)

// Inline is what the text of a note holds beside its blocks: links, tags, tasks and the like. All lists are in text order.
// Code, math, HTML blocks, HTML comments and the inside of HTML tags hold none of it; headings, quotes, callouts, list
// items, table cells, footnotes and %% comments do, but a block comment has no tasks. Properties are not part of it: see
// Properties.Links, Properties.Tags and Properties.Aliases.
type Inline struct {
	// Links are the wikilinks, Markdown links, embeds and URLs of the text. Only an embed can lie inside another link: an
	// image that is the text of one.
	Links []Link
	// Definitions are the link reference definitions, [label]: target. Obsidian shows them as links, but keeps them apart
	// and counts neither them nor their uses (typings: CachedMetadata.referenceLinks).
	Definitions []Link
	Tags        []Tag
	Tasks       []Task
	Callouts    []Callout
	Tables      []Table
	// Footnotes are the definitions, [^id]: text.
	Footnotes []Footnote
	// References are the uses of footnotes, [^id].
	References []Reference
	// InlineFootnotes are the footnotes written where they are used, ^[text].
	InlineFootnotes []Span
	Fields          []Field
	// Comments are the %% comments with their marks, in block and inline form. An inline comment that is not closed in its
	// paragraph is text.
	Comments []Span
	// Code is the code spans with their backticks. Code blocks are not among them.
	Code []Span
	// Math is the inline math with its dollar signs. Math blocks are not among it.
	Math []Span
}

// Limits of the inline scan. They keep the memory and time of hostile notes in bounds; what lies beyond is text.
const (
	// MaxBrackets is how many open brackets may wait for their partner. Of more, the outermost are text.
	MaxBrackets = 1000
	// MaxBackticks is the length of the longest run of backticks that opens a code span.
	MaxBackticks = 1000
	// maxParens is how deep parentheses may nest in a link target without angle brackets (CommonMark 6.3 asks for three).
	maxParens = 32
)

// Inline reads the text of the blocks in one pass. Its time is linear in the length of the note.
func (n *Note) Inline() *Inline {
	s := inliner{note: n, src: n.src, out: &Inline{}}
	for i := range n.nodes {
		s.counts[n.nodes[i].kind]++
	}
	if c := min(64, bytes.Count(n.src, []byte("[["))+bytes.Count(n.src, []byte("]("))); c > 0 {
		s.out.Links = make([]Link, 0, c)
	}
	for i := range n.nodes {
		b := &n.nodes[i]
		switch b.kind {
		case KindParagraph:
			s.paragraph(i)
		case KindHeading:
			s.open(b.first, b.last, int(b.start), int(b.end))
			s.run(0)
		case KindTable:
			s.table(b)
		case KindComment:
			s.commentBlock(b)
		case KindCallout:
			s.callout(i)
		case KindFootnote:
			s.footnote(b)
		}
	}
	if s.nested {
		slices.SortStableFunc(s.out.Fields, func(a, b Field) int { return a.Span.Start - b.Span.Start })
	}
	return s.out
}

// paragraph reads a paragraph behind what its block has of it: a task mark, the head of a callout, link definitions.
func (s *inliner) paragraph(i int) {
	b := &s.note.nodes[i]
	s.open(b.first, b.last, int(b.start), int(b.end))
	from := 0
	s.lineFields = true
	switch parent := int(b.parent); {
	case len(s.buf) == 0 || s.buf[0] != '[':
	case i == parent+1 && s.note.nodes[parent].kind == KindItem && s.note.nodes[parent].first == b.first:
		from = s.task(i)
	case i == parent+1 && s.note.nodes[parent].kind == KindCallout:
		from = s.calloutHead
	default:
		from = s.definitions()
	}
	s.lineStart = from
	s.run(from)
	s.lineFields = false
}

// commentBlock reads a %% block: it holds links and tags, though not in fenced code. Blank lines part paragraphs, so
// that no mark pairs up across them.
func (s *inliner) commentBlock(b *node) {
	s.out.Comments = append(s.out.Comments, Span{int(b.start), int(b.end)})
	s.inComment = true
	fence, length := byte(0), 0
	first, start, end := int32(none), 0, 0
	flush := func(last int32) {
		if first != none {
			s.open(first, last, start, end)
			s.run(0)
			first = none
		}
	}
	for l := b.first; l <= b.last; l++ {
		from, to := int(s.note.lines[l].text), lineEnd(s.note.lines, int(l), len(s.src))
		if l == b.first {
			from = int(b.start)
		} else if int(s.note.lines[l].text) >= int(b.end) {
			from = int(s.note.lines[l].start)
		}
		to = min(to, int(b.end))
		text := bytes.Trim(s.src[min(from, to):to], " \t\r\n")
		n := 0
		if len(text) > 0 && (text[0] == '`' || text[0] == '~') {
			n = run(text, text[0])
		}
		switch {
		case fence != 0:
			if n >= length && text[0] == fence && n == len(text) {
				fence = 0
			}
		case n >= 3 && (text[0] == '~' || bytes.IndexByte(text[n:], '`') < 0):
			flush(l - 1)
			fence, length = text[0], n
		case len(text) == 0:
			flush(l - 1)
		default:
			if first == none {
				first, start = l, from
			}
			end = to
		}
	}
	flush(b.last)
	s.inComment = false
}

// inliner reads one run of text after the other: the lines of a leaf block without the markers of its containers, or a
// cell of a table.
type inliner struct {
	note   *Note
	src    []byte
	out    *Inline
	text   arena
	counts [KindRule + 1]int // how many blocks there are of each kind
	fields []TaskField       // of all tasks
	cells  []Span            // of all tables
	aligns []Align           // of all tables

	buf         []byte // the run
	base        int    // offset of the run in the source, if it stands there in one piece
	cuts        []cut  // or else its pieces
	copied      []byte
	first, last int32 // its lines

	cell        bool // a cell of a table: \| stands for a bar
	inComment   bool
	lineFields  bool // fields without brackets may stand here
	calloutHead int  // where the title of the callout starts in its first paragraph
	lineStart   int  // where the text of the current line starts
	fresh       int  // end of the last inline element: a tag may start there
	done        int  // end of the last thing read whole
	comment     int  // start of the open inline comment, or none

	brackets []bracket
	inactive int // brackets below this index, other than those of images and footnotes, cannot become links
	parens   []paren
	nested   bool // a field lies in another one, so that they are out of order
	misses   misses
	lastRuns []int32 // for each length of backticks: where the last run of it starts
	nextID   int     // index in Note.Blocks of the first block whose id is not behind us
}

// misses remembers, for one run, what the rest of it does not hold, so that no two searches go to its end.
type misses struct {
	math, displayMath, runs bool
	comment, instruction    bool // --> and ?>
	declaration, cdata      bool // > and ]]>
	marks                   [4]markPlaces
}

// cut says that the run from at on stands at source in the note.
type cut struct{ at, source int }

// open makes the source between start and end the run. Its lines are joined without what their containers put before
// them; in most notes nothing does, and the run is the source itself.
func (s *inliner) open(first, last int32, start, end int) {
	s.first, s.last = first, last
	s.brackets, s.parens, s.cuts = s.brackets[:0], s.parens[:0], s.cuts[:0]
	s.inactive, s.lineStart, s.fresh, s.done, s.comment = 0, 0, 0, 0, none
	s.misses = misses{}
	s.buf, s.base = s.src[start:end], start
	for l := first + 1; l <= last; l++ {
		if at := s.note.lines[l]; at.text > at.start && !blankLine(s.src[at.start:at.text]) {
			s.join(start, end)
			return
		}
	}
}

func (s *inliner) join(start, end int) {
	s.copied = slices.Grow(s.copied[:0], end-start)
	for l := s.first; l <= s.last; l++ {
		from, to := int(s.note.lines[l].text), lineEnd(s.note.lines, int(l), len(s.src))
		if l == s.first {
			from = start
		} else if from >= end {
			from = int(s.note.lines[l].start) // the last line of a comment, with a paragraph behind its end
		}
		if to = min(to, end); from >= to {
			continue
		}
		s.cuts = append(s.cuts, cut{len(s.copied), from})
		s.copied = append(s.copied, s.src[from:to]...)
	}
	s.buf = s.copied
}

// at is the offset in the note of an offset in the run.
func (s *inliner) at(i int) int {
	if len(s.cuts) == 0 {
		return s.base + i
	}
	k, found := slices.BinarySearchFunc(s.cuts, i, func(c cut, i int) int { return c.at - i })
	if !found {
		k--
	}
	return s.cuts[k].source + i - s.cuts[k].at
}

// span is the source of a part of the run. If it goes over several lines of a quote, then their markers are inside.
func (s *inliner) span(start, end int) Span {
	if len(s.cuts) == 0 {
		return Span{s.base + start, s.base + end}
	}
	if start == end {
		at := s.at(start)
		return Span{at, at}
	}
	return Span{s.at(start), s.at(end-1) + 1}
}

// line is the line, from 1, of an offset in the note.
func (s *inliner) line(offset int) int {
	low, high := int(s.first), int(s.last)
	for low < high {
		if mid := (low + high + 1) / 2; int(s.note.lines[mid].start) <= offset {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low + 1
}

// arena makes many small strings with few allocations.
type arena struct{ b strings.Builder }

func (a *arena) str(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	if a.b.Cap()-a.b.Len() < len(p) {
		a.b = strings.Builder{}
		a.b.Grow(max(256, len(p)))
	}
	start := a.b.Len()
	a.b.Write(p)
	return a.b.String()[start:]
}
