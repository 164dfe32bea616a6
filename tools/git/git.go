// Package git holds the tools for the repository that holds a vault. What the
// folder rules hide from a caller has no history for it, and what lies outside of
// the vault is counted and not named; the person who approves a commit sees all
// of it.
package git

import (
	"strings"

	"vault-mcp/internal/acl"
	"vault-mcp/internal/git"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// Tools are the domain's tools in the order of the docs.
func Tools(s tools.Repos) tools.Domain {
	return tools.Domain{Name: "git", Tools: []tools.Tool{
		status(s), diff(s), log(s), show(s), stage(s), unstage(s), commit(s), restore(s),
	}}
}

// eyes are what one caller may see of a repository.
type eyes struct {
	*git.Repo
	view *acl.View
}

// path is the vault's path of one in the repository; ok is false for what is
// outside the vault, or in a dot folder of it.
func (e eyes) path(p string) (path string, ok bool) {
	path, ok = strings.CutPrefix(p, e.Prefix)
	if clean, err := vault.Clean(path); !ok || err != nil || clean == "" {
		return "", false
	}
	return path, true
}

// knows is path for what the caller may know of.
func (e eyes) knows(p string) (path string, ok bool) {
	if path, ok = e.path(p); ok {
		ok = e.view.Knows(path)
	}
	return path, ok
}

// sees is path for what the caller may read.
func (e eyes) sees(p string) (path string, ok bool) {
	if path, ok = e.path(p); ok {
		ok = e.view.Sees(path)
	}
	return path, ok
}
