package state

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/change"
)

// ErrUnknown says that there is no change or snapshot with that id.
var ErrUnknown = errors.New("there is none with that id")

// Numbered is a change and its place in the order of all changes.
type Numbered struct {
	Seq int64
	*change.Record
	// UndoneBy is the id of the change that took it back, or "".
	UndoneBy string
	// Approval is who approved it, or nil.
	Approval *Approval
}

// isChange is true of a record that has edits: others say for what else a permit
// was used.
const isChange = "EXISTS (SELECT 1 FROM edits WHERE change = changes.id)"

// Changes calls f with changes, the newest first, from before a number on (0:
// all), without the content of files, until f answers false. With path set only
// those are given that were about that path, or about a folder above it.
func (s *Store) Changes(ctx context.Context, before int64, path string, f func(Numbered) bool) error {
	return s.read(ctx, func(t *transaction) error {
		for more := true; more; {
			var ids []string
			var seqs []int64
			query := "SELECT seq, id FROM changes WHERE outcome <> '' AND (? = 0 OR seq < ?) AND " + isChange
			args := []any{before, before}
			if path != "" {
				places := above(path)
				query += " AND id IN (SELECT change FROM edits WHERE path IN (" + marks(len(places)) + ") UNION SELECT change FROM edits WHERE dest <> '' AND dest IN (" + marks(len(places)) + "))"
				for range 2 {
					for _, p := range places {
						args = append(args, p)
					}
				}
			}
			err := t.rows(func(rows *sql.Rows) error {
				var seq int64
				var id string
				err := rows.Scan(&seq, &id)
				seqs, ids = append(seqs, seq), append(ids, id)
				return err
			}, query+" ORDER BY seq DESC LIMIT 64", args...)
			if err != nil {
				return err
			}
			for i, id := range ids {
				n, err := t.numbered(id, seqs[i])
				if err != nil {
					return err
				}
				if !f(n) {
					return nil
				}
			}
			if more = len(ids) == 64; more {
				before = seqs[63]
			}
		}
		return nil
	})
}

// above are a path and all folders above it.
func above(path string) []string {
	all := []string{path}
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path, '/') {
		path = path[:i]
		all = append(all, path)
	}
	return all
}

func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

func (t *transaction) numbered(id string, seq int64) (Numbered, error) {
	r, err := t.record(id, false)
	if err != nil {
		return Numbered{}, err
	}
	n := Numbered{Seq: seq, Record: r}
	err = t.row("SELECT id FROM changes WHERE undoes = ? AND undoes <> '' AND outcome = ? ORDER BY seq LIMIT 1", id, string(change.Applied)).Scan(&n.UndoneBy)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	if err == nil && r.Permit != nil {
		n.Approval, err = t.approval(id)
	}
	return n, err
}

// Change is one change with the content of its files, as far as it is kept. It
// fails with ErrUnknown, and with *EffectError for the id of an effect.
func (s *Store) Change(ctx context.Context, id string) (n Numbered, err error) {
	err = s.read(ctx, func(t *transaction) error {
		var seq int64
		err := t.row("SELECT seq FROM changes WHERE id = ? AND "+isChange, id).Scan(&seq)
		if errors.Is(err, sql.ErrNoRows) {
			return t.noChange(id)
		}
		if err == nil {
			n, err = t.numbered(id, seq)
		}
		for i := range n.Edits {
			if err != nil {
				return err
			}
			err = t.load(&n.Edits[i])
		}
		return err
	})
	return n, err
}

// EffectError says that an id is that of an effect, which has changed no notes.
type EffectError struct{ Tool string }

func (e *EffectError) Error() string { return "it was " + e.Tool + ", which changed no notes" }

// noChange is why an id is that of no change.
func (t *transaction) noChange(id string) error {
	e := &EffectError{}
	err := t.row("SELECT tool FROM changes WHERE id = ? AND intent IS NOT NULL", id).Scan(&e.Tool)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrUnknown
	}
	if err == nil {
		err = e
	}
	return err
}

