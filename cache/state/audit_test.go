package state

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/secrets"
	"vault-mcp/vault/change"
)

// site is a state with a ring of its own.
type site struct {
	*Store
	t    *testing.T
	dir  string
	ring *secrets.Ring
	now  time.Time
	was  int // calls of earlier lives
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	var err error
	if s.ring, err = secrets.Open(s.dir); err != nil {
		t.Fatal(err)
	}
	s.open(s.ring)
	return s
}

func (s *site) open(signer Signer) {
	s.t.Helper()
	store, err := Open(s.t.Context(), s.dir, signer)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Store = store
	s.At(func() time.Time { s.now = s.now.Add(time.Millisecond); return s.now })
	s.t.Cleanup(func() { store.Close() })
}

// copy is a site of its own that was closed with the same state.
func (s *site) copy(t *testing.T) *site {
	t.Helper()
	c := &site{t: t, dir: t.TempDir(), now: s.now, was: s.was}
	c.must(os.CopyFS(c.dir, os.DirFS(s.dir)))
	c.must(os.Chmod(filepath.Join(c.dir, "secrets"), 0o700))
	c.must(os.Chmod(filepath.Join(c.dir, "secrets", "ring.json"), 0o600))
	var err error
	c.ring, err = secrets.Open(c.dir)
	c.must(err)
	c.open(c.ring)
	return c
}

// must ends the test with an error.
func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) raise(n int) *hitl.Request {
	s.t.Helper()
	r := request(n)
	s.must(s.Requests().Raise(s.t.Context(), r))
	return r
}

func request(n int) *hitl.Request {
	return &hitl.Request{
		Bound: hitl.Bound{
			Vault: "main", Tool: "delete_note", Caller: "agent", Call: fingerprint.Call(fmt.Sprintf("call %d", n)),
			State: "kid.state",
		},
		Floor: "it removes something", Method: hitl.MethodCall, Mode: "form", Fallback: "none",
	}
}

func (s *site) approve(r *hitl.Request) *hitl.Grant {
	s.t.Helper()
	g, err := s.Requests().Approve(s.t.Context(), r.ID, hitl.Approval{Route: hitl.RouteConsole, By: "kim", Life: time.Minute})
	s.must(err)
	return g
}

// record is a change of a note, under a grant if there is one.
func (s *site) record(n int, r *hitl.Request, g *hitl.Grant) *change.Record {
	rec := &change.Record{
		ID: change.NewID(), Tool: "delete_note", Caller: "agent", Vault: "main", Call: fingerprint.Call(fmt.Sprintf("call %d", n)), Began: s.now,
		Edits: []change.Edit{change.NewPut(fmt.Sprintf("Folder/note %d.md", n), []byte("a secret of the note\n"), []byte("another\n"))},
	}
	if g != nil {
		rec.Permit = &change.Permit{Grant: g.ID, Vault: "main", State: r.State}
	}
	return rec
}

func (s *site) change(rec *change.Record, outcome change.Outcome) {
	s.t.Helper()
	s.must(s.Journal().Begin(s.t.Context(), rec))
	rec.Outcome, rec.Ended = outcome, s.now
	s.must(s.Journal().End(s.t.Context(), rec))
}

// life is some requests and changes of every kind: 21 rows.
func (s *site) life() {
	s.t.Helper()
	ctx := s.t.Context()
	q := s.Requests()
	n := s.was
	s.was += 10
	r := s.raise(n + 1)
	s.change(s.record(n+1, r, s.approve(r)), change.Applied) // 4
	r = s.raise(n + 2)
	s.change(s.record(n+2, r, s.approve(r)), change.NotApplied) // 9, with the release
	s.change(s.record(n+3, nil, nil), change.RolledBack)        // 11
	r = s.raise(n + 4)
	s.must(q.End(ctx, r.ID, hitl.Declined, hitl.RouteShim, hitl.Client, hitl.Open)) // 13
	r = s.raise(n + 5)
	s.must(q.End(ctx, r.ID, hitl.Abandoned, hitl.RouteCommand, "kim", hitl.Open)) // 15
	s.raise(n + 6)
	again := request(n + 6)
	again.State = "kid.other"
	s.must(q.Raise(ctx, again)) // 18
	s.must(s.Refused(ctx, AuditRow{Tool: "delete_note", Caller: "agent", Vault: "main", Code: "elicit_invalid", Reason: "used"}))
	s.change(s.record(n+7, nil, nil), change.Applied) // 21
}

