package vaults

import (
	"context"
	"fmt"
	"time"

	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
	"vault-mcp/internal/auth"
	"vault-mcp/tools"
)

type statusIn struct{ tools.VaultArg }

type skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

type statusOut struct {
	Index    string    `json:"index" jsonschema:"ready, loading, building (queries read the files meanwhile), degraded or stopped"`
	Reason   string    `json:"reason,omitempty"`
	Done     int       `json:"done" jsonschema:"notes that are in the index, of total"`
	Total    int       `json:"total"`
	Counted  bool      `json:"counted" jsonschema:"false if another process builds and the counts are not known here"`
	Indexer  bool      `json:"indexer" jsonschema:"this process compares and watches the files"`
	Watching bool      `json:"watching" jsonschema:"the system reports changes; else all files are compared now and then"`
	Warning  string    `json:"warning,omitempty"`
	Compared *string   `json:"compared_at" jsonschema:"when all files were last compared with the index"`
	Skipped  []skipped `json:"skipped" jsonschema:"what could not be read, with the reason"`
	More     int       `json:"skipped_more,omitempty" jsonschema:"how many more were skipped"`
}

// maxSkipped bounds what a status names.
const maxSkipped = 50

func indexStatus() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "get_index_status",
		Title: "Index status",
		Doc:   "Tells whether the vault's index is ready, how far it is, and which files could not be read.",
		Scope: auth.None,
	}, func(_ context.Context, c *tools.Call, _ statusIn) (statusOut, error) {
		return status(c.View), nil
	})
}

func status(w *acl.View) statusOut {
	out := statusOut{Index: string(index.Stopped), Skipped: []skipped{}}
	ix := w.Index()
	if ix == nil {
		out.Reason = "there is no place for an index; queries read the files"
		return out
	}
	s := ix.Status(w.Sees)
	out.Index, out.Reason, out.Warning = string(s.Phase), s.Reason, s.Warning
	out.Done, out.Total, out.Counted = s.Done, s.Total, s.Counted
	out.Indexer, out.Watching = s.Indexer, s.Watching
	if !s.Compared.IsZero() {
		at := tools.Clock(s.Compared)
		out.Compared = &at
	}
	for _, f := range s.Skipped[:min(len(s.Skipped), maxSkipped)] {
		out.Skipped = append(out.Skipped, skipped{f.Path, f.Reason})
	}
	out.More = max(0, len(s.Skipped)-maxSkipped)
	return out
}

type reindexIn struct {
	tools.VaultArg
	Folder  tools.Folder `json:"folder,omitempty" jsonschema:"only this folder; the whole vault if left out"`
	Rebuild bool         `json:"rebuild,omitempty" jsonschema:"throw the index away and build it anew"`
}

func indexVault() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "index_vault",
		Title: "Index a vault",
		Doc:   "Compares a vault's files with its index now; it is kept fresh by itself, so this is for doubts only.",
		Scope: auth.Admin,
	}, func(ctx context.Context, c *tools.Call, in reindexIn) (statusOut, error) {
		folder, err := in.Folder.Path()
		if err != nil {
			return statusOut{}, err
		}
		ix := c.View.Index()
		if ix == nil {
			return status(c.View), nil
		}
		awaitIndex(ctx, ix)
		if in.Rebuild {
			err = ix.Rebuild(ctx, nil)
		} else {
			err = ix.Changed(ctx, []string{folder.String()})
		}
		if err != nil {
			return statusOut{}, fmt.Errorf("index the vault: %w", err)
		}
		return status(c.View), nil
	})
}

// awaitIndex waits until an index that was begun is complete, or cannot be, or
// the call ends.
func awaitIndex(ctx context.Context, ix *index.Index) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if p := ix.Status(nil).Phase; p != index.Loading && p != index.Building {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

type reloadIn struct{ tools.VaultArg }

type reloadOut struct {
	Settings settingsOut `json:"settings"`
	Warnings []string    `json:"warnings"`
	Index    string      `json:"index"`
	Reloaded string      `json:"reloaded_at"`
}

func reloadVault() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  "reload_vault",
		Title: "Reload a vault",
		Doc:   "Reads the vault's Obsidian settings again and compares all files with the index.",
		Scope: auth.Admin,
	}, func(ctx context.Context, c *tools.Call, _ reloadIn) (reloadOut, error) {
		out := reloadOut{Settings: settingsOf(c.View), Warnings: append([]string{}, c.View.Settings().Problems...)}
		if ix := c.View.Index(); ix != nil {
			awaitIndex(ctx, ix)
			if err := ix.Changed(ctx, []string{""}); err != nil {
				return out, fmt.Errorf("compare the files: %w", err)
			}
		}
		out.Index, out.Reloaded = status(c.View).Index, tools.Clock(time.Now())
		return out, nil
	})
}
