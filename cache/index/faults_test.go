package index

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/racing"
)

// soak runs the random faults for longer.
var soak = flag.Bool("soak", false, "do ten times as many random faults")

// many is how often a random fault is tried.
func many(n int) int {
	if *soak {
		return 10 * n
	}
	return n
}

// settled waits until an index answers, text and all.
func settled(t testing.TB, ix *Index) {
	t.Helper()
	eventually(t, "the index answers", func() bool {
		return ix.ReadText(context.Background(), func(*Model, *Text) error { return nil }) == nil
	})
}

// atRest moves all that was written into the database, and leaves no log.
func (h *home) atRest() []byte {
	h.t.Helper()
	s, err := openStore(h.t.Context(), databasePath(h.state), "")
	must(h.t, err)
	_, err = s.conn.ExecContext(h.t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
	must(h.t, err)
	s.close()
	b, err := os.ReadFile(databasePath(h.state))
	must(h.t, err)
	return b
}

// crowd is a vault in which everything that an index keeps has many rows.
func crowd(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("N%d.md", i)] = fmt.Sprintf("---\naliases: [al%d]\n---\n[[X%d]] #t%d word%d %s", i, i, i%7, i%50, strings.Repeat("a b c ", 50))
	}
	return files
}

// What a disk gives back wrong must be noticed: no page of SQLite has a
// checksum, and one wrong byte in the middle of a row is a wrong answer.
func TestWrongBytesInTheIndexGiveNoWrongAnswer(t *testing.T) {
	racing.Skips(t)
	h := newHome(t, crowd(200))
	ix := h.ready(Options{Sweep: -1, NoWatch: true})
	must(t, os.Remove(h.path("N7.md"))) // a path that is remembered
	must(t, ix.Changed(t.Context(), []string{"N7.md"}))
	want := dump(t, ix)
	ix.Close()
	good := h.atRest()
	r := rand.New(rand.NewPCG(3, 5))
	noticed := 0
	for round := range many(40) {
		b := bytes.Clone(good)
		n := 1 + r.IntN(1+r.IntN(64))
		at := r.IntN(len(b) - n)
		for i := range n {
			b[at+i] ^= byte(1 + r.IntN(255))
		}
		for _, suffix := range []string{"-wal", "-shm"} {
			os.Remove(databasePath(h.state) + suffix)
		}
		must(t, os.WriteFile(databasePath(h.state), b, 0o600))
		ix := h.open(Options{Sweep: -1, NoWatch: true})
		settled(t, ix)
		if ix.Status(nil).Warning != "" {
			noticed++
		}
		if diff := cmp.Diff(want, dump(t, ix)); diff != "" {
			t.Errorf("round %d, %d bytes at %d of %d (-want +got):\n%s", round, n, at, len(b), diff)
		}
		ix.Close()
	}
	if noticed == 0 {
		t.Error("nothing was ever damaged")
	}
}

// The same after a server was killed, for what it had not moved from its log.
func TestWrongBytesInTheLogGiveNoWrongAnswer(t *testing.T) {
	h := newHome(t, crowd(100))
	other := h.server(t)
	other.answers("status", "ready true")
	for i := range 20 {
		h.write(fmt.Sprintf("L%d.md", i), fmt.Sprintf("[[X]] late word%d", i))
		other.ask(fmt.Sprintf("changed L%d.md", i))
	}
	other.kill()
	path := databasePath(h.state)
	good := map[string][]byte{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		b, err := os.ReadFile(path + suffix)
		must(t, err)
		good[suffix] = b
	}
	fresh := (&home{t, h.dir, t.TempDir()}).ready(Options{Sweep: -1, NoWatch: true})
	want := dump(t, fresh)
	r := rand.New(rand.NewPCG(8, 13))
	for round := range many(20) {
		for suffix, b := range good {
			b = bytes.Clone(b)
			if n := 1 + r.IntN(64); suffix != "" && r.IntN(2) == 0 {
				at := r.IntN(len(b) - n)
				for i := range n {
					b[at+i] ^= byte(1 + r.IntN(255))
				}
			} else if suffix == "-wal" {
				b = b[:r.IntN(len(b))]
			}
			must(t, os.WriteFile(path+suffix, b, 0o600))
		}
		ix := h.open(Options{Sweep: -1, NoWatch: true})
		settled(t, ix)
		if diff := cmp.Diff(want, dump(t, ix)); diff != "" {
			t.Errorf("round %d (-want +got):\n%s", round, diff)
		}
		ix.Close()
	}
}