const lifeRows = 21

func (s *site) sql(query string, args ...any) {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.dir, "state.db")+"?_pragma=busy_timeout(10000)")
	s.must(err)
	defer db.Close()
	_, err = db.Exec(query, args...)
	s.must(err)
}

func (s *site) verify() AuditReport {
	s.t.Helper()
	r, err := s.Verify(s.t.Context())
	s.must(err)
	return r
}

func TestEveryStepIsAudited(t *testing.T) {
	s := newSite(t)
	s.life()
	list, err := s.Audit(t.Context(), AuditFilter{})
	s.must(err)
	var got []string
	for i := range list {
		a := list[len(list)-1-i]
		line := fmt.Sprintf("%s %s %s%s%s", a.Kind, a.Outcome, a.Route, a.By, a.Reason)
		if a.Approval != nil {
			line += " approved by " + string(a.Approval.Route) + " " + a.Approval.By
		}
		if a.Did != "" {
			line += " led to " + a.Became
		}
		if len(a.Paths) > 0 {
			line += " " + strings.Join(a.Paths, ",")
		}
		if a.Tool != "delete_note" || a.Caller != "agent" || a.Vault != "main" {
			t.Errorf("%+v", a)
		}
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := `request request it removes something led to applied Folder/note 1.md
approved approved consolekim led to applied Folder/note 1.md
begin approved by console kim Folder/note 1.md
end applied approved by console kim Folder/note 1.md
request request it removes something led to not_applied Folder/note 2.md
approved approved consolekim led to not_applied Folder/note 2.md
begin approved by console kim Folder/note 2.md
end not_applied approved by console kim Folder/note 2.md
release not_applied approved by console kim Folder/note 2.md
begin Folder/note 3.md
end rolled_back Folder/note 3.md
request request it removes something
declined declined shimclient
request request it removes something
abandoned abandoned clikim
request request it removes something
superseded superseded drift
request request it removes something
refused refused used
begin Folder/note 7.md
end applied Folder/note 7.md`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	for _, tt := range []struct {
		f    AuditFilter
		rows int
	}{
		{AuditFilter{Tool: "write_note"}, 0},
		{AuditFilter{Caller: "agent"}, lifeRows},
		{AuditFilter{Outcome: "applied"}, 2},
		{AuditFilter{Path: "Folder/note 1.md"}, 4},
		{AuditFilter{Path: "Folder"}, 13},
		{AuditFilter{Path: "Fold"}, 0},
		{AuditFilter{Until: list[lifeRows-1].At}, 0},
		{AuditFilter{Since: list[0].At}, 3},
		{AuditFilter{Limit: 3}, 3},
	} {
		if list, err := s.Audit(t.Context(), tt.f); err != nil || len(list) != tt.rows {
			t.Errorf("%+v: %d rows, %v", tt.f, len(list), err)
		}
	}
}

func TestVerifyFindsWhatWasDoneToTheAudit(t *testing.T) {
	tests := []struct {
		name   string
		tamper func(s *site)
		want   string // "" is sound
	}{
		{"nothing", func(s *site) {}, ""},
		{"another process goes on", func(s *site) { s.open(s.ring); s.life() }, ""},
		{"a row is changed", func(s *site) { s.sql("UPDATE audit SET attested_by = 'kim' WHERE seq = 13") }, "Row 13 is not what it was"},
		{"the hash is changed as well", func(s *site) {
			s.sql("UPDATE audit SET attested_by = 'kim', hash = zeroblob(32) WHERE seq = 13")
		}, "Row 14 is not"},
		{"a text moves to the next column", func(s *site) {
			s.sql("UPDATE audit SET tool = 'delete_not', caller = 'eagent' WHERE seq = 4")
		}, "Row 4 is not"},
		{"a row is removed", func(s *site) { s.sql("DELETE FROM audit WHERE seq = 12") }, "Row 12 is missing"},
		{"the first is removed", func(s *site) { s.sql("DELETE FROM audit WHERE seq = 1") }, "Row 1 is missing"},
		{"rows are removed and numbered anew", func(s *site) {
			s.sql("DELETE FROM audit WHERE seq = 12; UPDATE audit SET seq = seq - 1 WHERE seq > 12")
		}, "Row 12 is not"},
		{"two are swapped", func(s *site) {
			s.sql("UPDATE audit SET seq = 100 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = 4; UPDATE audit SET seq = 4 WHERE seq = 100")
		}, "Row 3 is not"},
		{"the end is cut off", func(s *site) { s.sql("DELETE FROM audit WHERE seq > 19") }, "Rows 20 to 21 are missing"},
		{"everything is cut off", func(s *site) { s.sql("DELETE FROM audit") }, "Rows 1 to 21 are missing"},
		{"the end is cut off, and the head made to fit", func(s *site) {
			s.sql("DELETE FROM audit WHERE seq > 19; UPDATE audit_head SET seq = 19, hash = (SELECT hash FROM audit WHERE seq = 19)")
		}, "not signed by this server"},
		{"an older head is put back with its signature", func(s *site) {
			s.sql("CREATE TABLE kept AS SELECT * FROM audit_head")
			s.life()
			s.sql("DELETE FROM audit WHERE seq > 21; DELETE FROM audit_head; INSERT INTO audit_head SELECT * FROM kept; DROP TABLE kept")
		}, "is not in the audit"},
		{"the head is removed", func(s *site) { s.sql("DELETE FROM audit_head") }, "it is missing"},
		{"all is removed", func(s *site) { s.sql("DELETE FROM audit; DELETE FROM audit_head") }, "it is missing"},
		{"the head is of another server", func(s *site) {
			h := auditHead{}
			s.must(s.read(s.t.Context(), func(tx *transaction) (err error) { h, err = tx.head(); return err }))
			s.sql("UPDATE audit_head SET mac = ?", secrets.NewProcessRing().Sign(auditLabel, h.message()))
		}, "not signed by this server"},
		{"a row is added", func(s *site) {
			s.sql("INSERT INTO audit SELECT 22, at, kind, tool, caller, vault, call_hash, request_id, grant_id, change_id, route, attested_by, outcome, code, reason, hash FROM audit WHERE seq = 2")
		}, "there are rows up to 22"},
		{"a row is no row", func(s *site) { s.sql("UPDATE audit SET at = 'never' WHERE seq = 5") }, "cannot be read"},
	}
	lived := newSite(t)
	lived.life()
	lived.must(lived.Close())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := lived.copy(t)
			tt.tamper(s)
			r := s.verify()
			if tt.want == "" {
				if len(r.Faults) > 0 || r.First != 1 || r.Last != r.Rows {
					t.Errorf("%+v", r)
				}
				return
			}
			if !strings.Contains(strings.Join(r.Faults, "\n"), tt.want) {
				t.Errorf("got %q, want %q", r.Faults, tt.want)
			}
		})
	}
}

