package tools

import (
	"context"
	"errors"
	"io/fs"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/git"
	"vault-mcp/internal/run"
)

// Repos finds the repository that holds a vault.
type Repos func(context.Context, *acl.View) (*git.Repo, error)

// Of is the repository of a call. Its errors are faults.
func (rs Repos) Of(ctx context.Context, c *Call) (*git.Repo, error) {
	r, err := rs(ctx, c.View)
	return r, RepoFault(err)
}

// maxHookOutput is how much of what a hook says is told, in bytes.
const maxHookOutput = 2000

// RepoFault says for a caller why a repository was not read or not changed.
func RepoFault(err error) error {
	if errors.Is(err, git.ErrNone) {
		return fault.New(fault.GitRefused, "No git repository holds the vault.").With("reason", "none")
	}
	if e, ok := errors.AsType[*git.RefusedError](err); ok {
		if e.Kind == "locked" {
			return fault.New(fault.VaultBusy, "%s", e.Reason)
		}
		return fault.New(fault.GitRefused, "%s", e.Reason).With("reason", e.Kind).Because(err)
	}
	if errors.As(err, new(*run.MissingError)) {
		return fault.New(fault.GitRefused, "There is no git program: install it, or name it under programs in the config.").With("reason", "program").Because(err)
	}
	if e, ok := errors.AsType[*git.HookError](err); ok {
		return fault.New(fault.GitRefused, "A hook of the repository, or git commit itself, refused: %s", Cut(e.Output, maxHookOutput)).With("reason", "hook").Because(err)
	}
	if e, ok := errors.AsType[*git.OtherCommitError](err); ok {
		return fault.New(fault.IndeterminateOutcome, "There is a new commit, but not the one that was approved: a hook has changed it, or somebody was faster. Look at it before anything else.").
			With("commit", string(e.Commit)).Because(err)
	}
	if errors.Is(err, git.ErrTooLarge) {
		return fault.New(fault.Overflow, "The file is too large to be read from the repository.").Because(err)
	}
	if errors.Is(err, run.ErrTimeout) {
		return fault.New(fault.OperationTimeout, "git took too long.").Because(err)
	}
	return err
}

// FileAt is the content that a file of the vault had at a revision, and the
// commit that the revision means. A file that it did not have is not_found.
func (rs Repos) FileAt(ctx context.Context, c *Call, path, revision string, max int64) (content []byte, commit git.Commit, err error) {
	r, err := rs.Of(ctx, c)
	if err != nil {
		return nil, commit, err
	}
	id, err := r.Resolve(revision)
	if err != nil {
		return nil, commit, RepoFault(err)
	}
	if commit, err = r.Commit(id); err != nil {
		return nil, commit, RepoFault(err)
	}
	e, err := r.File(ctx, id, r.Prefix+path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, commit, fault.New(fault.NotFound, "%q was not there at %s.", path, Cut(revision, 100)).With("path", path)
	}
	if err == nil {
		content, err = r.Blob(e.ID, max)
	}
	return content, commit, RepoFault(err)
}
