package state

import (
	"bytes"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/secrets"
	"vault-mcp/vault/change"
)

// What a program of an earlier layout kept is there after the step to the next.
func TestTheStateOfAnEarlierLayoutIsKept(t *testing.T) {
	dir := t.TempDir()
	text, short := []byte(strings.Repeat("a line that packs well\n", 100)), []byte("short\n")
	r := &change.Record{ID: change.NewID(), Tool: "t", Caller: "test", Edits: []change.Edit{change.NewPut("a.md", text, short)}, Began: time.Now()}
	before(t, dir, 1, nil, func(tx *transaction) error {
		err := tx.exec("INSERT INTO changes VALUES (1, ?, ?, ?, '', '', '', '', ?, 0, '', '', '', NULL)", r.ID, r.Tool, r.Caller, r.Began.UnixNano())
		return errors.Join(err, tx.edits(r), tx.keepAll(images(r.Edits)))
	})
	s, err := Open(t.Context(), dir, secrets.NewProcessRing())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	open, err := s.Journal().Open(t.Context())
	if err != nil || len(open) != 1 || len(open[0].Edits) != 1 || !bytes.Equal(open[0].Edits[0].Old, text) || !bytes.Equal(open[0].Edits[0].Content, short) {
		t.Fatalf("%+v, %v", open, err)
	}
	// The same content again is still the same row.
	if _, err := s.Keep(t.Context(), "b.md", text, time.Now()); err != nil {
		t.Fatal(err)
	}
	var rows int
	err = s.read(t.Context(), func(tx *transaction) error {
		h := fingerprint.OfContent(text)
		return tx.row("SELECT count(*) FROM blobs WHERE hash = ?", h[:]).Scan(&rows)
	})
	if err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// before makes a state of an earlier layout, of so many steps, and lets fill write
// to it.
func before(t *testing.T, dir string, steps int, ring Signer, fill func(*transaction) error) {
	t.Helper()
	today := migrations
	migrations = today[:steps]
	defer func() { migrations = today }()
	old, err := Open(t.Context(), dir, ring)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(old.write(t.Context(), fill), old.Close()); err != nil {
		t.Fatal(err)
	}
}

// found are the values of one row, as text.
func found(t *testing.T, s *Store, query string) string {
	t.Helper()
	var lines []string
	err := s.read(t.Context(), func(tx *transaction) error {
		return tx.rows(func(rows *sql.Rows) error {
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			values := make([]sql.NullString, len(columns))
			into := make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				return err
			}
			var line []string
			for _, v := range values {
				line = append(line, v.String)
			}
			lines = append(lines, strings.Join(line, "|"))
			return nil
		}, query)
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(lines, " ")
}

// A state from before requests said why no form was sent, and executions in which
// vault they were, is read as it was meant; the approval that waits in it is used.
func TestARequestOfTheLayoutBeforeIsAnsweredAndUsed(t *testing.T) {
	dir, ring := t.TempDir(), secrets.NewProcessRing()
	now := time.Now()
	before(t, dir, 6, ring, func(tx *transaction) error {
		in, later := now.UnixNano(), now.Add(time.Hour).UnixNano()
		request := `INSERT INTO requests VALUES (NULL, ?, 'main', 'write_note', 'stdio', ?, 'fp', 'a floor', 'a summary', 'a diff', '[]', 'null',
			'tools/call', 'form', 'none', 'none', ?, ?, ?, 0, '')`
		grant := "INSERT INTO grants VALUES (?, ?, NULL, 'console', 'ana', 'main', 'write_note', 'stdio', 'hash', 'fp', '', 1, ?, ?, ?, 0, 0, 0)"
		done := "INSERT INTO changes VALUES (NULL, ?, 'write_note', 'stdio', 'hash', '', ?, '', ?, ?, ?, '', '', NULL)"
		return errors.Join(
			tx.exec(request, "r1", "hash", in, later, "used"), tx.exec(grant, "g1", "r1", 1, in, later),
			tx.exec(request, "r2", "hash", in, later, "approved"), tx.exec(grant, "g2", "r2", 0, in, later),
			tx.exec(done, "c0", "", in, in, "applied"), // from before there was an audit
			tx.exec(done, "c1", "g1", in, in, "not_applied"), tx.exec(done, "c2", "g1", in, in, "applied"),
			tx.audit(AuditRow{At: now, Kind: AuditBegin, Vault: "main", Grant: "g1", Change: "c1"}),
			tx.audit(AuditRow{At: now, Kind: AuditBegin, Vault: "main", Grant: "g1", Change: "c2"}),
		)
	})
	s, err := Open(t.Context(), dir, ring)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := "c0|||1|applied c1|g1|main|1|not_applied c2|g1|main|2|applied"
	if got := found(t, s, "SELECT execution_id, grant_id, vault, attempt, outcome FROM executions ORDER BY started_at, execution_id"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r, g, err := s.Requests().Find(t.Context(), "r2")
	if err != nil || r.Status != hitl.Approved || r.Reason != "" || r.Negotiated != "none" || r.Preview != "a diff" || g == nil || g.By != "ana" {
		t.Fatalf("%+v, %+v, %v", r, g, err)
	}
	run := &change.Record{
		ID: change.NewID(), Tool: "write_note", Caller: "stdio", Vault: "main", Call: "hash", Began: time.Now(), Permit: &change.Permit{Grant: "g2", Vault: "main", State: "fp"},
	}
	if err := s.Journal().Begin(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	open, err := s.Journal().Open(t.Context())
	if err != nil || len(open) != 1 || open[0].Vault != "main" {
		t.Errorf("%+v, %v", open, err)
	}
	again := &hitl.Request{Bound: r.Bound, Mode: "form", Negotiated: "none", Fallback: "none", Reason: "no form"}
	if err := s.Requests().Raise(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if got, _, err := s.Requests().Find(t.Context(), again.ID); err != nil || got.Reason != "no form" {
		t.Errorf("%+v, %v", got, err)
	}
	if report, err := s.Verify(t.Context()); err != nil || len(report.Faults) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// The tables hold what the design of the gate says, under its names. What else is
// there is for this program: the order of requests, whether they can be undone and
// what else the person is told, what has changed by name, and
// how and when a request was answered.
func TestTheTablesOfTheGate(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir(), secrets.NewProcessRing())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for table, want := range map[string]string{
		"requests": "request_id vault tool caller call_hash state_fp floor_reason summary preview candidates method mode negotiated fallback reason raised_at expires_at status" +
			" seq undo notes marks answered_at route",
		"grants":     "grant_id request_id token_hash route attested_by vault tool caller call_hash state_fp choice max_uses uses issued_at expires_at consumed_at released_at revoked_at",
		"executions": "execution_id grant_id call_hash tool vault caller attempt started_at finished_at outcome receipt",
	} {
		got := strings.Fields(found(t, s, "SELECT name FROM pragma_table_info('"+table+"')"))
		is, should := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(strings.Fields(want)))
		if !slices.Equal(is, should) {
			t.Errorf("%s has %q, not %q", table, is, should)
		}
	}
}

// Processes that open a state at the same time, before there is one, all can.
func TestAStateIsMadeByManyAtOnce(t *testing.T) {
	for range 20 {
		dir, ring := t.TempDir(), secrets.NewProcessRing()
		var all sync.WaitGroup
		barrier := make(chan struct{})
		for range 8 {
			all.Go(func() {
				<-barrier
				s, err := Open(t.Context(), dir, ring)
				if err != nil {
					t.Error(err)
					return
				}
				s.Close()
			})
		}
		close(barrier)
		all.Wait()
	}
}