// What was done to a head is not covered by signing it anew with the next row.
func TestTheNextRowHidesNoForgedHead(t *testing.T) {
	for name, tamper := range map[string]string{
		"cut":     "DELETE FROM audit WHERE seq > 19; UPDATE audit_head SET seq = 19, hash = (SELECT hash FROM audit WHERE seq = 19)",
		"removed": "DELETE FROM audit_head",
		"emptied": "DELETE FROM audit; DELETE FROM audit_head",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.life()
			s.sql(tamper)
			s.raise(100)
			if r := s.verify(); !strings.Contains(strings.Join(r.Faults, "\n"), "behind a head that this server had not signed") {
				t.Errorf("%q", r.Faults)
			}
		})
	}
}

func TestAnAuditThatCannotBeWrittenStopsWhatItTells(t *testing.T) {
	s := newSite(t)
	r := s.raise(1)
	declined := s.raise(2)
	g := s.approve(s.raise(3))
	s.sql("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END")
	check := func(what string) {
		t.Helper()
		ctx, q := t.Context(), s.Requests()
		if g, err := q.Approve(ctx, r.ID, hitl.Approval{Route: hitl.RouteConsole, By: "kim", Life: time.Minute}); err == nil {
			t.Errorf("%s: approved: %+v", what, g)
		}
		if err := q.Raise(ctx, request(4)); err == nil {
			t.Errorf("%s: raised", what)
		}
		if err := q.End(ctx, declined.ID, hitl.Declined, hitl.RouteShim, hitl.Client, hitl.Open); err == nil {
			t.Errorf("%s: declined", what)
		}
		rec := s.record(3, &hitl.Request{Bound: hitl.Bound{State: "kid.state"}}, g)
		if err := s.Journal().Begin(ctx, rec); err == nil {
			t.Errorf("%s: begun", what)
		}
		for id, want := range map[string]hitl.Status{r.ID: hitl.Open, declined.ID: hitl.Open, g.RequestID: hitl.Approved} {
			if r, _, err := q.Find(ctx, id); err != nil || r.Status != want {
				t.Errorf("%s: %+v, %v, want %s", what, r, err, want)
			}
		}
		if open, err := s.Journal().Open(ctx); err != nil || len(open) > 0 {
			t.Errorf("%s: %d changes, %v", what, len(open), err)
		}
	}
	check("full")
	s.sql("DROP TRIGGER full")
	ring := s.ring
	s.open(nil)
	check("without a signer")
	if err := s.Requests().Raise(t.Context(), request(5)); !errors.Is(err, ErrNoSigner) {
		t.Error(err)
	}
	s.open(ring)
	s.approve(r)
	if r := s.verify(); len(r.Faults) > 0 {
		t.Error(r.Faults)
	}
}

