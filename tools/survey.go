package tools

import (
	"context"

	"vault-mcp/cache/index"
	"vault-mcp/vault"
)

// Survey goes over the notes that an answer about many is about: those below a
// folder that the caller may read, without the files that Obsidian's settings
// exclude.
type Survey struct {
	// Warnings has the notes that are not known whole.
	Warnings *Warnings
	// Scanned and Excluded count the notes that were looked at, and those that
	// were not because of Obsidian's settings.
	Scanned, Excluded int

	call   *Call
	folder string
}

// NewSurvey is a survey below a folder, for a page that is the first unless
// paged is set.
func (c *Call) NewSurvey(folder *Folder, paged bool) (*Survey, error) {
	p, err := folder.Path()
	return &Survey{Warnings: c.NewWarnings(paged), call: c, folder: p.String()}, err
}

// Run calls begin once and then each with every note whose text could be read,
// in the order of their paths. A note whose properties are broken is one of
// them: it has none.
func (s *Survey) Run(ctx context.Context, begin func(*index.Model), each func(index.Note)) error {
	view := s.call.View
	excluded, below := view.Settings().Excluded, InFolder(s.folder)
	return view.Model(ctx, func(m *index.Model) error {
		s.Warnings.Model(m, func(p string) bool { return below(p) && vault.Kind(p) != vault.Canvas && !excluded(p) })
		if begin != nil {
			begin(m)
		}
		for n := range m.NotesBelow(s.folder) {
			switch {
			case !view.Sees(n.Path):
				continue
			case excluded(n.Path):
				s.Excluded++
				continue
			case ctx.Err() != nil:
				return ctx.Err()
			}
			s.Scanned++
			if n.Problem == "" {
				each(n)
			}
		}
		return nil
	})
}
