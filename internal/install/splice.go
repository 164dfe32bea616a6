package install

import (
	"bytes"
	"slices"
	"strings"
)

// edit replaces the bytes from one offset to another.
type edit struct {
	from, to int
	text     string
}

// apply makes edits that do not overlap. Those at one place keep their order.
func apply(text []byte, edits ...edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, text[at:]...)
}

// lineEnd is the one that a text uses first.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// margin is the blanks that the line of an offset begins with, and whether nothing
// else stands before the offset.
func margin(text []byte, at int) (blanks string, first bool) {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	end := start
	for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	return string(text[start:min(end, at)]), start > 0 && end >= at
}

// beforeLine is where the line of an offset begins, its line end before it
// included.
func beforeLine(text []byte, at int) int {
	i := bytes.LastIndexByte(text[:at], '\n')
	if i > 0 && text[i-1] == '\r' {
		i--
	}
	return max(i, 0)
}

// endsLine reports whether a line ends at an offset.
func endsLine(text []byte, at int) bool {
	rest := text[at:]
	return len(rest) == 0 || rest[0] == '\n' || bytes.HasPrefix(rest, []byte("\r\n"))
}

// member is a name with what it stands for: text, texts, a number or members.
type member struct {
	name  string
	value any
}

// style is how a value is written.
type style struct {
	end    string // the line end
	unit   string // by which what is within is indented
	margin string // of the line on which the value begins
	inline bool   // on one line
	tight  bool   // without a blank
}

// deeper is the style of what is within.
func (s style) deeper() style {
	s.margin += s.unit
	return s
}

// named writes a member.
func (s style) named(m member) string {
	colon := ": "
	if s.tight {
		colon = ":"
	}
	return quote(m.name) + colon + s.value(m.value)
}

// value writes a value as JSON.
func (s style) value(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case []string:
		return s.list("[", "]", len(v), func(s style, i int) string { return quote(v[i]) })
	case []member:
		return s.list("{", "}", len(v), func(s style, i int) string { return s.named(v[i]) })
	}
	panic("install: no such value") // only entries of ours are written
}

func (s style) list(open, end string, n int, item func(style, int) string) string {
	if n == 0 {
		return open + end
	}
	within := s.deeper()
	first, between, last := within.end+within.margin, ","+within.end+within.margin, s.end+s.margin
	if s.inline {
		first, between, last = "", ", ", ""
		if s.tight {
			between = ","
		}
	}
	items := make([]string, n)
	for i := range items {
		items[i] = item(within, i)
	}
	return open + first + strings.Join(items, between) + last + end
}
