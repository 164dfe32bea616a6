package state

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/secrets"
	"vault-mcp/vault/change"
)

// What a program of an earlier layout kept is there after the step to the next.
func TestTheStateOfAnEarlierLayoutIsKept(t *testing.T) {
	dir := t.TempDir()
	text, short := []byte(strings.Repeat("a line that packs well\n", 100)), []byte("short\n")
	r := &change.Record{ID: change.NewID(), Tool: "t", Caller: "test", Edits: []change.Edit{change.NewPut("a.md", text, short)}, Began: time.Now()}
	today := migrations
	migrations = today[:1]
	old, err := Open(t.Context(), dir, nil)
	if err == nil {
		err = old.write(t.Context(), func(tx *transaction) error {
			err := tx.exec("INSERT INTO changes VALUES (1, ?, ?, ?, '', '', '', '', ?, 0, '', '', '', NULL)", r.ID, r.Tool, r.Caller, r.Began.UnixNano())
			return errors.Join(err, tx.edits(r), tx.keepAll(images(r.Edits)))
		})
	}
	migrations = today
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
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
