package state

import (
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/change"
)

// snapshot keeps what an applied edit replaced as a version of its note, and
// lets the versions follow a note to its new path.
func (t *transaction) snapshot(r *change.Record, e *change.Edit) error {
	switch e.Kind {
	case change.Put, change.Remove:
		if e.Dir || e.To != "" || e.Before == (fingerprint.Content{}) {
			break
		}
		var size int64
		if err := t.row("SELECT coalesce((SELECT size FROM blobs WHERE hash = ?), -1)", e.Before[:]).Scan(&size); err != nil || size < 0 {
			return err // a large file has none
		}
		return t.exec("INSERT INTO snapshots (path, hash, size, at, change, label) VALUES (?, ?, ?, ?, ?, '')",
			e.Path, e.Before[:], size, r.Began.UnixNano(), r.ID)
	}
	if e.Kind != change.Move {
		return nil
	}
	if err := t.exec("UPDATE snapshots SET path = ? WHERE path = ?", e.To, e.Path); err != nil || !e.Dir {
		return err
	}
	return t.exec("UPDATE snapshots SET path = ? || substr(path, ?) WHERE path >= ? AND path < ?",
		e.To, len([]rune(e.Path))+1, e.Path+"/", e.Path+"0")
}
