package search

import (
	"bytes"
	"context"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

type regexIn struct {
	tools.VaultArg
	Pattern   string       `json:"pattern" jsonschema:"JavaScript syntax without look-around and back-references; ^ and $ match at lines" limits:"minLength=1,maxLength=1000"`
	Flags     string       `json:"flags,omitempty" jsonschema:"of i m s u; i if left out, - for none" limits:"maxLength=8,default=i"`
	Root      tools.Folder `json:"root,omitempty" jsonschema:"only below this folder"`
	PerNote   int          `json:"max_matches_per_file,omitempty" limits:"min=1,max=1000,default=10"`
	Verbosity verbosity    `json:"verbosity,omitempty" jsonschema:"terse leaves snippets and matches out" limits:"default=full"`
	Limit     int          `json:"limit,omitempty" limits:"min=1,max=1000,default=50"`
	tools.PageArg
}

func searchRegex() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "search_regex",
		Title:  "Search by regular expression",
		Doc:    "Finds lines of notes that match a regular expression, in the order of paths. Runs in linear time, so look-around and back-references do not exist; pages with next_cursor.",
		Scope:  auth.Read,
		Narrow: "a lower limit, verbosity terse, or a root folder",
	}, func(ctx context.Context, c *tools.Call, in regexIn) (out, error) {
		m, err := newRegexMatcher(in.Pattern, in.Flags, in.PerNote)
		if err != nil {
			return out{}, err
		}
		return query{
			call: c, root: &in.Root, cursor: in.Cursor, limit: in.Limit, perNote: in.PerNote,
			terse: in.Verbosity == "terse", match: m.match,
		}.run(ctx)
	})
}

type regexMatcher struct {
	re      *regexp.Regexp
	must    *finder // a literal that every match holds, or nil
	perNote int
}

func newRegexMatcher(pattern, flags string, perNote int) (*regexMatcher, error) {
	goFlags := "m"
	for _, f := range strings.TrimPrefix(flags, "-") {
		switch f {
		case 'i', 's':
			goFlags += string(f)
		case 'm', 'u': // always on: lines are lines, and characters are characters
		default:
			return nil, fault.New(fault.InvalidInput, "There is no flag %q; use i, m, s, u, or - for none.", f).With("argument", "flags")
		}
	}
	re2, err := translate(pattern)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile("(?" + goFlags + ")" + re2)
	if err != nil {
		reason := err.Error()
		if se, ok := err.(*syntax.Error); ok {
			reason = string(se.Code)
		}
		return nil, fault.New(fault.InvalidInput, "The pattern cannot be used: %s.", reason).With("argument", "pattern")
	}
	m := &regexMatcher{re: re, perNote: perNote}
	if parsed, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		if lit := required(parsed); len(lit) >= 2 {
			m.must = newFinder(lit, true)
		}
	}
	return m, nil
}

// required is the longest literal that every match of re holds, or "".
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		lit := string(re.Rune)
		if strings.ContainsAny(lit, "\r\n") || !utf8.ValidString(lit) {
			return ""
		}
		return lit
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if lit := required(sub); len(lit) > len(best) {
				best = lit
			}
		}
		return best
	}
	return ""
}

// match lists the lines in which a match begins, one item for each.
func (m *regexMatcher) match(p string, b []byte) noteHits {
	n := noteHits{path: p}
	if m.must != nil && !m.must.in(b) {
		return n
	}
	if bytes.IndexByte(b, '\r') >= 0 {
		// $ stands before a line end of any kind. Lines and columns stay.
		b = bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	l := liner{b: b}
	for from := 0; from <= len(b); {
		loc := m.re.FindIndex(b[from:])
		if loc == nil {
			break
		}
		at, end := from+loc[0], from+loc[1]
		if at == len(b) && at > 0 && b[at-1] == '\n' {
			break // an empty match behind the last line is in no line
		}
		if len(n.lines) == m.perNote {
			n.lines[len(n.lines)-1].More = true
			break
		}
		l.seek(at)
		it := l.hit(at, end-at)
		it.Match = snippet(b[at:end], 0, 0)
		n.lines = append(n.lines, it)
		// Go on at the start of a line, so that ^ and \b see what is before.
		l.seek(max(at, end-1))
		_, next := l.end()
		if next == len(b) {
			break
		}
		from = next
	}
	return n
}
