package git

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// understood says what a revision may be.
const understood = "A revision is HEAD, a branch, a tag, a remote branch such as origin/main, or a commit's id (the first 4 digits or more), and after it any of ~N, ^ and ^N."

// maxBack bounds how far ~N goes back.
const maxBack = 10_000

// Resolve finds the commit that a revision names. A *RefusedError of kind revision
// says what is understood, or why there is no such commit.
func (r *Repo) Resolve(rev string) (ID, error) {
	p, err := parseRevision(rev)
	if err != nil {
		return "", err
	}
	o, err := r.objects()
	if err != nil {
		return "", err
	}
	defer o.close()
	at, err := r.named(o, p.base)
	if err != nil {
		return "", err
	}
	c, err := o.peel(at)
	if err != nil {
		return "", err
	}
	for _, s := range p.steps {
		for range s.back {
			if len(c.Parents) < s.parent {
				return "", refused("revision", "The revision %q goes further back than the history does: %s has %d parents.", rev, c.ID, len(c.Parents))
			}
			next, err := wantOID(c.Parents[s.parent-1])
			if err != nil {
				return "", err
			}
			if c, err = o.commit(next); err != nil {
				return "", err
			}
		}
	}
	return c.ID, nil
}

// revision is what a revision says: a name, and steps back from there.
type revision struct {
	base  string
	steps []step
}

// step goes some commits back along a parent, which counts from 1.
type step struct{ parent, back int }

func parseRevision(rev string) (revision, error) {
	at := strings.IndexAny(rev, "~^")
	if at < 0 {
		at = len(rev)
	}
	p, rest := revision{base: rev[:at]}, rev[at:]
	if len(rev) > 1000 || !refName("refs/heads/"+p.base) || p.base[0] == '-' || p.base == "@" {
		return revision{}, refused("revision", "%q is not understood. %s", rev, understood)
	}
	total := 0
	for rest != "" {
		kind := rest[0]
		digits := rest[1:]
		if end := strings.IndexFunc(digits, func(c rune) bool { return c < '0' || c > '9' }); end >= 0 {
			digits = digits[:end]
		}
		rest = rest[1+len(digits):]
		n := 1
		if digits != "" {
			var err error
			if n, err = strconv.Atoi(digits); err != nil {
				n = maxBack + 1
			}
		}
		s := step{1, n}
		if kind == '^' {
			s = step{n, min(n, 1)} // ^0 is the commit itself
		}
		if total += n; total > maxBack || rest != "" && rest[0] != '~' && rest[0] != '^' {
			return revision{}, refused("revision", "%q is not understood, or goes back more than %d commits. %s", rev, maxBack, understood)
		}
		p.steps = append(p.steps, s)
	}
	return p, nil
}

// named is the object that a name without steps stands for. Like git it takes a
// ref before a short id of the same letters, and a tag before a branch.
func (r *Repo) named(o *objects, base string) (oid, error) {
	if id, ok := parseOID(base); ok {
		return id, nil
	}
	if base == "HEAD" {
		h, err := r.Head()
		if err != nil {
			return oid{}, err
		}
		if h.Commit == "" {
			return oid{}, refused("revision", "HEAD has no commit yet.")
		}
		return wantOID(h.Commit)
	}
	names := []string{"refs/" + base, "refs/tags/" + base, "refs/heads/" + base, "refs/remotes/" + base, "refs/remotes/" + base + "/HEAD"}
	if strings.HasPrefix(base, "refs/") {
		names = []string{base}
	}
	for _, name := range names {
		id, err := r.ref(name)
		if err != nil {
			return oid{}, err
		}
		if id != "" {
			return wantOID(id)
		}
	}
	if len(base) < 4 || len(base) > 40 || strings.Trim(strings.ToLower(base), "0123456789abcdef") != "" {
		return oid{}, refused("revision", "No branch, tag or commit is called %q. %s", base, understood)
	}
	return o.short(strings.ToLower(base))
}

// short is the only commit whose id begins with some digits. Other objects do not
// count where there are several.
func (o *objects) short(digits string) (oid, error) {
	ids, err := o.prefixed(digits)
	if err != nil {
		return oid{}, err
	}
	var commits []oid
	for _, id := range ids {
		kind, _, err := o.size(id)
		if err != nil {
			return oid{}, err
		}
		if kind == plumbing.CommitObject || kind == plumbing.TagObject {
			commits = append(commits, id)
		}
	}
	switch {
	case len(ids) < fewIDs && len(commits) == 0:
		return oid{}, refused("revision", "No branch, tag or commit is called %q. %s", digits, understood)
	case len(ids) < fewIDs && len(commits) == 1:
		return commits[0], nil
	}
	return oid{}, refused("revision", "Several commits begin with %q: give more digits.", digits)
}

// peel is the commit that an object is, or that a tag leads to.
func (o *objects) peel(id oid) (Commit, error) {
	for range 16 {
		kind, _, err := o.size(id)
		if err != nil {
			return Commit{}, err
		}
		if kind == plumbing.CommitObject {
			return o.commit(id)
		}
		if kind != plumbing.TagObject {
			return Commit{}, refused("revision", "%s is a %s, not a commit.", id.id(), kind)
		}
		b, err := o.get(id, plumbing.TagObject, maxCommit)
		if err != nil {
			return Commit{}, err
		}
		line, _, _ := bytes.Cut(b, []byte("\n"))
		next, ok := parseOID(strings.TrimPrefix(string(line), "object "))
		if !ok {
			return Commit{}, broken("tag", "it names no object")
		}
		id = next
	}
	return Commit{}, broken("tag", "it leads to tags without an end")
}
