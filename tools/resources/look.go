package resources

import (
	"context"
	"time"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/tools"
)

type lookIn struct {
	tools.VaultArg
	// Path is no tools.File: nobody is asked about it. An approval is good for one
	// call, and a subscription would tell of the file for longer.
	Path string `json:"path" limits:"maxLength=1024"`
}

// Found is a file that can be read.
type Found struct {
	Vault   string    `json:"vault"`
	Path    string    `json:"path"`
	Size    int64     `json:"size"`
	ModTime time.Time `json:"mtime"`
}

// PayloadSize is nothing: what is found stays in the server.
func (Found) PayloadSize() int { return 1 }

func look() tools.Tool {
	return tools.Query(tools.Spec{
		Name:  Look,
		Title: "Look for a resource",
		Doc:   "Behind subscriptions to resources.",
		Scope: auth.Read,
	}, func(ctx context.Context, c *tools.Call, in lookIn) (Found, error) {
		p, err := c.View.Now().FindFile(ctx, in.Path)
		if err != nil {
			return Found{}, err
		}
		if p.IsDir() {
			return Found{}, fault.New(fault.NoteNotFound, "%q is a folder.", p.String())
		}
		return Found{c.View.ID, p.String(), p.Size(), p.ModTime()}, nil
	})
}
