package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vault-mcp/internal/run"
)

// Committed is a commit that was made.
type Committed struct {
	// Ref is the branch, or "" if HEAD is detached.
	Ref string
	// Parent is "" for the first commit of a branch.
	ID, Tree, Parent ID
	// Subject is the first line of its message.
	Subject string
}

// OtherCommitError says that there is a new commit, but not the one that was
// meant: a hook has changed what is in it, or somebody was faster.
type OtherCommitError struct{ Commit ID }

func (e *OtherCommitError) Error() string {
	return fmt.Sprintf("the branch is at the commit %s, which is not the one that was approved", e.Commit)
}

// HookError says that git commit did not end well and made no commit, mostly
// as a hook refused.
type HookError struct {
	// Output is how the messages of git and of the hooks begin.
	Output string
	cause  error
}

func (e *HookError) Error() string { return "a hook or git commit itself refused: " + e.Output }
func (e *HookError) Unwrap() error { return e.cause }

// noID is how git writes that a branch has no commit.
const noID = ID("0000000000000000000000000000000000000000")

// Commit commits what is staged, and gives the index free whatever happens.
// Before the branch moves, intend gets the tree, the parent ("" for none) and
// the commit's id; an error of it ends the commit with nothing done, and is
// returned. With hooks the id is not known before and is "". Files that are only
// intended to be added stay out, as in git commit.
//
// Where the state does not allow a commit, or nothing is staged, the error is a
// *RefusedError; without the git program also where hooks are to run or commits are
// signed. *HookError also means that nothing was committed.
// *OtherCommitError does not.
func (h *Held) Commit(ctx context.Context, message string, intend func(tree, parent, commit ID) error) (Committed, error) {
	defer h.Release()
	message, err := cleanMessage(message)
	if err != nil {
		return Committed{}, err
	}
	var c Committed
	c.Subject, _, _ = strings.Cut(message, "\n")
	if h.r.hasProgram() {
		err = h.commitByProgram(ctx, &c, message, intend)
	} else {
		err = h.commitAlone(ctx, &c, message, intend)
	}
	if err != nil {
		return Committed{}, err
	}
	// Left by a squashed merge and the like, for this commit; git commit removes
	// them too.
	for _, name := range []string{"SQUASH_MSG", "MERGE_MSG"} {
		_ = os.Remove(filepath.Join(h.r.Dir, name))
	}
	return c, nil
}

// ready is the state that a commit begins with, if it allows one.
func (h *Held) ready() (ix *Index, head Head, err error) {
	if h.lock == nil {
		return nil, head, errors.New("the index is not held")
	}
	if ix, err = h.r.Index(); err != nil {
		return nil, head, err
	}
	if err = h.r.settled(ix); err != nil {
		return nil, head, err
	}
	head, err = h.r.Head()
	return ix, head, err
}

// commitByProgram has the git program do it.
func (h *Held) commitByProgram(ctx context.Context, c *Committed, message string, intend func(tree, parent, commit ID) error) error {
	if err := h.plan(ctx, c); err != nil {
		return err
	}
	if h.r.o.Hooks {
		return h.commitWithHooks(ctx, c, message, intend)
	}
	return h.commitPlain(ctx, c, message, intend)
}

// plan finds out what a commit would be, and makes its tree.
func (h *Held) plan(ctx context.Context, c *Committed) error {
	r := h.r
	_, head, err := h.ready()
	if err != nil {
		return err
	}
	if err := h.copyIndex(); err != nil {
		return err
	}
	if err := h.quiet(ctx); err != nil {
		return err
	}
	tree, err := r.line(ctx, call{args: []string{"write-tree"}, index: h.index(), off: h.off})
	if err != nil {
		return err
	}
	r.step("tree")
	before := string(EmptyTree)
	if head.Commit != "" {
		if before, err = r.line(ctx, call{args: []string{"rev-parse", "--verify", "--end-of-options", string(head.Commit) + "^{tree}"}}); err != nil {
			return err
		}
	}
	if tree == before {
		return refused("nothing", "Nothing is staged.")
	}
	c.Ref, c.Tree, c.Parent = head.Ref, ID(tree), head.Commit
	return nil
}

// commitPlain makes the commit and moves the branch, with no hook and no
// moment at which the index is free.
func (h *Held) commitPlain(ctx context.Context, c *Committed, message string, intend func(tree, parent, commit ID) error) error {
	r := h.r
	args := []string{"commit-tree"}
	signed, err := r.line(ctx, call{args: []string{"config", "--type=bool", "--get", "commit.gpgSign"}})
	if err != nil && !exits(err, 1) { // 1: it is not set
		return err
	}
	if signed == "true" {
		args = append(args, "-S")
	}
	if c.Parent != "" {
		args = append(args, "-p", string(c.Parent))
	}
	id, err := r.line(ctx, call{args: append(args, string(c.Tree)), stdin: []byte(message), off: h.off, timeout: slow})
	if err != nil {
		if e, ok := errors.AsType[*run.ExitError](err); ok && signed == "true" && !isRefused(err) {
			return fmt.Errorf("%w (%w)", refused("signing", "%s", signing), e)
		}
		return err
	}
	c.ID = ID(id)
	r.step("commit")
	if err := intend(c.Tree, c.Parent, c.ID); err != nil {
		return err
	}
	r.step("intended")
	err = h.move(ctx, *c)
	r.step("moved")
	return err
}

