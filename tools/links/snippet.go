package links

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"vault-mcp/vault/note"
)

const (
	// around bounds what is shown of a line before and behind a link, in bytes.
	around = 160
	// maxLine bounds a line of context, in bytes.
	maxLine = 400
)

// snippet is the line of a span, cut around it, with some lines before and
// behind it.
func snippet(text []byte, n *note.Note, at note.Span, context int) string {
	line := n.Pos(at.Start).Line
	var lines []string
	for l := max(1, line-context); l <= min(n.Lines(), line+context); l++ {
		span := n.LineSpan(l)
		if l != line {
			lines = append(lines, cut(text, span, span.Start, span.Start+maxLine))
			continue
		}
		lines = append(lines, cut(text, span, at.Start-around, max(at.Start, min(at.End, at.Start+maxLine))+around))
	}
	if context == 0 {
		return strings.TrimSpace(lines[0])
	}
	return strings.Join(lines, "\n")
}

// cut is a line, from and to an offset at most, with an ellipsis where it goes
// on.
func cut(text []byte, line note.Span, from, to int) string {
	lead, tail := "", ""
	start, end := line.Start, line.Start+len(bytes.TrimRight(line.Of(text), "\r\n"))
	if from > start {
		lead, start = "…", from
		for start < end && !utf8.RuneStart(text[start]) {
			start++
		}
	}
	if to < end {
		tail, end = "…", to
		for end > start && !utf8.RuneStart(text[end]) {
			end--
		}
	}
	return lead + string(text[start:max(start, end)]) + tail
}

// offsetOf is the offset of a position in a text.
func offsetOf(text []byte, n *note.Note, at note.Pos) (int, bool) {
	span := n.LineSpan(at.Line)
	for offset, column := range columns(text, span) {
		if column >= at.Column {
			return offset, column == at.Column
		}
	}
	return 0, false
}

// columns are the offsets of the characters of a line with their columns.
func columns(text []byte, line note.Span) func(yield func(offset, column int) bool) {
	return func(yield func(offset, column int) bool) {
		at := line.Start
		if at == 0 {
			at = len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff")))
		}
		for column := 1; at < line.End; {
			if !yield(at, column) {
				return
			}
			r, size := utf8.DecodeRune(text[at:])
			at += size
			if column++; r > 0xffff {
				column++
			}
		}
	}
}
