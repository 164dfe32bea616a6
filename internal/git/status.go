package git

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// Status is what git status says about the vault's folder.
type Status struct {
	Head Head
	// Upstream is the branch that this one follows, such as origin/main, or "".
	Upstream string
	// Ahead and Behind count the commits that only this branch, or only
	// Upstream has. Both are 0 unless Compared.
	Ahead, Behind int
	Compared      bool
	// Paths are in the order of their paths, those that are not known to git last.
	Paths []PathStatus
}

// PathStatus is how one file differs.
type PathStatus struct {
	// Path is from the root of the work tree; From is its path before if it
	// was renamed or copied.
	Path, From string
	// Staged is how the index differs from HEAD, Work how the file differs from
	// the index: M, T, A, D, R, C, or '.' for not at all.
	Staged, Work byte
	// Conflict is what the two sides of a merge did, such as both modified; then
	// Staged and Work are '.'.
	Conflict string
	// Untracked says that git does not know the file.
	Untracked bool
}

// conflicts are git's two letters for each kind of conflict.
var conflicts = map[string]string{
	"DD": "both deleted", "AU": "added by us", "UD": "deleted by them", "UA": "added by them",
	"DU": "deleted by us", "AA": "both added", "UU": "both modified",
}

// Status asks git what is staged, changed and new in the vault's folder. It
// changes nothing, not even what the index knows about the times of files.
func (r *Repo) Status(ctx context.Context) (*Status, error) {
	if !r.hasProgram() {
		return r.statusAlone(ctx)
	}
	out, err := r.git(ctx, call{args: append([]string{
		"status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--ignore-submodules=all", "--find-renames", "--no-column", "--",
	}, r.prefix()...)})
	if err != nil {
		return nil, err
	}
	return parseStatus(string(out))
}

// prefix is the vault's folder as a path for git, or none for all.
func (r *Repo) prefix() []string {
	if r.Prefix == "" {
		return nil
	}
	return []string{strings.TrimSuffix(r.Prefix, "/")}
}

var errStatus = errors.New("git status wrote something unknown")

// parseStatus reads the output of git status --porcelain=v2 -z.
func parseStatus(out string) (*Status, error) {
	s := &Status{}
	for out != "" {
		var line string
		var ok bool
		if line, out, ok = strings.Cut(out, "\x00"); !ok {
			return nil, errStatus // cut off
		}
		kind, rest, _ := strings.Cut(line, " ")
		p := PathStatus{Staged: '.', Work: '.'}
		switch kind {
		case "#":
			if !s.header(rest) {
				return nil, errStatus
			}
			continue
		case "?":
			p.Path, p.Untracked = rest, true
		case "!":
			continue
		case "1", "2", "u":
			fields := strings.SplitN(rest, " ", map[string]int{"1": 8, "2": 9, "u": 10}[kind])
			if len(fields) < 8 || kind == "2" && len(fields) < 9 || kind == "u" && len(fields) < 10 || len(fields[0]) != 2 {
				return nil, errStatus
			}
			p.Path = fields[len(fields)-1]
			switch letters := fields[0]; kind {
			case "u":
				if p.Conflict = conflicts[letters]; p.Conflict == "" {
					return nil, errStatus
				}
			case "2":
				if p.From, out, ok = strings.Cut(out, "\x00"); !ok || p.From == "" {
					return nil, errStatus
				}
				fallthrough
			default:
				p.Staged, p.Work = letters[0], letters[1]
			}
		default:
			return nil, errStatus
		}
		if p.Path == "" {
			return nil, errStatus
		}
		s.Paths = append(s.Paths, p)
	}
	return s, nil
}

// header reads a line about the branch; those of other versions of git are
// left out.
func (s *Status) header(text string) bool {
	name, value, _ := strings.Cut(text, " ")
	switch name {
	case "branch.oid":
		if value != "(initial)" {
			s.Head.Commit = ID(value)
		}
	case "branch.head":
		switch {
		case value == "(detached)":
		case strings.HasPrefix(value, "refs/"):
			s.Head.Ref = value
		default:
			s.Head.Ref = "refs/heads/" + value
		}
	case "branch.upstream":
		s.Upstream = value
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		a, errA := strconv.Atoi(ahead)
		b, errB := strconv.Atoi(behind)
		if errA != nil || errB != nil || a < 0 || b > 0 {
			return false
		}
		s.Ahead, s.Behind, s.Compared = a, -b, true
	}
	return true
}
