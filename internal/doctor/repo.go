package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vault-mcp/cache"
	"vault-mcp/internal/config"
	"vault-mcp/internal/git"
)

// lockAge is how old a lock of git is that nobody holds any more.
const lockAge = 10 * time.Minute

// repository looks at the repository that holds a vault.
func (s subject) repository(in setup, v config.Vault) {
	r, err := git.Open(v.Real, git.Options{Programs: in.programs, Hooks: in.cfg.Git.Hooks, Env: s.e.o.Env})
	if errors.Is(err, git.ErrNone) {
		s.off("git.repository", "no git repository holds the vault", "nothing; git init makes one, if you want history of all that changes")
		return
	}
	if refused, ok := errors.AsType[*git.RefusedError](err); ok {
		s.warn("git.refused", oneLine(refused.Reason), "the git tools refuse it until then; all others work")
		return
	}
	if err != nil {
		s.warn("git.refused", oneLine(err.Error()), "the git tools refuse it until then; all others work")
		return
	}
	s.ok("git.repository", "%s", r.Work)
	if busy := r.Busy(); busy != "" {
		s.warn("git.busy", "a "+busy+" is not finished, so nothing can be committed", "finish it, or end it with git "+busy+" --abort")
	}
	for _, name := range []string{"index.lock", "HEAD.lock", "config.lock"} {
		path := filepath.Join(r.Dir, name)
		if info, err := os.Lstat(path); err == nil && s.e.o.Now.Sub(info.ModTime()) > lockAge {
			s.warn("git.locked", "a git program left "+path+" "+age(s.e.o.Now, info.ModTime())+" ago, so nothing can be staged or committed", "if no git runs: rm "+cache.ShellQuote(path))
		}
	}
	hooks := found(filepath.Join(r.Common, "hooks"))
	switch {
	case in.cfg.Git.Hooks:
		s.ok("git.hooks", "git.hooks is on: hooks run at a commit")
	case len(hooks) > 0:
		s.off("git.hooks", "hooks that do not run at a commit: "+strings.Join(hooks, ", "), "git.hooks: true in a config file, if they shall")
	}
}

// found are the hooks in a folder that git would run.
func found(dir string) (names []string) {
	for _, name := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || os.PathSeparator == '\\') {
			names = append(names, name)
		}
	}
	return names
}
