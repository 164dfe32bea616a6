package state_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault/change"
)

// made lets the journal believe that a change was made.
func made(t *testing.T, s *state.Store, at time.Time, edits ...change.Edit) *change.Record {
	t.Helper()
	r := &change.Record{ID: change.NewID(), Tool: "t", Caller: "test", Began: at, Edits: edits}
	if err := s.Journal().Begin(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Outcome, r.Ended = change.Applied, at
	if err := s.Journal().End(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

func put(path, old, now string) change.Edit { return change.NewPut(path, []byte(old), []byte(now)) }

func move(from, to string, dir bool) change.Edit {
	return change.Edit{Kind: change.Move, Path: from, To: to, Dir: dir}
}

func TestVersionsFollowANoteToItsNewPath(t *testing.T) {
	s := openState(t, t.TempDir())
	now := time.Now()
	first := made(t, s, now, put("Ä/old.md", "1", "2"))
	made(t, s, now, move("Ä/old.md", "Ä/new.md", false))
	made(t, s, now, put("Ä/new.md", "2", "3"))
	made(t, s, now, move("Ä", "B/C", true))
	list, err := s.Snapshots(t.Context(), "B/C/new.md", 0, 10)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	_, text, err := s.Snapshot(t.Context(), list[1].ID)
	if err != nil || string(text) != "1" {
		t.Errorf("%q, %v", text, err)
	}
	n, err := s.Change(t.Context(), first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := s.Now(t.Context(), "Ä/old.md", n.Seq); err != nil || at != "B/C/new.md" {
		t.Errorf("%q, %v", at, err)
	}
	var about []string
	err = s.Changes(t.Context(), 0, "Ä/new.md", func(n state.Numbered) bool {
		about = append(about, n.Edits[0].Kind.String())
		return true
	})
	if err != nil || !slices.Equal(about, []string{"move", "put", "move"}) {
		t.Errorf("%q, %v", about, err)
	}
}

func TestOldVersionsAreDroppedButNeverTheLast(t *testing.T) {
	s := openState(t, t.TempDir())
	now := time.Now()
	old := now.Add(-100 * 24 * time.Hour)
	for i := range 10 {
		made(t, s, old, put("a.md", fmt.Sprint("a", i), fmt.Sprint("a", i+1)))
	}
	only := made(t, s, old, put("b.md", "b1", "b2"))
	made(t, s, now, put("c.md", "c1", "c2"))
	keep := func(r state.Retention, want map[string]int) {
		t.Helper()
		if err := s.Prune(t.Context(), r, now); err != nil {
			t.Fatal(err)
		}
		for path, n := range want {
			list, err := s.Snapshots(t.Context(), path, 0, 100)
			if err != nil || len(list) != n {
				t.Errorf("%s has %d versions, not %d: %v", path, len(list), n, err)
			}
			for _, sn := range list {
				if _, _, err := s.Snapshot(t.Context(), sn.ID); err != nil {
					t.Errorf("%s: version %d: %v", path, sn.ID, err)
				}
			}
		}
	}
	day := 24 * time.Hour
	keep(state.Retention{Versions: 50, Age: 90 * day, Bytes: 1 << 30}, map[string]int{"a.md": 10, "b.md": 1, "c.md": 1})
	keep(state.Retention{Versions: 1, Age: 200 * day, Bytes: 1 << 30}, map[string]int{"a.md": 10})
	keep(state.Retention{Versions: 3, Age: 90 * day, Bytes: 1 << 30}, map[string]int{"a.md": 3, "b.md": 1, "c.md": 1})
	keep(state.Retention{Versions: 3, Age: 90 * day, Bytes: 0}, map[string]int{"a.md": 1, "b.md": 1, "c.md": 1})
	if n, err := s.Change(t.Context(), only.ID); err != nil || string(n.Edits[0].Old) != "b1" || n.Edits[0].Content != nil {
		t.Errorf("%+v, %v", n.Edits, err)
	}
}

func TestContentIsKeptOnceAndReadBackWhole(t *testing.T) {
	s := openState(t, t.TempDir())
	for _, text := range []string{"", "short", strings.Repeat("long and dull ", 10_000), string([]byte{0, 1, 2, 0xff})} {
		sn, err := s.Keep(t.Context(), "a.md", []byte(text), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Keep(t.Context(), "a.md", []byte(text), time.Now())
		if err != nil || again.ID != sn.ID {
			t.Errorf("kept twice: %d %d %v", sn.ID, again.ID, err)
		}
		if _, got, err := s.Snapshot(t.Context(), sn.ID); err != nil || string(got) != text || sn.Hash != fingerprint.OfContent([]byte(text)) {
			t.Errorf("%.20q: %.20q, %v", text, got, err)
		}
	}
}

func TestTwoProcessesShareTheState(t *testing.T) {
	dir := t.TempDir()
	a, b := openState(t, dir), openState(t, dir)
	release, err := a.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := b.TryLock(); ok {
		t.Error("two hold the lock")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := b.Lock(ctx); err == nil {
		t.Error("two hold the lock")
	}
	release()
	release, err = b.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	r := made(t, a, time.Now(), put("a.md", "1", "2"))
	if n, err := b.Change(t.Context(), r.ID); err != nil || n.Outcome != change.Applied {
		t.Errorf("%+v %v", n, err)
	}
}

// Listing changes must not look through all of them for each.
func TestWhatUndoesAChangeIsFoundByAnIndex(t *testing.T) {
	dir := t.TempDir()
	s := openState(t, dir)
	made(t, s, time.Now(), put("a.md", "1", "2"))
	db, err := sql.Open("sqlite", filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var id, parent, unused int
	var plan string
	err = db.QueryRow("EXPLAIN QUERY PLAN SELECT id FROM changes WHERE undoes = ? AND undoes <> '' AND outcome = ? ORDER BY seq LIMIT 1", "x", "applied").Scan(&id, &parent, &unused, &plan)
	if err != nil || !strings.Contains(plan, "changes_undoes") {
		t.Errorf("%q, %v", plan, err)
	}
}

// What each edit replaced is a version where the note was then, and goes where
// the note went within the same change: in the order of the edits.
func TestVersionsOfOneChangeAreThoseOfItsSteps(t *testing.T) {
	s := openState(t, t.TempDir())
	absent := change.NewRemove("never.md", nil)
	absent.Before = fingerprint.Content{}
	large := put("large.bin", "unused", "small")
	large.Old = nil // as it was not read
	trashed := change.NewRemove("trashed.md", []byte("t"))
	trashed.To = ".trash/trashed.md"
	made(t, s, time.Now(),
		put("a.md", "1", "2"), put("other.md", "o", "p"), move("a.md", "b.md", false), put("b.md", "2", "3"), put("b.md", "3", "4"),
		move("b.md", "c/d.md", false), put("a.md", "new", "newer"), change.NewRemove("gone.md", []byte("g")), absent, large, trashed,
		change.NewCreate("made.md", []byte("m")),
	)
	for path, want := range map[string][]string{
		"c/d.md": {"3", "2", "1"}, "a.md": {"new"}, "other.md": {"o"}, "gone.md": {"g"}, "b.md": nil, "never.md": nil,
		"large.bin": nil, "trashed.md": nil, "made.md": nil,
	} {
		list, err := s.Snapshots(t.Context(), path, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, sn := range list {
			of, text, err := s.Snapshot(t.Context(), sn.ID)
			if err != nil || of.Size != int64(len(text)) || of.Change == "" {
				t.Errorf("%+v: %q, %v", of, text, err)
			}
			got = append(got, string(text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the versions %q, not %q", path, got, want)
		}
	}
}
