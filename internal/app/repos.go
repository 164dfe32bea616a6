package app

import (
	"context"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/git"
	"vault-mcp/internal/run"
	"vault-mcp/tools"
)

// repos finds the repositories that hold the vaults. Each call looks anew: one may
// be made or removed at any time.
func (a *App) repos(programs *run.Programs) tools.Repos {
	o := git.Options{Programs: programs, Hooks: a.cfg.Git.Hooks, Env: a.opts.Env}
	return func(_ context.Context, view *acl.View) (*git.Repo, error) {
		return git.Open(a.vaults[a.writers[view.ID].at].Dir(), o)
	}
}