func TestPruningLeavesAChainThatHolds(t *testing.T) {
	s := newSite(t)
	prune := func(age time.Duration, rows int64) {
		t.Helper()
		s.must(s.write(t.Context(), func(tx *transaction) error { return tx.pruneAudit(s.now, age, rows) }))
	}
	s.life()
	s.now = s.now.Add(time.Hour)
	s.life()
	prune(time.Minute, 1000)
	if r := s.verify(); len(r.Faults) > 0 || r.First != lifeRows+1 || r.Rows != lifeRows {
		t.Errorf("%+v", r)
	}
	prune(time.Minute, 5)
	if r := s.verify(); len(r.Faults) > 0 || r.Rows != 5 {
		t.Errorf("%+v", r)
	}
	s.life()
	if r := s.verify(); len(r.Faults) > 0 || r.Rows != 5+lifeRows {
		t.Errorf("%+v", r)
	}
	s.sql("DELETE FROM audit WHERE seq = (SELECT min(seq) FROM audit)")
	if r := s.verify(); len(r.Faults) == 0 {
		t.Error("a row that was removed behind what was pruned")
	}
	s.sql("UPDATE audit_head SET from_seq = from_seq + 1, from_hash = (SELECT hash FROM audit ORDER BY seq LIMIT 1)")
	if r := s.verify(); len(r.Faults) == 0 {
		t.Error("a checkpoint that was moved")
	}
	s = newSite(t)
	s.life()
	s.now = s.now.Add(time.Hour)
	prune(time.Minute, 1000)
	if r := s.verify(); len(r.Faults) > 0 || r.Rows != 0 {
		t.Errorf("%+v", r)
	}
	s.life()
	if r := s.verify(); len(r.Faults) > 0 || r.First != lifeRows+1 {
		t.Errorf("%+v", r)
	}
}

