package search

import (
	"context"
	"math"
	"path"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type textIn struct {
	tools.VaultArg
	Query     string       `json:"query" jsonschema:"literal text" limits:"minLength=1,maxLength=1000"`
	CaseSens  bool         `json:"case_sensitive,omitempty"`
	WholeWord bool         `json:"whole_word,omitempty"`
	Root      tools.Folder `json:"root,omitempty" jsonschema:"only below this folder"`
	PerNote   int          `json:"max_matches_per_file,omitempty" limits:"min=1,max=1000,default=5"`
	Verbosity verbosity    `json:"verbosity,omitempty" jsonschema:"terse leaves the snippets out" limits:"default=full"`
	Limit     int          `json:"limit,omitempty" limits:"min=1,max=1000,default=50"`
	tools.PageArg
}

func searchText() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "search_text",
		Title:  "Search text",
		Doc:    "Finds notes that contain a text, best first, with the matching lines. Ignores case unless told otherwise; pages with next_cursor.",
		Scope:  auth.Read,
		Narrow: "a lower limit, verbosity terse, or a root folder",
	}, func(ctx context.Context, c *tools.Call, in textIn) (out, error) {
		m := textMatcher{newFinder(in.Query, !in.CaseSens), in.WholeWord, in.PerNote}
		return query{
			call: c, root: &in.Root, cursor: in.Cursor, limit: in.Limit, perNote: in.PerNote,
			terse: in.Verbosity == "terse", match: m.match,
		}.run(ctx)
	})
}

type textMatcher struct {
	find    *finder
	word    bool
	perNote int
}

// match lists the matching lines of a note, one item for each.
func (m textMatcher) match(p string, b []byte) noteHits {
	n := noteHits{path: p}
	s := m.find.over(b)
	l := liner{b: b}
	count := 0
	for from := 0; from <= len(b); {
		at, length := s.next(from)
		if at < 0 {
			break
		}
		if m.word && !wordAt(b, at, length) {
			from = at + 1
			continue
		}
		count++
		l.seek(at)
		if count <= m.perNote {
			n.lines = append(n.lines, l.hit(at, length))
		}
		_, from = l.end()
		if from <= at { // the match is in the last line's end
			from = at + length
		}
		if from == len(b) {
			break
		}
	}
	if count > m.perNote {
		n.lines[len(n.lines)-1].More = true
	}
	if count > 0 {
		n.score = score(count, len(b), m.find.in([]byte(path.Base(p))))
	}
	return n
}

// score ranks a note by how often it has the text for its length, as BM25 does
// for one term, with a bonus for a name that has it too. It depends on nothing
// but the note, so that paging by it stays right while other notes change, and
// folders that a caller may not see do not show in it.
func score(count, size int, inName bool) float64 {
	const (
		k      = 1.2
		b      = 0.75
		median = 2000 // bytes of an ordinary note
	)
	tf := float64(count)
	s := tf * (k + 1) / (tf + k*(1-b+b*float64(size)/median))
	if inName {
		s += 2
	}
	return math.Round(s*1000) / 1000
}