func isRefused(err error) bool {
	_, ok := errors.AsType[*RefusedError](err)
	return ok
}

// move sets the branch to the commit if it is still where it was.
func (h *Held) move(ctx context.Context, c Committed) error {
	r, kind, old := h.r, "commit", c.Parent
	if old == "" {
		kind, old = "commit (initial)", noID
	}
	args := []string{"update-ref", "-m", kind + ": " + c.Subject}
	// The very branch, and not HEAD: that may name another one by now.
	if c.Ref == "" {
		args = append(args, "--no-deref", "HEAD")
	} else {
		args = append(args, c.Ref)
	}
	if now, err := r.Head(); err != nil || now != (Head{c.Ref, c.Parent}) {
		return errors.Join(err, refused("moved", "HEAD has moved meanwhile."))
	}
	// Once begun it is not broken off: git would leave the branch locked.
	_, err := r.git(context.WithoutCancel(ctx), call{args: append(args, string(c.ID), string(old)), off: h.off})
	if err == nil || isRefused(err) {
		return err
	}
	if now, headErr := r.Head(); headErr == nil && now.Commit == c.ID {
		return nil // it moved, whatever went wrong after
	}
	return err
}

// commitWithHooks has git commit do it, on the copy of the index: the index
// itself stays held.
func (h *Held) commitWithHooks(ctx context.Context, c *Committed, message string, intend func(tree, parent, commit ID) error) error {
	r := h.r
	if err := h.hooksAllowed(ctx); err != nil {
		return err
	}
	// A file, as of an input that is cut off half the message would be committed.
	file := filepath.Join(h.dir, "message")
	if err := os.WriteFile(file, []byte(message), 0o600); err != nil {
		return fmt.Errorf("write the message: %w", err)
	}
	before, err := r.Index()
	if err != nil {
		return err
	}
	if err := intend(c.Tree, c.Parent, ""); err != nil {
		return err
	}
	r.step("intended")
	_, failed := r.git(context.WithoutCancel(ctx), call{
		args: []string{"commit", "--quiet", "--no-status", "--cleanup=whitespace", "--file=" + file}, index: h.index(), hooks: true, timeout: slow,
	})
	r.step("moved")
	now, err := r.Head()
	if err != nil {
		return err
	}
	if now.Commit == c.Parent {
		// What a hook says may read like a message of git, but for these two.
		known, _ := errors.AsType[*RefusedError](failed)
		if e, ok := errors.AsType[*run.ExitError](failed); ok && (known == nil || known.Kind != "identity" && known.Kind != "signing") {
			return &HookError{strings.TrimSpace(e.Stderr), e}
		}
		if failed == nil {
			failed = errors.New("git commit made no commit")
		}
		return failed
	}
	// A hook may have staged more; the commit has it, so the index gets it.
	if after, err := h.edited(); err == nil && len(differing(before, after)) > 0 {
		if err := h.install(); err != nil {
			return err
		}
	}
	got, err := r.Commit(now.Commit)
	if err != nil {
		return err
	}
	same := got.Tree == c.Tree && now.Ref == c.Ref
	if c.Parent == "" {
		same = same && len(got.Parents) == 0
	} else {
		same = same && len(got.Parents) == 1 && got.Parents[0] == c.Parent
	}
	if !same {
		return &OtherCommitError{now.Commit}
	}
	c.ID = now.Commit
	return nil
}

// hooksAllowed refuses hooks that somebody could have written through a vault.
func (h *Held) hooksAllowed(ctx context.Context) error {
	if len(h.off) > 0 {
		return refused("hooks", "git's config defines the hook %q as a command, of which cannot be told what it starts: remove it, or set git.hooks to false.", h.off[0])
	}
	dir, err := h.r.line(ctx, call{args: []string{"rev-parse", "--git-path", "hooks"}, hooks: true})
	if err != nil {
		return err
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(h.r.Work, dir)
	}
	names, err := os.ReadDir(dir)
	if err != nil && !absent(err) {
		return refused("hooks", "The folder of the hooks, %s, cannot be read: %v.", machinePath(dir), err)
	}
	for _, at := range append([]string{""}, entryNames(names)...) {
		real, err := filepath.EvalSymlinks(filepath.Join(dir, at))
		if err != nil {
			continue // nothing that could be started
		}
		if h.r.o.Programs.InVault(real) && !within(real, h.r.Dir) && !within(real, h.r.Common) {
			return refused("hooks", "The hooks in %s are not run, as they are in a vault: move them out and set core.hooksPath, or set git.hooks to false.", machinePath(real))
		}
	}
	return nil
}

func entryNames(entries []os.DirEntry) []string {
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// within reports whether a real path is in a real folder.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// cleanMessage is a message as git commit --cleanup=whitespace leaves it: no
// blanks at the ends of lines, no empty lines at its ends and no two in a row.
func cleanMessage(message string) (string, error) {
	if strings.ContainsRune(message, 0) {
		return "", refused("message", "The message holds a NUL byte.")
	}
	var b strings.Builder
	empty := false
	for line := range strings.SplitSeq(message, "\n") {
		if line = strings.TrimRight(line, " \t\r"); line == "" {
			empty = true
			continue
		}
		if empty && b.Len() > 0 {
			b.WriteByte('\n')
		}
		empty = false
		b.WriteString(line + "\n")
	}
	if b.Len() == 0 {
		return "", refused("message", "The message is empty.")
	}
	return b.String(), nil
}
