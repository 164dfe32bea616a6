package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/change"
)

// Journal is the state as the applying of plans needs it.
func (s *Store) Journal() change.Journal { return journal{s} }

type journal struct{ s *Store }

// ErrKeyTaken says that an idempotency key was used meanwhile.
var ErrKeyTaken = errors.New("the idempotency key was used by another call")

// Begin implements change.Journal.
func (j journal) Begin(ctx context.Context, r *change.Record) error {
	return j.s.write(ctx, func(t *transaction) error {
		if err := t.claim(r); err != nil {
			return err
		}
		if err := t.spend(r, j.s.clock); err != nil {
			return err
		}
		if err := t.insert(r); err != nil {
			return err
		}
		if err := t.edits(r); err != nil {
			return err
		}
		return t.keepAll(images(r.Edits))
	})
}

// claim takes the idempotency key of a record.
func (t *transaction) claim(r *change.Record) error {
	if r.Key == "" {
		return nil
	}
	if err := t.exec("DELETE FROM keys WHERE at < ?", r.Began.Add(-keyLife).UnixNano()); err != nil {
		return err
	}
	n, err := t.changed("INSERT INTO keys (caller, key, tool, call, change, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		r.Caller, r.Key, r.Tool, string(r.Call), r.ID, r.Began.UnixNano())
	if err == nil && n == 0 {
		err = ErrKeyTaken
	}
	return err
}

// insert writes a record without its edits, and what the audit has to tell of it.
func (t *transaction) insert(r *change.Record) error {
	err := t.exec("INSERT INTO changes (id, tool, vault, caller, call, key, approval, undoes, began, ended, outcome, summary, strange, receipt, intent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?)",
		r.ID, r.Tool, r.Vault, r.Caller, string(r.Call), r.Key, grantOf(r), r.Undoes, r.Began.UnixNano(), column(r.Ended), string(r.Outcome), r.Summary, r.Receipt, r.Intent)
	if err != nil {
		return err
	}
	begun := *r
	begun.Outcome = "" // nothing has come of it yet
	return t.auditChange(r.Began, AuditBegin, &begun)
}

func grantOf(r *change.Record) string {
	if r.Permit == nil {
		return ""
	}
	return r.Permit.Grant
}

// edits writes the edits of a record.
func (t *transaction) edits(r *change.Record) error {
	n := 0
	for part := range slices.Chunk(r.Edits, batchRows) {
		args := make([]any, 0, 10*len(part))
		for i := range part {
			e := &part[i]
			args = append(args, r.ID, n, int(e.Kind), e.Path, e.To, e.Dir, stored(e.Before), stored(e.After), int64(e.Mode), e.Upkeep)
			n++
		}
		err := t.exec("INSERT INTO edits (change, n, kind, path, dest, dir, before, after, mode, upkeep) VALUES "+tuples(len(part), 10), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// stored is a hash as a column; an absent file has an empty one.
func stored(c fingerprint.Content) []byte {
	if c == (fingerprint.Content{}) {
		return []byte{}
	}
	return c[:]
}

// images are the contents of files before and after edits.
func images(edits []change.Edit) (list []blob) {
	for i := range edits {
		e := &edits[i]
		if (e.Kind == change.Put || e.Kind == change.Remove) && e.Before != (fingerprint.Content{}) && fingerprint.OfContent(e.Old) == e.Before {
			list = append(list, blob{hash: e.Before, content: e.Old})
		}
		if e.Kind == change.Put || e.Kind == change.Create {
			list = append(list, blob{hash: e.After, content: e.Content})
		}
	}
	return list
}

// End implements change.Journal.
func (j journal) End(ctx context.Context, r *change.Record) error {
	strange, err := json.Marshal(r.Foreign)
	if err != nil {
		return err
	}
	return j.s.write(ctx, func(t *transaction) error {
		n, err := t.changed("UPDATE changes SET outcome = ?, ended = ?, strange = ? WHERE id = ? AND outcome = ''",
			string(r.Outcome), r.Ended.UnixNano(), string(strange), r.ID)
		if err != nil || n == 0 { // another process has settled it
			return err
		}
		if err := t.auditChange(r.Ended, AuditEnd, r); err != nil {
			return err
		}
		if r.Outcome == change.NotApplied {
			if err := t.release(r, j.s.clock); err != nil {
				return err
			}
		}
		if r.Outcome == change.NotApplied || r.Outcome == change.RolledBack {
			return t.exec("DELETE FROM keys WHERE change = ?", r.ID) // the call may be made again
		}
		if r.Outcome != change.Applied {
			return nil
		}
		return t.snapshots(r)
	})
}

// Keep implements change.Journal.
func (j journal) Keep(ctx context.Context, path string, content []byte, now time.Time) error {
	_, err := j.s.Keep(ctx, path, content, now)
	return err
}

// Open implements change.Journal.
func (j journal) Open(ctx context.Context) (list []*change.Record, err error) {
	return j.s.records(ctx, true, "SELECT id FROM changes WHERE outcome = '' ORDER BY seq")
}

// records reads the changes whose ids a query finds, with images or without.
func (s *Store) records(ctx context.Context, images bool, query string, args ...any) (list []*change.Record, err error) {
	err = s.read(ctx, func(t *transaction) error {
		var ids []string
		err := t.rows(func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		}, query, args...)
		if err != nil {
			return err
		}
		for _, id := range ids {
			r, err := t.record(id, images)
			if err != nil {
				return err
			}
			list = append(list, r)
		}
		return nil
	})
	return list, err
}

// record reads a change; with images also the content of its files, as far as
// it is kept.
func (t *transaction) record(id string, images bool) (*change.Record, error) {
	r := &change.Record{ID: id}
	var began, ended int64
	var call, strange, outcome, grant string
	err := t.row("SELECT tool, vault, caller, call, key, approval, undoes, began, ended, outcome, summary, strange, receipt, intent FROM changes WHERE id = ?", id).
		Scan(&r.Tool, &r.Vault, &r.Caller, &call, &r.Key, &grant, &r.Undoes, &began, &ended, &outcome, &r.Summary, &strange, &r.Receipt, &r.Intent)
	if err != nil {
		return nil, err
	}
	r.Call, r.Began, r.Outcome = fingerprint.Call(call), time.Unix(0, began), change.Outcome(outcome)
	if grant != "" {
		r.Permit = &change.Permit{Grant: grant}
	}
	if ended != 0 {
		r.Ended = time.Unix(0, ended)
	}
	if strange != "" {
		if err := json.Unmarshal([]byte(strange), &r.Foreign); err != nil {
			return nil, fmt.Errorf("change %s in the state is damaged: %w", id, err)
		}
	}
	err = t.rows(func(rows *sql.Rows) error {
		var e change.Edit
		var kind, mode int64
		var before, after []byte
		if err := rows.Scan(&kind, &e.Path, &e.To, &e.Dir, &before, &after, &mode, &e.Upkeep); err != nil {
			return err
		}
		e.Kind, e.Mode = change.Kind(kind), fs.FileMode(mode)
		copy(e.Before[:], before)
		copy(e.After[:], after)
		r.Edits = append(r.Edits, e)
		return nil
	}, "SELECT kind, path, dest, dir, before, after, mode, upkeep FROM edits WHERE change = ? ORDER BY n", id)
	for i := range r.Edits {
		if err != nil || !images {
			break
		}
		err = t.load(&r.Edits[i])
	}
	return r, err
}

// load gives an edit the content that is kept of its file.
func (t *transaction) load(e *change.Edit) (err error) {
	if e.Kind == change.Put || e.Kind == change.Remove && e.Before != (fingerprint.Content{}) {
		if e.Old, err = t.content(e.Before); err != nil && !errors.Is(err, ErrNoContent) {
			return err
		}
	}
	if e.Kind == change.Put || e.Kind == change.Create {
		if e.Content, err = t.content(e.After); err != nil && !errors.Is(err, ErrNoContent) {
			return err
		}
	}
	return nil
}
