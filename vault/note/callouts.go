package note

import "strings"

// Callout is a quote whose first line is [!type] (help page Editing and formatting/Callouts).
type Callout struct {
	// Type is the type in lower case: note, tip, or a name of one's own.
	Type string
	// Metadata is what follows a bar behind the type.
	Metadata string
	// Fold is '+' or '-' for a callout that can be folded, and is open or closed at first; or else 0.
	Fold byte
	// Title is the source of the title, or empty: then the app shows the type (see DefaultTitle).
	Title string
	// Line and EndLine are its first and last line, from 1.
	Line, EndLine int
	// Parent is the index in Inline.Callouts of the callout that this one lies in, or -1.
	Parent int
	// Span is the callout from its > on. TypeSpan and TitleSpan are where type and title are written.
	Span, TypeSpan, TitleSpan Span
}

// calloutAliases are the types that look like another one.
var calloutAliases = map[string]string{
	"summary": "abstract", "tldr": "abstract", "hint": "tip", "important": "tip", "check": "success", "done": "success",
	"help": "question", "faq": "question", "caution": "warning", "attention": "warning", "fail": "failure",
	"missing": "failure", "error": "danger", "cite": "quote",
}

// Canonical is the type whose look the callout has: tldr is an abstract. Types that the app does not know are themselves.
func (c *Callout) Canonical() string {
	if t, ok := calloutAliases[c.Type]; ok {
		return t
	}
	return c.Type
}

// DefaultTitle is what the app shows instead of a missing title: the type with a capital letter.
func (c *Callout) DefaultTitle() string {
	if c.Type == "" {
		return ""
	}
	return strings.ToUpper(c.Type[:1]) + c.Type[1:]
}

// callout reads the head of the callout with the given node: its first line is text of the node behind it.
func (s *inliner) callout(i int) {
	n := s.note
	b := n.nodes[i]
	at := int(n.nodes[i+1].start)
	end := contentEnd(s.src, lineEnd(n.lines, int(b.first), len(s.src)))
	pos := at + 2
	for pos < end && s.src[pos] != ']' {
		pos++
	}
	kind := trimBoth(s.src, at+2, pos)
	c := Callout{Line: int(b.first) + 1, EndLine: int(b.last) + 1, Span: Span{int(b.start), int(b.end)}, Parent: none}
	for j := kind.Start; j < kind.End; j++ {
		if s.src[j] == '|' {
			c.Metadata = strings.TrimSpace(string(s.src[j+1 : kind.End]))
			kind = trimBoth(s.src, kind.Start, j)
			break
		}
	}
	c.Type, c.TypeSpan = strings.ToLower(s.text.str(kind.Of(s.src))), kind
	pos = min(pos+1, end)
	if pos < end && (s.src[pos] == '+' || s.src[pos] == '-') {
		c.Fold = s.src[pos]
		pos++
	}
	s.calloutHead = pos - at
	c.TitleSpan = trimBoth(s.src, pos, end)
	c.Title = s.text.str(c.TitleSpan.Of(s.src))
	for up := len(s.out.Callouts) - 1; up >= 0; up = s.out.Callouts[up].Parent {
		if s.out.Callouts[up].Span.End >= c.Span.End {
			c.Parent = up
			break
		}
	}
	if s.out.Callouts == nil {
		s.out.Callouts = make([]Callout, 0, min(64, s.counts[KindCallout]))
	}
	s.out.Callouts = append(s.out.Callouts, c)
}
