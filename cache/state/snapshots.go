package state

import (
	"slices"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/change"
)

// snapshots keeps what applied edits replaced as versions of their notes, and
// lets the versions follow a note to its new path.
func (t *transaction) snapshots(r *change.Record) error {
	from := 0
	for i := range r.Edits {
		e := &r.Edits[i]
		if e.Kind != change.Move {
			continue
		}
		if err := t.replaced(r, from, i); err != nil {
			return err
		}
		from = i + 1
		if err := t.follow(e); err != nil {
			return err
		}
	}
	return t.replaced(r, from, len(r.Edits))
}

// replaced keeps what edits with numbers from one to below another replaced, as
// far as the content is kept: of a large file it is not.
func (t *transaction) replaced(r *change.Record, from, to int) error {
	if !slices.ContainsFunc(r.Edits[from:to], func(e change.Edit) bool { return e.Before != (fingerprint.Content{}) }) {
		return nil // most notes that are written are new
	}
	return t.exec(`INSERT INTO snapshots (path, hash, size, at, change, label)
		SELECT e.path, e.before, b.size, ?, e.change, '' FROM edits e CROSS JOIN blobs b ON b.hash = e.before
		WHERE e.change = ? AND e.n >= ? AND e.n < ? AND e.kind IN (?, ?) AND e.dir = 0 AND e.dest = '' ORDER BY e.n`,
		r.Began.UnixNano(), r.ID, from, to, int(change.Put), int(change.Remove))
}

// follow gives the versions of what is moved its new path.
func (t *transaction) follow(e *change.Edit) error {
	if err := t.exec("UPDATE snapshots SET path = ? WHERE path = ?", e.To, e.Path); err != nil || !e.Dir {
		return err
	}
	return t.exec("UPDATE snapshots SET path = ? || substr(path, ?) WHERE path >= ? AND path < ?",
		e.To, len([]rune(e.Path))+1, e.Path+"/", e.Path+"0")
}
