package metadata

import (
	"context"
	"slices"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/tools"
)

// longest is how many bytes of a name or value a row shows, so that a single
// row fits any answer.
const longest = 300

// matches are the notes that fit a question, of which a row says something.
type matches[R any] struct {
	Total      int             `json:"total" jsonschema:"notes on all pages together"`
	Truncated  bool            `json:"truncated"`
	Matches    []R             `json:"matches" jsonschema:"by path"`
	NextCursor *string         `json:"next_cursor"`
	Excluded   int             `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings   []tools.Warning `json:"warnings,omitempty" jsonschema:"notes with problems, on the first page"`
}

// pathPlace is where a list by path goes on: behind this note.
type pathPlace struct {
	Path string `json:"p"`
}

// many is what questions about many notes share: where they are, and which page
// is asked for.
type many struct {
	call   *tools.Call
	folder *tools.Folder
	cursor string
	limit  int
}

// find lists the notes below the folder that fit, with a row of each that is on
// the page. begin is called before.
func find[R any](ctx context.Context, in many, begin func(*index.Model), fits func(index.Note) bool, row func(index.Note) R) (matches[R], error) {
	out := matches[R]{Matches: []R{}}
	var after pathPlace
	paged, err := in.call.Page(in.cursor, &after)
	if err != nil {
		return out, err
	}
	s, err := in.call.NewSurvey(in.folder, paged)
	if err != nil {
		return out, err
	}
	var rows []R
	var paths []string
	err = s.Run(ctx, begin, func(n index.Note) {
		if !fits(n) {
			return
		}
		out.Total++
		if n.Path > after.Path && len(rows) <= in.limit {
			rows, paths = append(rows, row(n)), append(paths, n.Path)
		}
	})
	if err != nil {
		return out, err
	}
	out.Excluded, out.Warnings = s.Excluded, s.Warnings.List()
	page, more, err := tools.Page(in.call, rows, in.limit, out.Warnings)
	if err != nil {
		return out, err
	}
	out.Matches, out.Truncated = append(out.Matches, page...), more
	if more {
		out.NextCursor, err = in.call.NextCursor(pathPlace{paths[len(page)-1]})
	}
	return out, err
}

// census is what a list of names says beside them.
type census struct {
	NotesScanned int             `json:"notes_scanned"`
	Total        int             `json:"total" jsonschema:"on all pages together"`
	NextCursor   *string         `json:"next_cursor"`
	Excluded     int             `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings     []tools.Warning `json:"warnings,omitempty" jsonschema:"notes with problems, on the first page"`
}

// countPlace is where a list by count or name goes on.
type countPlace struct {
	Count int    `json:"n,omitempty"`
	Key   string `json:"k"`
}

// compare orders by count, most first, then by name; or by name alone.
func (o order) compare(a, b countPlace) int {
	byName := strings.Compare(a.Key, b.Key)
	if o == "name" || a.Count == b.Count {
		return byName
	}
	return b.Count - a.Count
}

// order is how names are sorted.
type order string

// Values lists the orders for the schema.
func (order) Values() []string { return []string{byCount, "name"} }

const byCount = "count"

// counter counts something of notes, one after the other, and lists what it
// counted.
type counter[N any] interface {
	add(index.Note)
	all() []N
}

// count counts names below the folder and lists those of one page.
func count[N interface{ place() countPlace }, R any](ctx context.Context, in many, o order, names counter[N], row func(N) R) (out census, rows []R, err error) {
	var after countPlace
	paged, err := in.call.Page(in.cursor, &after)
	if err != nil {
		return out, nil, err
	}
	s, err := in.call.NewSurvey(in.folder, paged)
	if err != nil {
		return out, nil, err
	}
	if err := s.Run(ctx, nil, names.add); err != nil {
		return out, nil, err
	}
	all := names.all()
	slices.SortFunc(all, func(a, b N) int { return o.compare(a.place(), b.place()) })
	out = census{NotesScanned: s.Scanned, Total: len(all), Excluded: s.Excluded, Warnings: s.Warnings.List()}
	if paged {
		from, found := slices.BinarySearchFunc(all, after, func(n N, at countPlace) int { return o.compare(n.place(), at) })
		if found {
			from++
		}
		all = all[from:]
	}
	rows = []R{}
	for _, n := range all[:min(len(all), in.limit+1)] {
		rows = append(rows, row(n))
	}
	rows, more, err := tools.Page(in.call, rows, in.limit, out.Warnings)
	if err == nil && more {
		out.NextCursor, err = in.call.NextCursor(all[len(rows)-1].place())
	}
	return out, rows, err
}