// Rows that are lost as a whole have no checksum that is wrong.
func TestLostRowsOfTheIndexGiveNoWrongAnswer(t *testing.T) {
	racing.Skips(t)
	for _, loss := range []string{
		"DELETE FROM texts WHERE id % 3 = 1", "DELETE FROM files WHERE id % 3 = 1", "DELETE FROM files WHERE id > 40", "DELETE FROM files",
		"DELETE FROM words", "DELETE FROM meta",
		"DROP TABLE texts", "UPDATE files SET path = NULL WHERE id % 3 = 1", "UPDATE files SET size = 'large'",
		"UPDATE files SET hash = (SELECT hash FROM files WHERE id = 1)", "UPDATE files SET mtime = 0", "UPDATE meta SET words = words - 1",
		"UPDATE meta SET rev = 0", "UPDATE words SET list = CAST('al' || char(0) AS BLOB)", "ALTER TABLE files RENAME COLUMN facts TO fact",
	} {
		t.Run(loss, func(t *testing.T) {
			h := newHome(t, crowd(50))
			ix := h.ready(Options{Sweep: -1, NoWatch: true})
			want := dump(t, ix)
			ix.Close()
			s, err := openStore(t.Context(), databasePath(h.state), "")
			must(t, err)
			_, err = s.conn.ExecContext(t.Context(), loss)
			must(t, err)
			s.close()
			ix = h.open(Options{Sweep: -1, NoWatch: true})
			settled(t, ix)
			wants(t, "answers", want, dump(t, ix))
		})
	}
}

// While queries run, too: what is read later, as the text is, may be damaged
// when the rest is in memory already.
func TestAnIndexDamagedWhileItIsUsedHeals(t *testing.T) {
	h := newHome(t, crowd(50))
	var told atomic.Int32
	ix := h.ready(Options{Sweep: -1, NoWatch: true, Report: func(err error) {
		if damaged(err) {
			told.Add(1)
		}
	}})
	s, err := openStore(t.Context(), databasePath(h.state), "")
	must(t, err)
	_, err = s.conn.ExecContext(t.Context(), "UPDATE texts SET vector = x'0102'")
	must(t, err)
	s.close()
	settled(t, ix)
	other := (&home{t, h.dir, t.TempDir()}).ready(Options{Sweep: -1, NoWatch: true})
	wants(t, "answers", dump(t, other), dump(t, ix))
	if told.Load() != 1 {
		t.Errorf("it was told %d times", told.Load())
	}
}

// In the place of each file of the state folder stands something else.
func TestWhatIsNoFileInTheStateFolderIsNeitherFollowedNorOpened(t *testing.T) {
	for what, put := range map[string]func(t *testing.T, path, outside string){
		"a folder": func(t *testing.T, path, _ string) { must(t, os.MkdirAll(filepath.Join(path, "in"), 0o700)) },
		"a pipe":   func(t *testing.T, path, _ string) { fifo(t, path) },
		"a link":   func(t *testing.T, path, outside string) { must(t, os.Symlink(outside, path)) },
		"a link to a file": func(t *testing.T, path, outside string) {
			must(t, os.WriteFile(outside, nil, 0o600))
			must(t, os.Symlink(outside, path))
		},
	} {
		for _, name := range []string{"", "-wal", "-shm", "index.lock"} {
			t.Run(what+" "+name, func(t *testing.T) {
				t.Parallel()
				outside := filepath.Join(t.TempDir(), "outside")
				h := newHome(t, map[string]string{"A.md": "[[X]]"})
				path := databasePath(h.state) + name
				if name == "index.lock" {
					path = filepath.Join(h.state, name)
				}
				put(t, path, outside)
				if _, err := os.Lstat(path); err != nil {
					t.Skip("there are no pipes here")
				}
				var told atomic.Int32
				ix := h.open(Options{Sweep: -1, Report: func(error) { told.Add(1) }})
				eventually(t, "it says so", func() bool { return ix.Status(nil).Phase == Degraded })
				if r := ix.Status(nil).Reason; !strings.HasSuffix(r, "remove it") {
					t.Errorf("reason: %q", r)
				}
				if err := ix.Read(t.Context(), nil); !errors.Is(err, ErrNotReady) {
					t.Errorf("Read: %v", err)
				}
				if b, err := os.ReadFile(outside); err == nil && len(b) > 0 || err == nil && what == "a link" {
					t.Errorf("the link was followed: %d bytes", len(b))
				}
				must(t, os.RemoveAll(path))
				eventually(t, "it recovers", func() bool { return ix.Status(nil).Phase == Ready })
				wants(t, "linking", []string{"A.md"}, linking(t, ix, "X"))
				if told.Load() != 2 {
					t.Errorf("it was told %d times", told.Load())
				}
			})
		}
	}
}

