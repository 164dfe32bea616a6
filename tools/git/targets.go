package git

import (
	"context"
	"fmt"
	"strings"

	"vault-mcp/hitl"
	"vault-mcp/internal/git"
	"vault-mcp/tools"
)

// staged is what a commit would be about.
type staged struct {
	head    git.Head
	index   *git.Index
	changes []git.Change
}

func readStaged(ctx context.Context, r *git.Repo) (s staged, err error) {
	if s.head, err = r.Head(); err != nil {
		return s, err
	}
	if s.index, err = r.Index(); err != nil {
		return s, err
	}
	s.changes, err = r.Staged(ctx, s.head, s.index)
	return s, err
}

// targets bind a confirmation to HEAD, to what is staged, by name, and to all
// entries of the index together.
func (s staged) targets(e eyes) []hitl.Target {
	items := []hitl.Target{{Name: "HEAD", Word: true, State: fmt.Appendf(nil, "%s\x00%s", s.head.Ref, s.head.Commit)}}
	for _, c := range s.changes {
		name, _ := e.path(c.Path) // "" outside of the vault, where a caller has no names
		items = append(items, hitl.Target{Name: name, State: fmt.Appendf(nil, "%s\x00%c\x00%o\x00%s", c.Path, c.Status, c.NewMode, c.New)})
	}
	sum := s.index.Sum()
	return append(items, hitl.Target{Name: "the staging area", Word: true, State: sum[:]})
}

// beyond are the changes that the caller may not know of: those outside of the
// vault or in its dot folders, and those that the rules hide.
func (s staged) beyond(e eyes) (outside, hidden []git.Change) {
	for _, c := range s.changes {
		path, in := e.path(c.Path)
		switch {
		case !in:
			outside = append(outside, c)
		case !e.view.Knows(path):
			hidden = append(hidden, c)
		}
	}
	return outside, hidden
}

// branch names where a commit goes.
func branch(h git.Head) string {
	if h.Ref == "" {
		return "a detached HEAD"
	}
	return strings.TrimPrefix(h.Ref, "refs/heads/")
}

// listed are changes as a person reads them, one in a line.
func listed(changes []git.Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%c %s\n", c.Status, c.Path)
	}
	return b.String()
}

// summaryOf says in one sentence what would be committed.
func summaryOf(s staged, message string) string {
	subject, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return fmt.Sprintf("Commit %s to %s: %s", tools.Many(len(s.changes), "staged file", "staged files"), branch(s.head), tools.Cut(subject, 200))
}
