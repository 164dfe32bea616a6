package tools

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"vault-mcp/internal/compact"
	"vault-mcp/internal/fault"
	"vault-mcp/vault/note"
)

// PartArg is embedded by every tool whose text may come in parts.
type PartArg struct {
	FromLine int `json:"from_line,omitempty" jsonschema:"first line of a part, from 1" limits:"min=1"`
	Lines    int `json:"lines,omitempty" jsonschema:"how many lines the part has; all to the end if left out" limits:"min=1"`
}

// Part says which lines of a text an answer has.
type Part struct {
	FromLine   int   `json:"from_line"`
	Lines      int   `json:"lines" jsonschema:"lines that are here"`
	TotalLines int   `json:"total_lines"`
	Rest       *Rest `json:"rest,omitempty" jsonschema:"what the soft budget left out: from_line and lines as arguments give it"`
}

// Rest is what the soft budget left out of a text.
type Rest struct {
	FromLine int `json:"from_line"`
	Lines    int `json:"lines"`
	Chars    int `json:"chars,omitempty"`
}

// String says in a header which lines are here. goesOn is the tool that gives
// the rest, and more than one tool may be cheaper: see names them.
func (p Part) String(goesOn, see string) string {
	s := fmt.Sprintf("%d lines", p.TotalLines)
	if p.Lines != p.TotalLines {
		s = fmt.Sprintf("lines %d-%d of %d", p.FromLine, p.FromLine+p.Lines-1, p.TotalLines)
	}
	if r := p.Rest; r != nil {
		s += fmt.Sprintf(" · %d characters left: %s from_line=%d lines=%d", r.Chars, goesOn, r.FromLine, r.Lines)
		if see != "" {
			s += "; " + see
		}
	}
	return s
}

// textFrame is kept free beside a text for its header and the protocol's own
// fields, in bytes.
const textFrame = 6 << 10

// Cut is the lines of a text that are asked for, as far as the soft budget goes:
// whole lines, the first however long it is. starts, which may be nil, tells the
// offsets at which the text is rather cut, in order. twice says that the text
// goes out in both halves of the answer.
func (a PartArg) Cut(c *Call, text []byte, twice bool, starts func() []int) ([]byte, Part, error) {
	p := Part{FromLine: 1, TotalLines: note.CountLines(text)}
	begin := 0
	if a.FromLine > 1 {
		if p.FromLine = a.FromLine; p.FromLine > max(p.TotalLines, 1) {
			return nil, p, NoLine(p.FromLine, p.TotalLines)
		}
		begin = after(text, a.FromLine-1)
	}
	part := text[begin:]
	if a.Lines > 0 {
		part = part[:after(part, a.Lines)]
	}
	cut := c.fits(part, twice)
	if cut < len(part) && starts != nil {
		cut = rather(starts(), begin, cut)
	}
	p.Lines = note.CountLines(part[:cut])
	if left := part[cut:]; len(left) > 0 {
		p.Rest = &Rest{p.FromLine + p.Lines, note.CountLines(left), utf8.RuneCount(left)}
	}
	return part[:cut], p, nil
}

// NoLine refuses a from_line that is behind the end of a text.
func NoLine(line, total int) error {
	return fault.New(fault.InvalidInput, "The text has %d lines; line %d is not there.", total, line).
		With("argument", "from_line").With("total_lines", total)
}

// after is where the line behind the first n lines begins.
func after(text []byte, n int) int {
	end := 0
	for ; n > 0 && end < len(text); n-- {
		end += note.LineEnd(text[end:])
	}
	return end
}

// rather is the last of the starts in the second half of a part of cut bytes
// that begins at begin, or cut, counted from there.
func rather(starts []int, begin, cut int) int {
	for i := len(starts) - 1; i >= 0; i-- {
		if at := starts[i] - begin; at <= cut {
			if at > cut/2 {
				return at
			}
			break
		}
	}
	return cut
}

// fits is how many bytes of a text are in the soft budget: whole lines, and the
// first one in any case.
func (c *Call) fits(text []byte, twice bool) int {
	chars, room := c.Soft.Chars(), c.Budget-textFrame
	if twice {
		chars, room = chars/2, room/2
	}
	const longest = len(`\u0000`) // that a byte takes
	if len(text) <= chars && len(text)*longest <= room && !c.TextOnly {
		return len(text)
	}
	end := 0
	for end < len(text) {
		line := text[end : end+note.LineEnd(text[end:])]
		chars -= utf8.RuneCount(line)
		room -= c.encoded(line)
		if end > 0 && (chars < 0 || room < 0) {
			break
		}
		end += len(line)
	}
	return end
}

// encoded is the bytes that a line takes in an answer; more where it goes to a
// client that gets all as text.
func (c *Call) encoded(line []byte) int {
	if c.TextOnly {
		return len(compact.AppendString(nil, string(compact.AppendString(nil, string(line)))))
	}
	return compact.StringLen(string(line)) - len(`""`)
}

// DiffPart says which lines of a diff an answer has, where it has not all.
type DiffPart struct {
	From  int   `json:"diff_from_line,omitempty" jsonschema:"where diff begins in the whole diff, if not at its first line"`
	Total int   `json:"diff_lines,omitempty" jsonschema:"of the whole diff, if not all are here"`
	Rest  *Rest `json:"diff_rest,omitempty" jsonschema:"what the soft budget left out: from_line and lines as arguments give it"`
}

// MaxDiff is as much of a diff as is made at all for one answer, in bytes.
const MaxDiff = 4 << 20

// Diff is the lines of a diff that are asked for, as far as the soft budget
// goes.
func (a PartArg) Diff(c *Call, diff string) (string, DiffPart, error) {
	text := []byte(diff)
	part, at, err := a.Cut(c, text, true, func() []int { return hunks(text) })
	d := DiffPart{Rest: at.Rest}
	if at.FromLine > 1 {
		d.From = at.FromLine
	}
	if at.Lines < at.TotalLines {
		d.Total = at.TotalLines
	}
	return string(part), d, err
}

// hunks are the offsets at which the files and hunks of a diff begin.
func hunks(diff []byte) (starts []int) {
	for at := 0; at < len(diff); at += note.LineEnd(diff[at:]) {
		if line := diff[at:]; bytes.HasPrefix(line, []byte("@@ ")) || bytes.HasPrefix(line, []byte("diff ")) {
			starts = append(starts, at)
		}
	}
	return starts
}