// Now is where a path is that a change was about, after all later moves.
func (s *Store) Now(ctx context.Context, path string, seq int64) (now string, err error) {
	now = path
	err = s.read(ctx, func(t *transaction) error {
		for {
			places := above(now)
			args := []any{seq, int(change.Move), string(change.Applied)}
			for _, p := range places {
				args = append(args, p)
			}
			var from, to string
			err := t.row("SELECT c.seq, e.path, e.dest FROM edits e JOIN changes c ON c.id = e.change WHERE c.seq > ? AND e.kind = ? AND c.outcome = ? AND e.path IN ("+
				marks(len(places))+") AND (e.dir OR e.path = ?) ORDER BY c.seq, e.n LIMIT 1", append(args, now)...).Scan(&seq, &from, &to)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			now = to + strings.TrimPrefix(now, from)
		}
	})
	return now, err
}

// Snapshot is a version of a note that is kept.
type Snapshot struct {
	ID   int64
	Path string // where the note is now, as far as this program moved it
	Hash fingerprint.Content
	Size int64
	At   time.Time
	// Change is the id of the change that replaced this version, or "" if it was
	// kept by request.
	Change string
}

// Snapshots are the versions of a note, the newest first, from before an id on
// (0: all), at most limit.
func (s *Store) Snapshots(ctx context.Context, path string, before int64, limit int) (list []Snapshot, err error) {
	err = s.read(ctx, func(t *transaction) error {
		return t.rows(func(rows *sql.Rows) error {
			sn, err := scanSnapshot(rows)
			list = append(list, sn)
			return err
		}, "SELECT id, path, hash, size, at, change FROM snapshots WHERE path = ? AND (? = 0 OR id < ?) ORDER BY id DESC LIMIT ?", path, before, before, limit)
	})
	return list, err
}

func scanSnapshot(row interface{ Scan(...any) error }) (sn Snapshot, err error) {
	var hash []byte
	var at int64
	err = row.Scan(&sn.ID, &sn.Path, &hash, &sn.Size, &at, &sn.Change)
	copy(sn.Hash[:], hash)
	sn.At = time.Unix(0, at)
	return sn, err
}

// Snapshot is one version and its content.
func (s *Store) Snapshot(ctx context.Context, id int64) (sn Snapshot, content []byte, err error) {
	err = s.read(ctx, func(t *transaction) (err error) {
		sn, err = scanSnapshot(t.row("SELECT id, path, hash, size, at, change FROM snapshots WHERE id = ?", id))
		if errors.Is(err, sql.ErrNoRows) {
			return ErrUnknown
		}
		if err == nil {
			content, err = t.content(sn.Hash)
		}
		return err
	})
	return sn, content, err
}

