package search

import (
	"context"
	"math"
	"path"
	"strings"

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
		return query{
			call: c, mode: "text", root: &in.Root, cursor: in.Cursor, limit: in.Limit,
			shape: shape{snippet: in.Verbosity != "terse"},
			match: &textMatcher{newTextFinder(in.Query, !in.CaseSens), in.WholeWord, in.PerNote},
		}.run(ctx)
	})
}

type textMatcher struct {
	find    *finder
	word    bool
	perNote int
}

// match lists the matching lines of a note, one hit for each.
func (m *textMatcher) match(_ context.Context, w *workspace, p string, b []byte) noteHits {
	n := noteHits{path: p, text: b}
	w.lines = w.lines[:0]
	w.finding.begin(m.find, b)
	count := 0
	for from := 0; from < len(b); {
		at, length := m.next(&w.finding, b, from)
		if at < 0 {
			break
		}
		if count == 0 {
			w.liner.begin(b)
		}
		w.liner.seek(at)
		if count++; count <= m.perNote {
			w.lines = append(w.lines, hit{w.liner.line, w.liner.at, at, at + length})
		}
		from = w.liner.next()
	}
	if count == 0 {
		return n
	}
	name := []byte(strings.TrimSuffix(path.Base(p), path.Ext(p)))
	w.finding.begin(m.find, name)
	at, _ := m.next(&w.finding, name, 0)
	n.lines, n.more, n.score = w.lines, count > m.perNote, score(count, len(b), at >= 0)
	return n
}

// next is the first match at or after from that has the borders it needs.
func (m *textMatcher) next(f *finding, b []byte, from int) (at, length int) {
	for {
		at, length = f.next(from)
		if at < 0 || !m.word || wordAt(b, at, length) {
			return at, length
		}
		from = at + 1
	}
}

// score ranks a note by how many lines have the text for its length, as BM25
// does for one term, with a bonus for a name that has it too. It depends on
// nothing but the note, so that paging by it stays right while other notes
// change, and folders that a caller may not see do not show in it.
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
	return max(math.Round(s*1000)/1000, 0.001)
}