// A ring that turns signs with another key; one that is lost is told.
func TestTheAuditOutlivesTurnsOfTheRing(t *testing.T) {
	s := newSite(t)
	s.life()
	s.must(os.RemoveAll(filepath.Join(s.dir, "secrets")))
	other, err := secrets.Open(s.dir)
	s.must(err)
	s.open(other)
	if r := s.verify(); len(r.Faults) != 1 || !strings.Contains(r.Faults[0], secrets.ErrUnknownKey.Error()) {
		t.Errorf("%q", r.Faults)
	}
	s.life()
	if r := s.verify(); len(r.Faults) != 1 || r.Rows != 2*lifeRows+1 {
		t.Errorf("%+v", r)
	}
}

func TestNoTextOfANoteIsAudited(t *testing.T) {
	s := newSite(t)
	s.life()
	for _, col := range strings.Split(auditColumns, ", ") {
		var n int
		err := s.read(t.Context(), func(tx *transaction) error {
			return tx.row("SELECT count(*) FROM audit WHERE " + col + " LIKE '%secret of the note%'").Scan(&n)
		})
		if err != nil || n > 0 {
			t.Errorf("%s: %d, %v", col, n, err)
		}
	}
}

// commits counts the transactions in the write-ahead log.
func commits(tb testing.TB, dir string) (n int) {
	tb.Helper()
	wal, err := os.ReadFile(filepath.Join(dir, "state.db-wal"))
	if err != nil || len(wal) < 32 {
		tb.Fatal(len(wal), err)
	}
	page := int(binary.BigEndian.Uint32(wal[8:]))
	for at := 32; at+24+page <= len(wal); at += 24 + page {
		frame := wal[at:]
		if bytes.Equal(frame[8:16], wal[16:24]) && binary.BigEndian.Uint32(frame[4:]) != 0 { // of this log, and the last of its transaction
			n++
		}
	}
	return n
}

// oneNote is a change of one note that needs nobody.
func oneNote(tb testing.TB, s *Store) {
	rec := &change.Record{ID: change.NewID(), Tool: "write_note", Caller: "agent", Vault: "main", Began: time.Now(), Ended: time.Now()}
	rec.Edits = []change.Edit{change.NewPut("a.md", []byte("one\n"), []byte("two\n"))}
	err := s.Journal().Begin(tb.Context(), rec)
	if err == nil {
		rec.Outcome = change.Applied
		err = s.Journal().End(tb.Context(), rec)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// The rows of a change are in the two transactions that it has anyway.
func TestTheAuditCostsNoTransaction(t *testing.T) {
	s := newSite(t)
	before := commits(t, s.dir)
	oneNote(t, s.Store)
	if n := commits(t, s.dir) - before; n != 2 {
		t.Errorf("%d transactions", n)
	}
	if r := s.verify(); r.Rows != 2 {
		t.Errorf("%d rows", r.Rows)
	}
}

func BenchmarkChange(b *testing.B) {
	s, err := Open(b.Context(), b.TempDir(), secrets.NewProcessRing())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		oneNote(b, s)
	}
}

// Who listens hears of what is on the disk, and of nothing that was not kept.
func TestWhatIsAuditedIsToldOnce(t *testing.T) {
	s := newSite(t)
	var told []string
	s.Tell(func(rows []AuditRow) {
		for _, r := range rows {
			told = append(told, string(r.Kind))
		}
	})
	r := s.raise(1)
	s.change(s.record(1, r, s.approve(r)), change.NotApplied)
	if _, err := s.Requests().Approve(t.Context(), "none", hitl.Approval{Route: hitl.RouteConsole}); !errors.Is(err, hitl.ErrNoRequest) {
		t.Fatal(err)
	}
	s.sql("CREATE TRIGGER full BEFORE UPDATE ON requests BEGIN SELECT RAISE(ABORT, 'full'); END")
	if err := s.Requests().End(t.Context(), r.ID, hitl.Abandoned, "", "", hitl.Approved); err == nil {
		t.Fatal("it was kept")
	}
	if got := strings.Join(told, " "); got != "request approved begin end release" {
		t.Error(got)
	}
}