// Keep keeps the version that a note has now; if the newest one that is kept is
// the same, that is it.
func (s *Store) Keep(ctx context.Context, path string, content []byte, now time.Time) (sn Snapshot, err error) {
	hash := fingerprint.OfContent(content)
	err = s.write(ctx, func(t *transaction) error {
		last, err := scanSnapshot(t.row("SELECT id, path, hash, size, at, change FROM snapshots WHERE path = ? ORDER BY id DESC LIMIT 1", path))
		if err == nil && last.Hash == hash {
			sn = last
			return nil
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := t.keep(hash, content); err != nil {
			return err
		}
		if err := t.exec("INSERT INTO snapshots (path, hash, size, at, change, label) VALUES (?, ?, ?, ?, '', '')", path, hash[:], len(content), now.UnixNano()); err != nil {
			return err
		}
		sn = Snapshot{Path: path, Hash: hash, Size: int64(len(content)), At: now}
		return t.row("SELECT last_insert_rowid()").Scan(&sn.ID)
	})
	return sn, err
}

// Retention says how many versions are kept: those that are among the newest
// Versions of their note or younger than Age, as long as all together take at
// most Bytes on disk. The newest version of a note is always kept.
type Retention struct {
	Versions int
	Age      time.Duration
	Bytes    int64
}

// Prune drops what Retention does not keep. Changes stay listed; the content of
// those that are older than Age can no longer be taken back. The audit is kept
// for 400 days, and at most half a million rows of it; the preview of a request
// as long as a person can answer it.
func (s *Store) Prune(ctx context.Context, r Retention, now time.Time) error {
	since := now.Add(-r.Age).UnixNano()
	return s.write(ctx, func(t *transaction) error {
		err := t.exec(`DELETE FROM snapshots WHERE at < ? AND id NOT IN (
			SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY path ORDER BY id DESC) AS n FROM snapshots) WHERE n <= ?)`, since, max(r.Versions, 1))
		if err != nil {
			return err
		}
		if err := t.sweep(since); err != nil {
			return err
		}
		// What can no longer be answered is no longer shown: a preview holds text of notes.
		if err := t.exec("UPDATE requests SET preview = '' WHERE preview <> '' AND expires_at <= ?", now.UnixNano()); err != nil {
			return err
		}
		if err := t.pruneAudit(now, auditAge, auditRows); err != nil {
			return err
		}
		for {
			var size int64
			if err := t.row("SELECT coalesce(sum(length(data)), 0) FROM blobs").Scan(&size); err != nil || size <= r.Bytes {
				return err
			}
			n, err := t.changed(`DELETE FROM snapshots WHERE id IN (
				SELECT id FROM snapshots s WHERE id < (SELECT max(id) FROM snapshots WHERE path = s.path) ORDER BY id LIMIT 100)`)
			if err != nil {
				return err
			}
			if n == 0 {
				// Only the newest versions are left, and what changes refer to.
				return t.sweep(now.UnixNano())
			}
			if err := t.sweep(now.UnixNano()); err != nil {
				return err
			}
		}
	})
}

// sweep drops content that no version needs, nor a change that began since or
// is open.
func (t *transaction) sweep(since int64) error {
	return t.exec(`DELETE FROM blobs WHERE hash NOT IN (SELECT hash FROM snapshots)
		AND hash NOT IN (SELECT e.before FROM edits e JOIN changes c ON c.id = e.change WHERE c.began >= ? OR c.outcome = '')
		AND hash NOT IN (SELECT e.after FROM edits e JOIN changes c ON c.id = e.change WHERE c.began >= ? OR c.outcome = '')`, since, since)
}

// Removal says what was removed to a place in a trash, and when.
type Removal struct {
	From, Change string
	At           time.Time
}

// Removed are all places in a trash to which something was removed, with the
// last that was.
func (s *Store) Removed(ctx context.Context) (map[string]Removal, error) {
	all := map[string]Removal{}
	err := s.read(ctx, func(t *transaction) error {
		return t.rows(func(rows *sql.Rows) error {
			var to string
			var at int64
			var r Removal
			err := rows.Scan(&to, &r.From, &r.Change, &at)
			r.At = time.Unix(0, at)
			all[to] = r
			return err
		}, "SELECT e.dest, e.path, c.id, c.began FROM edits e JOIN changes c ON c.id = e.change WHERE e.kind = ? AND e.dest <> '' AND c.outcome = ? ORDER BY c.seq",
			int(change.Remove), string(change.Applied))
	})
	return all, err
}

// WayBack is the id of the last applied change that made a move, "" if there is
// none.
func (s *Store) WayBack(ctx context.Context, from, to string, dir bool) (id string, err error) {
	err = s.read(ctx, func(t *transaction) error {
		err := t.row("SELECT c.id FROM edits e JOIN changes c ON c.id = e.change WHERE e.path = ? AND e.dest = ? AND e.kind = ? AND e.dir = ? AND c.outcome = ? ORDER BY c.seq DESC LIMIT 1",
			from, to, int(change.Move), dir, string(change.Applied)).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return id, err
}

// Before is what a file held before a change that left it a content.
func (s *Store) Before(ctx context.Context, id, path string, after fingerprint.Content) (content []byte, ok bool, err error) {
	err = s.read(ctx, func(t *transaction) error {
		var hash []byte
		err := t.row("SELECT before FROM edits WHERE change = ? AND path = ? AND kind = ? AND after = ?", id, path, int(change.Put), after[:]).Scan(&hash)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		var h fingerprint.Content
		copy(h[:], hash)
		content, err = t.content(h)
		if errors.Is(err, ErrNoContent) {
			return nil
		}
		ok = err == nil
		return err
	})
	return content, ok, err
}
