package git

import (
	"bufio"
	"bytes"
	"context"
	"io/fs"
	"path/filepath"
	"strings"
)

// Settle finds out whether a commit that was intended (the arguments are those
// that intend was given) was made, after a crash: done says so, known whether
// it can be told. It is done if the commit belongs to HEAD or HEAD was once
// there. It is surely not if HEAD is where it was, or its log covers the time since.
func (r *Repo) Settle(ctx context.Context, tree, parent, commit ID) (done, known bool, err error) {
	head, err := r.Head()
	if err != nil {
		return false, false, err
	}
	moves, err := r.moves()
	if err != nil {
		return false, false, err
	}
	covered := len(moves) > 0 && moves[len(moves)-1].to == head.Commit && parent == ""
	for _, m := range moves {
		if m.to == commit && commit != "" || commit == "" && m.from == parent && r.isCommit(m.to, tree, parent) {
			return true, true, nil
		}
		covered = covered || m.to == parent && moves[len(moves)-1].to == head.Commit
	}
	if head.Commit == parent {
		return false, true, nil
	}
	if head.Commit != "" {
		found, err := r.inHistory(ctx, head.Commit, tree, parent, commit)
		if err != nil || found {
			return found, found, err
		}
	}
	return false, covered, nil
}

// isCommit reports whether id is a commit of this tree with this one parent.
func (r *Repo) isCommit(id, tree, parent ID) bool {
	c, err := r.Commit(id)
	return err == nil && c.Tree == tree && strings.Join(texts(c.Parents), " ") == string(parent)
}

func texts(ids []ID) []string {
	var t []string
	for _, id := range ids {
		t = append(t, string(id))
	}
	return t
}

// maxLooked is how many commits before HEAD are looked at.
const maxLooked = 1000

// inHistory looks for a commit among the last ones before HEAD.
func (r *Repo) inHistory(ctx context.Context, head, tree, parent, commit ID) (found bool, err error) {
	n := 0
	err = r.Log(ctx, LogOptions{From: head}, func(l Logged) error {
		found = l.ID == commit || commit == "" && l.Tree == tree && strings.Join(texts(l.Parents), " ") == string(parent)
		if n++; found || n == maxLooked {
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}

// move is a line of HEAD's log.
type move struct{ from, to ID }

// moves are where HEAD was, the oldest first; none where no log is kept.
func (r *Repo) moves() ([]move, error) {
	b, err := readFile(filepath.Join(r.Dir, "logs", "HEAD"), maxTable)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, broken("log of HEAD", err)
	}
	var moves []move
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, maxConfig)
	for lines.Scan() {
		var ids [2]ID
		line := lines.Text()
		if len(line) < 81 || line[40] != ' ' {
			continue
		}
		for i := range ids {
			o, ok := parseOID(line[41*i : 41*i+40])
			if ids[i] = o.id(); !ok || ids[i] == noID {
				ids[i] = ""
			}
		}
		moves = append(moves, move{ids[0], ids[1]})
	}
	return moves, lines.Err()
}
