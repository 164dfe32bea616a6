package search

import (
	"bytes"
	"context"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

type regexIn struct {
	tools.VaultArg
	Pattern   string          `json:"pattern" jsonschema:"JavaScript syntax without look-around and back-references; ^ and $ match at lines" limits:"minLength=1,maxLength=1000"`
	Flags     string          `json:"flags,omitempty" jsonschema:"of i m s u; \"\" for none" limits:"maxLength=8,default=i"`
	Root      tools.Folder    `json:"root,omitempty" jsonschema:"only below this folder"`
	PerNote   int             `json:"max_matches_per_file,omitempty" limits:"min=1,max=1000,default=10"`
	Verbosity tools.Verbosity `json:"verbosity,omitempty" jsonschema:"terse leaves snippets and matches out" limits:"default=full"`
	Limit     int             `json:"limit,omitempty" limits:"min=1,max=1000,default=50"`
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
		flags, err := goFlags(in.Flags)
		if err != nil {
			return out{}, err
		}
		p, err := compile(in.Pattern, flags)
		if err != nil {
			return out{}, err
		}
		full := in.Verbosity != tools.Terse
		s, err := begin(c, &in.Root, in.Cursor, in.Limit, shape{snippet: full, match: full})
		if err != nil {
			return out{}, err
		}
		q := lookup{session: s, mode: "regex", match: &regexMatcher{p, in.PerNote}, literals: p.literals}
		return q.run(ctx)
	})
}

// goFlags turns JavaScript's flags into those of package regexp.
func goFlags(flags string) (string, error) {
	goes := "m"
	for _, f := range flags {
		switch f {
		case 'i', 's':
			goes += string(f)
		case 'm', 'u', 'g': // always on: lines are lines, characters are characters, and all are found
		default:
			return "", fault.New(fault.InvalidInput, "There is no flag %q; use i, m, s, u, or an empty string for none.", f).With("argument", "flags")
		}
	}
	return goes, nil
}

type regexMatcher struct {
	*pattern
	perNote int
}

// match lists the lines in which a match begins, one hit for each.
func (m *regexMatcher) match(ctx context.Context, w *workspace, path string, b []byte, _ int) noteHits {
	if m.must != nil && !w.finding.holds(m.must, b) {
		return noteHits{}
	}
	text := w.unixLines(b)
	lines, more := m.over(ctx, w, text).lines(m.perNote)
	return noteHits{path: path, text: text, lines: lines, more: more, total: len(lines)}
}

// lines are the first lines in which a match begins, at most limit, and
// whether there are more. The next match is looked for behind the line of the
// one before, or behind its end if it goes over several.
func (s *patternFinding) lines(limit int) (lines []hit, more bool) {
	lines = s.w.lines[:0]
	l := &s.w.liner
	l.begin(s.text)
	for from := 0; from <= len(s.text); {
		at, end := s.next(from)
		if at < 0 || at == len(s.text) && at > 0 && s.text[at-1] == '\n' {
			break // an empty match behind the last line is in no line
		}
		if more = len(lines) == limit; more {
			break
		}
		l.seek(at)
		h := hit{l.line, l.at, at, end}
		lines = append(lines, h)
		l.seek(max(at, end-1))
		if from = l.next(); l.line > h.line {
			from = end
		}
		if from == len(s.text) {
			break
		}
	}
	s.w.lines = lines
	return lines, more
}

// unixLines makes every line end LF, so that $ stands before it. Lines and
// columns stay the same.
func (w *workspace) unixLines(b []byte) []byte {
	const most = 8 << 20 // bytes that are kept for the next note
	i := bytes.IndexByte(b, '\r')
	if i < 0 {
		return b
	}
	text := append(w.text[:0], b[:i]...)
	for ; i < len(b); i++ {
		c := b[i]
		if c == '\r' {
			if i+1 < len(b) && b[i+1] == '\n' {
				continue
			}
			c = '\n'
		}
		text = append(text, c)
	}
	if cap(text) <= most {
		w.text = text
	}
	return text
}
