package tasks

import (
	"context"
	"slices"
	"strings"

	"vault-mcp/cache/index"
	"vault-mcp/cache/index/facts"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// notes goes over the notes whose tasks are asked for, in the order of their
// paths.
func (in *listIn) notes(ctx context.Context, c *tools.Call, s *tools.Survey, each func(path string, b facts.Blob)) error {
	if len(in.Paths) > 0 {
		return in.named(ctx, c, s.Warnings, each)
	}
	return s.Run(ctx, nil, func(n index.Note) { each(n.Path, n.Facts) })
}

// maxNote is the largest note that is read, in bytes.
const maxNote = 64 << 20

// named reads the notes that the call names; what excludes a note elsewhere
// does not count for them.
func (in *listIn) named(ctx context.Context, c *tools.Call, ws *tools.Warnings, each func(path string, b facts.Blob)) error {
	root, err := in.Root.Path()
	if err != nil {
		return err
	}
	var paths []vault.Path
	for i := range in.Paths {
		p, err := in.Paths[i].Path()
		if err != nil {
			ws.Named(in.Paths[i].Arg, fault.Of(err).Message)
			continue
		}
		paths = append(paths, p)
	}
	slices.SortFunc(paths, comparePaths)
	paths = slices.CompactFunc(paths, func(a, b vault.Path) bool { return comparePaths(a, b) == 0 })
	below := tools.InFolder(root.String())
	for _, p := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		path := p.String()
		if !below(path) {
			continue
		}
		if vault.Kind(path) != vault.Note {
			ws.Named(path, "it is no note")
			continue
		}
		content, err := c.View.Read(p, maxNote)
		if err != nil {
			ws.Named(path, vault.Reason(err))
			continue
		}
		if ws.Text(path, content.Bytes); vault.Text(content.Bytes) {
			each(path, facts.Blob(facts.Of(content.Bytes).Append(nil)))
		}
	}
	return nil
}

func comparePaths(a, b vault.Path) int { return strings.Compare(a.String(), b.String()) }
