package links

import (
	"context"
	"strings"

	"golang.org/x/text/unicode/norm"

	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type orphansIn struct {
	tools.VaultArg
	Folder     tools.Folder `json:"folder,omitempty" jsonschema:"only notes below it"`
	NoOutgoing bool         `json:"require_no_outgoing,omitempty" jsonschema:"only notes that link to no note either"`
	Limit      int          `json:"limit,omitempty" limits:"min=1,max=5000,default=200"`
	tools.PageArg
}

type orphansOut struct {
	Total      int             `json:"total"`
	Orphans    []string        `json:"orphans"`
	NextCursor *string         `json:"next_cursor"`
	Excluded   int             `json:"excluded,omitempty" jsonschema:"notes left out because Obsidian's settings exclude them"`
	Warnings   []tools.Warning `json:"warnings,omitempty"`
}

func findOrphans() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "find_orphans",
		Title:  "Find orphans",
		Doc:    "Lists the notes that no other note or canvas links to.",
		Scope:  auth.Read,
		Narrow: "a lower limit or one folder",
	}, func(ctx context.Context, c *tools.Call, in orphansIn) (orphansOut, error) {
		out := orphansOut{Orphans: []string{}}
		folder, err := in.Folder.Path()
		if err != nil {
			return out, err
		}
		var after string
		paged, err := c.Page(in.Cursor, &after)
		if err != nil {
			return out, err
		}
		s, err := look(ctx, c, paged)
		if err != nil {
			return out, err
		}
		var paths []string
		for _, i := range s.orphans() {
			p := s.graph.paths[i]
			if isBelow(p, folder.String()) && !(in.NoOutgoing && len(s.graph.out.of(i)) > 0) {
				paths = append(paths, p)
			}
		}
		out.Total = len(paths)
		out.Excluded, out.Warnings = s.excluded, s.warnings.List()
		rest := behind(paths, paged, func(p string) int { return strings.Compare(p, after) })
		page, more, err := tools.Page(c, rest, in.Limit, out.Warnings)
		if err != nil {
			return out, err
		}
		out.Orphans = append(out.Orphans, page...)
		if more {
			out.NextCursor, err = c.NextCursor(page[len(page)-1])
		}
		return out, err
	})
}

func isBelow(path, folder string) bool { return folder == "" || strings.HasPrefix(path, folder+"/") }

// orphans are the notes that nothing else links to.
func (s *survey) orphans() []int32 {
	var orphans []int32
	for i, p := range s.graph.paths {
		if len(s.graph.in.of(int32(i))) == 0 && !s.shown[norm.NFC.String(p)] {
			orphans = append(orphans, int32(i))
		}
	}
	return orphans
}
