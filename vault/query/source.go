package query

import (
	"bytes"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// source is the text of a document with every line end as LF and without a byte order mark, so that lines end in one
// way for words, lines and regular expressions.
type source struct {
	text []byte
	cuts []int // offsets in the document of the bytes that were left out
}

var unixEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func newSource(text []byte) source {
	bom := 0
	if bytes.HasPrefix(text, []byte("\uFEFF")) {
		bom = len("\uFEFF")
	}
	s := source{text: text[bom:]}
	for i := range bom {
		s.cuts = append(s.cuts, i)
	}
	first := bytes.IndexByte(s.text, '\r')
	if first < 0 {
		return s
	}
	out := make([]byte, first, len(s.text))
	copy(out, s.text)
	for i := first; i < len(s.text); i++ {
		c := s.text[i]
		if c == '\r' {
			if i+1 < len(s.text) && s.text[i+1] == '\n' {
				s.cuts = append(s.cuts, bom+i)
				continue
			}
			c = '\n'
		}
		out = append(out, c)
	}
	s.text = out
	return s
}

// from turns a span of the document into one of the text.
func (s *source) from(span Span) Span {
	at := func(i int) int {
		return min(max(0, i-sort.SearchInts(s.cuts, i)), len(s.text))
	}
	start := at(span.Start)
	return Span{start, max(start, at(span.End))}
}

// to turns a span of the text into one of the document.
func (s *source) to(span Span) Span {
	at := func(i int) int {
		return i + sort.Search(len(s.cuts), func(k int) bool { return s.cuts[k]-k > i })
	}
	start := at(span.Start)
	if span.Start >= span.End {
		return Span{start, start}
	}
	return Span{start, at(span.End-1) + 1}
}

// withoutQuery is the text with the blocks that hold this very query blanked out. Offsets and lines stay.
func withoutQuery(text []byte, query string) []byte {
	want := strings.Join(strings.Fields(query), " ")
	var out []byte
	for at := 0; at < len(text); {
		end := lineEnd(text, at)
		fence, ok := queryFence(text[at:end])
		start := at
		at = end + 1
		if !ok {
			continue
		}
		var body []string
		for at < len(text) {
			end = lineEnd(text, at)
			line := unquoted(text[at:end])
			at = end + 1
			if len(line) >= len(fence) && strings.Trim(line, fence[:1]) == "" {
				break
			}
			body = append(body, strings.Fields(line)...)
		}
		if strings.Join(body, " ") != want {
			continue
		}
		if out == nil {
			out = bytes.Clone(text)
		}
		for i := start; i < end; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	if out == nil {
		return text
	}
	return out
}

// unquoted is a line without blanks and marks of quotes around it.
func unquoted(line []byte) string {
	return strings.TrimRight(strings.TrimLeft(string(line), " \t>"), " \t")
}

// queryFence reads the first line of a query block.
func queryFence(line []byte) (fence string, ok bool) {
	if i := bytes.IndexAny(line, "`~"); i < 0 || len(bytes.Trim(line[:i], " \t>")) > 0 {
		return "", false
	}
	s := unquoted(line)
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return s[:n], n >= 3 && strings.TrimSpace(s[n:]) == "query"
}

// WholeWords reports whether a match begins and ends at the border of a word (release note 0.8.0). A word goes on over
// letters, marks, digits and _. Scripts without blanks between words have a border everywhere but before a mark.
func WholeWords(text []byte, start, end int) bool {
	before, _ := utf8.DecodeLastRune(text[:start])
	first, _ := utf8.DecodeRune(text[start:])
	last, _ := utf8.DecodeLastRune(text[:end])
	after, _ := utf8.DecodeRune(text[end:])
	return !joined(before, first) && !joined(last, after)
}

func joined(a, b rune) bool {
	if !inWord(a) || !inWord(b) {
		return false
	}
	return unicode.IsMark(b) || !unicode.In(a, unblanked...) && !unicode.In(b, unblanked...)
}

var unblanked = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}
