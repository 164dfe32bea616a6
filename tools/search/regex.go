package search

import (
	"context"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
	"vault-mcp/tools/search/match"
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
		Doc:    "Finds lines of notes that match a regular expression, in the order of paths. Runs in linear time, so look-around and back-references do not exist.",
		Scope:  auth.Read,
		Narrow: "a lower limit, verbosity terse, or a root folder",
	}, func(ctx context.Context, c *tools.Call, in regexIn) (out, error) {
		p, err := match.Compile(in.Pattern, in.Flags)
		if err != nil {
			return out{}, err
		}
		full := in.Verbosity != tools.Terse
		s, err := begin(c, &in.Root, in.Cursor, in.Limit, shape{snippet: full, match: full})
		if err != nil {
			return out{}, err
		}
		q := lookup{session: s, mode: "regex", match: &regexMatcher{p, in.PerNote}, literals: p.Literals()}
		return q.run(ctx)
	})
}

type regexMatcher struct {
	*match.Pattern
	perNote int
}

// match lists the lines in which a match begins, one hit for each.
func (m *regexMatcher) match(ctx context.Context, w *match.Workspace, path string, b []byte, _ int) noteHits {
	return noteHits{path: path, Found: m.Find(ctx, w, b, m.perNote)}
}
