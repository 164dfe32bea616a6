package search

import (
	"context"
	"math"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/tools/search/match"
)

type textIn struct {
	tools.VaultArg
	Query     string          `json:"query" jsonschema:"literal text" limits:"minLength=1,maxLength=1000"`
	CaseSens  bool            `json:"case_sensitive,omitempty"`
	WholeWord bool            `json:"whole_word,omitempty"`
	Root      tools.Folder    `json:"root,omitempty" jsonschema:"only below this folder"`
	PerNote   int             `json:"max_matches_per_file,omitempty" limits:"min=1,max=1000,default=5"`
	Verbosity tools.Verbosity `json:"verbosity,omitempty" jsonschema:"terse leaves the snippets out" limits:"default=full"`
	Limit     int             `json:"limit,omitempty" limits:"min=1,max=1000,default=50"`
	tools.PageArg
}

func searchText() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "search_text",
		Title:  "Search text",
		Doc:    "Finds notes that contain a text, best first, with the matching lines. Ignores case unless told otherwise.",
		Scope:  auth.Read,
		Narrow: "a lower limit, verbosity terse, or a root folder",
	}, func(ctx context.Context, c *tools.Call, in textIn) (out, error) {
		s, err := begin(c, &in.Root, in.Cursor, in.Limit, shape{snippet: in.Verbosity != tools.Terse})
		if err != nil {
			return out{}, err
		}
		m := newTextMatcher(in.Query, !in.CaseSens, in.WholeWord, in.PerNote)
		q := lookup{session: s, mode: "text", match: m, literals: []string{in.Query}, text: m}
		return q.run(ctx)
	})
}

type textMatcher struct {
	find      *match.Text
	word      bool
	perNote   int
	countable bool // as match.Text says
}

func newTextMatcher(text string, fold, word bool, perNote int) *textMatcher {
	t := match.NewText(text, fold, word)
	return &textMatcher{find: t, word: word, perNote: perNote, countable: t.Countable()}
}

// match lists the matching lines of a note, one hit for each, and counts all
// matches.
func (m *textMatcher) match(_ context.Context, w *match.Workspace, p string, b []byte, size int) noteHits {
	n := noteHits{path: p, Found: m.find.Find(w, b, m.perNote)}
	if n.Total > 0 {
		n.score = m.score(w, p, n.Total, size)
	}
	return n
}

// score ranks a note that has the text so often.
func (m *textMatcher) score(w *match.Workspace, p string, count, size int) float64 {
	return score(count, size, m.find.In(w, nameOf(p)))
}

// score ranks a note by how often it has the text for its length, as BM25
// does for one term, with a bonus for a name that has it too. It depends on
// nothing but the note, so that paging by it stays right while other notes
// change, and folders that a caller may not see do not show in it; and on
// nothing that an index does not know.
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
