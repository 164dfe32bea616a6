package metadata

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/tools"
	"vault-mcp/vault/note"
)

// warning is a note that could not be used, or not all of it.
type warning struct {
	Path   string `json:"path,omitempty"`
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
}

// maxWarnings bounds the notes that are named because of a problem.
const maxWarnings = 20

// survey goes over the notes that an answer is about.
type survey struct {
	call   *tools.Call
	folder string
	// scanned and excluded count the notes that were and were not looked at.
	scanned, excluded int

	warnings []warning
	more     int
}

func newSurvey(c *tools.Call, folder tools.Folder) (*survey, error) {
	p, err := folder.Path()
	return &survey{call: c, folder: p.String()}, err
}

// run calls begin once and then each with every note that may be used, in the
// order of their paths. A note whose properties are invalid is one of them.
func (s *survey) run(ctx context.Context, begin func(*index.Model), each func(index.Note)) error {
	view := s.call.View
	excluded := view.Settings().Excluded
	return view.Model(ctx, func(m *index.Model) error {
		begin(m)
		for n := range m.NotesBelow(s.folder) {
			switch {
			case !view.Sees(n.Path):
				continue
			case excluded(n.Path):
				s.excluded++
				continue
			case ctx.Err() != nil:
				return ctx.Err()
			}
			s.scanned++
			if n.Problem != "" {
				s.warn(n.Path, 0, n.Problem)
				continue
			}
			if h := n.Facts.Head(); h.State == note.StateInvalid {
				s.warn(n.Path, h.ProblemLine, "its properties are no valid YAML: "+h.Problem)
			}
			each(n)
		}
		return nil
	})
}

func (s *survey) warn(path string, line int, reason string) {
	if len(s.warnings) == maxWarnings {
		s.more++
		return
	}
	s.warnings = append(s.warnings, warning{path, line, tools.Cut(reason, 300)})
}

// problems are the notes with problems. They come with the first page only.
func (s *survey) problems(paged bool) []warning {
	switch {
	case paged:
		return nil
	case s.more > 0:
		return append(s.warnings, warning{Reason: fmt.Sprintf("%d more notes have such problems", s.more)})
	}
	return s.warnings
}

// cut is the page that an answer has room for, and whether there is more. rows
// go on behind the page; it has at least one row and ends early where it would
// pass the budget.
func cut[T any](c *tools.Call, rows []T, limit int, warnings []warning) (page []T, more bool, err error) {
	left := c.Budget - c.Budget/8 // for the cursor, and what is around
	spend := func(row any) error {
		n, err := c.Cost(row)
		if err != nil {
			return err
		}
		m, err := c.TextCost(row)
		left -= n + m + len(", - \n")
		return err
	}
	for _, w := range warnings {
		if err := spend(w); err != nil {
			return nil, false, err
		}
	}
	for i, row := range rows[:min(len(rows), limit)] {
		if err := spend(row); err != nil {
			return nil, false, err
		}
		if left < 0 && i > 0 {
			return rows[:i], true, nil
		}
	}
	return rows[:min(len(rows), limit)], len(rows) > limit, nil
}

// longest is how many bytes of a name or value a row shows, so that a single
// row fits any answer.
const longest = 300

// sortKey is what a folded name is sorted by: itself, if a cursor can hold it.
func sortKey(name string) string {
	const most = 1000
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
}

// pathPlace is where a list by path goes on: behind this note.
type pathPlace struct {
	Path string `json:"p"`
}

// countPlace is where a list by count or name goes on.
type countPlace struct {
	Count int    `json:"n,omitempty"`
	Key   string `json:"k"`
}