// A file of the state folder vanishes, or all of them, while the index is used.
func TestWhatVanishesFromTheStateFolderIsMadeAgain(t *testing.T) {
	for _, name := range []string{"", "-wal", "-shm", "folder"} {
		t.Run("index"+name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, map[string]string{"A.md": "[[X]]"})
			ix := h.ready(Options{Sweep: -1, Folder: func() error { return os.MkdirAll(h.state, 0o700) }})
			if name == "folder" {
				must(t, os.RemoveAll(h.state))
			} else if err := os.Remove(databasePath(h.state) + name); err != nil {
				t.Skip(err) // Windows keeps what is open
			}
			h.write("B.md", "[[X]]")
			must(t, ix.Changed(t.Context(), []string{"B.md"}))
			eventually(t, "the files are there again", func() bool {
				for _, suffix := range []string{"", "-wal", "-shm"} {
					if _, err := os.Lstat(databasePath(h.state) + suffix); err != nil {
						return false
					}
				}
				return true
			})
			eventually(t, "it answers", func() bool { return ix.Read(t.Context(), func(*Model) error { return nil }) == nil })
			wants(t, "linking", []string{"A.md", "B.md"}, linking(t, ix, "X"))
			// Another server sees the same.
			other := h.server(t)
			other.answers("status", "ready false")
			if got := other.ask("links X"); got != "A.md B.md" {
				t.Errorf("another server reads %q", got)
			}
		})
	}
}

// A disk that damages everything that is written to it is tried again and
// again, but not as fast as possible.
func TestAnIndexThatCannotHealIsNotTriedAllTheTime(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	var opened atomic.Int32
	h.open(Options{Sweep: -1, Folder: func() error {
		opened.Add(1)
		os.Remove(databasePath(h.state) + "-wal")
		return os.WriteFile(databasePath(h.state), bytes.Repeat([]byte("no database "), 1000), 0o600)
	}})
	eventually(t, "it is tried again", func() bool { return opened.Load() >= 2 })
	time.Sleep(1500 * time.Millisecond)
	if n := opened.Load(); n > 4 {
		t.Errorf("it was tried %d times", n)
	}
}

// Of two servers that find the same damage, one begins anew.
func TestADamagedIndexIsNotSetAsideTwice(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	h.ready(quietly).Close()
	path := databasePath(h.state)
	s, err := openStore(t.Context(), path, "")
	must(t, err)
	v := h.open(quietly) // which makes the file that takes the place
	eventually(t, "it is ready", func() bool { return v.Status(nil).Phase == Ready })
	v.Close()
	must(t, setAside(path))
	must(t, os.WriteFile(path, []byte("new"), 0o600))
	ix := &Index{dir: h.state, turn: make(chan struct{}, 1), store: s}
	if !ix.detach() {
		t.Error("the new file is taken for the damaged one")
	}
}

// An editor, or a program that syncs, may write all the time.
func TestConstantChangesDoNotHideThatTheIndexIsGone(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	ix := h.ready(quietly)
	if !ix.Status(nil).Watching {
		t.Skip("the system reports no changes")
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				os.WriteFile(h.path("Busy.md"), fmt.Appendf(nil, "%d", i), 0o600)
			}
		}
	}()
	defer func() { close(stop); <-done }()
	must(t, os.Remove(databasePath(h.state)))
	eventually(t, "it is there again", func() bool {
		_, err := os.Stat(databasePath(h.state))
		return err == nil
	})
}

// A change that could not be taken in keeps the index from answering, whatever
// else becomes complete meanwhile.
func TestAnIndexThatOwesAChangeIsNotReady(t *testing.T) {
	var s state
	s.moved = make(chan struct{})
	s.set(Loading, nil)
	s.owe([]string{"A.md"})
	if s.ready(); s.phase != Loading {
		t.Errorf("phase: %s", s.phase)
	}
	wants(t, "owed", []string{"A.md"}, s.settleOwed())
	if s.ready(); s.phase != Ready {
		t.Errorf("phase: %s", s.phase)
	}
}

// Reasons are for a person: what is wrong and, if that is not plain, what to do.
func TestReasonsHaveNoPathOfTheMachine(t *testing.T) {
	for _, err := range []error{
		plain(t.TempDir()), &os.PathError{Op: "open", Path: t.TempDir(), Err: os.ErrPermission}, errors.New(t.TempDir()),
	} {
		if r := Reason(err); strings.Contains(r, os.TempDir()) || slices.Contains([]string{"", err.Error()}, r) {
			t.Errorf("%v: %q", err, r)
		}
	}
}
