package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"vault-mcp/cache"
	"vault-mcp/cache/index"
	"vault-mcp/internal/config"
)

// index checks the index of a vault, and whether its folders can be watched.
func (s subject) index(ctx context.Context, set config.Index, dir string, c *census) {
	got, err := index.Inspect(ctx, dir, maxPaths)
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, fs.ErrNotExist):
		s.off("index.state", "there is no index yet", "nothing: the first call of a client begins it, and searches read the files until it is there; or: vault-mcp index "+cache.ShellQuote(s.vault))
	case err != nil:
		s.warn("index.state", index.Reason(err), "nothing: it is built again by itself; or: vault-mcp index --rebuild "+cache.ShellQuote(s.vault))
	case !got.Complete:
		s.off("index.state", fmt.Sprintf("the index is not complete yet: %d of %d notes", got.Done, got.Total), "nothing while a server runs; else: vault-mcp index "+cache.ShellQuote(s.vault))
	default:
		s.ok("index.state", "the index is complete: %s, compared with the vault %s ago (schema %d)", plural(got.Files, "file"), age(s.e.o.Now, got.Checked), index.Schema)
	}
	if got.Unread > 0 {
		unread := sample{count: got.Unread}
		for _, k := range got.First {
			unread.first = append(unread.first, k.Path+": "+oneLine(k.Reason))
		}
		s.some("index.unread", "file", unread, "not in the index as a whole", "see the reason of each")
	}
	if !set.Watch {
		s.off("index.watch", "index.watch is off: files are compared every minute or so", "index.watch: true in the config")
		return
	}
	s.watching(c)
}
