package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// warning is a note that could not be used.
type warning struct {
	Path   string `json:"path,omitempty"`
	Reason string `json:"reason"`
}

// maxWarnings bounds the notes that are named because of a problem.
const maxWarnings = 20

// survey goes over the notes whose tasks are asked for.
type survey struct {
	call     *tools.Call
	root     string
	named    bool
	paths    []vault.Path // if named, sorted
	excluded int
	warnings []warning
}

func newSurvey(c *tools.Call, in listIn) (*survey, error) {
	root, err := in.Root.Path()
	if err != nil {
		return nil, err
	}
	s := &survey{call: c, root: root.String(), named: len(in.Paths) > 0}
	for i := range in.Paths {
		p, err := in.Paths[i].Path()
		if err != nil {
			s.warn(in.Paths[i].Arg, reason(err))
			continue
		}
		s.paths = append(s.paths, p)
	}
	slices.SortFunc(s.paths, comparePaths)
	s.paths = slices.CompactFunc(s.paths, func(a, b vault.Path) bool { return comparePaths(a, b) == 0 })
	return s, nil
}

func comparePaths(a, b vault.Path) int { return strings.Compare(a.String(), b.String()) }

// run calls each with the notes in the order of their paths.
func (s *survey) run(ctx context.Context, each func(path string, b facts.Blob)) error {
	if s.named {
		return s.runNamed(ctx, each)
	}
	view := s.call.View
	excluded := view.Settings().Excluded
	return view.Model(ctx, func(m *index.Model) error {
		for n := range m.NotesBelow(s.root) {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case !view.Sees(n.Path):
			case excluded(n.Path):
				s.excluded++
			case n.Problem != "":
				s.warn(n.Path, n.Problem)
			default:
				each(n.Path, n.Facts)
			}
		}
		return nil
	})
}

// maxNote is the largest note that is read, in bytes.
const maxNote = 64 << 20

// runNamed reads the notes that the call names; what excludes a note elsewhere
// does not count for them.
func (s *survey) runNamed(ctx context.Context, each func(path string, b facts.Blob)) error {
	for _, p := range s.paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		path := p.String()
		if s.root != "" && !strings.HasPrefix(path, s.root+"/") {
			continue
		}
		if vault.Kind(path) != vault.Note {
			s.warn(path, "it is no note")
			continue
		}
		content, err := s.call.View.Read(p, maxNote)
		switch {
		case err != nil:
			s.warn(path, reason(err))
		case !vault.Text(content.Bytes):
			s.warn(path, "its content is not UTF-8 text")
		default:
			each(path, facts.Blob(facts.Of(content.Bytes).Append(nil)))
		}
	}
	return nil
}

// reason says why a note cannot be read.
func reason(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

func (s *survey) warn(path, reason string) {
	s.warnings = append(s.warnings, warning{tools.Cut(path, longest), tools.Cut(reason, longest)})
}

// problems are the notes that could not be used. They come with the first page
// only.
func (s *survey) problems(paged bool) []warning {
	if paged {
		return nil
	}
	slices.SortStableFunc(s.warnings, func(a, b warning) int { return cmp.Compare(a.Path, b.Path) })
	if more := len(s.warnings) - maxWarnings; more > 0 {
		return append(s.warnings[:maxWarnings], warning{Reason: fmt.Sprintf("%d more could not be used", more)})
	}
	return s.warnings
}

// fit is how many rows, at least one if there are any, go into an answer: a
// page that would pass the budget ends early.
func fit(c *tools.Call, rows []row, warnings []warning) (int, error) {
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
			return 0, err
		}
	}
	for i := range rows {
		if err := spend(rows[i]); err != nil {
			return 0, err
		}
		if left < 0 && i > 0 {
			return i, nil
		}
	}
	return len(rows), nil
}
