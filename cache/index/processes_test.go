package index

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"vault-mcp/vault"
	"vault-mcp/vault/link"
)

var overflow = fsnotify.ErrEventOverflow

// TestMain runs the test binary again as another server of a vault.
func TestMain(m *testing.M) {
	if dir := os.Getenv("INDEX_TEST_VAULT"); dir != "" {
		serve(dir, os.Getenv("INDEX_TEST_STATE"))
		return
	}
	os.Exit(m.Run())
}

// serve answers lines: "links NAME" with the notes that link to it, "changed
// PATH" after taking in a change, "hold" when it holds the index for as long as it
// lives, "status" with the phase and who indexes.
func serve(dir, state string) {
	ctx := context.Background()
	v, err := vault.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	ix := Open(v, state, Options{Sweep: -1})
	ix.Start(ctx)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		what, arg, _ := strings.Cut(in.Text(), " ")
		switch what {
		case "links":
			err := ix.Read(ctx, func(m *Model) error {
				fmt.Println(strings.Join(m.named(m.Linking(link.KeysOf(arg)...)), " "))
				return nil
			})
			if err != nil {
				fmt.Println(err)
			}
		case "changed":
			fmt.Println("changed", ix.Changed(ctx, []string{arg}))
		case "hold":
			_, err := ix.Hold(ctx)
			fmt.Println("held", err)
		case "status":
			s := ix.Status(nil)
			fmt.Println(s.Phase, s.Indexer)
		}
	}
	ix.Close()
}

// server is another process.
type server struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func (h *home) server(t *testing.T) *server {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "INDEX_TEST_VAULT="+h.dir, "INDEX_TEST_STATE="+h.state)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	s := &server{t, cmd, in, bufio.NewScanner(out)}
	t.Cleanup(func() { s.kill() })
	return s
}

func (s *server) ask(line string) string {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.in, line); err != nil {
		s.t.Fatal(err)
	}
	if !s.out.Scan() {
		s.t.Fatalf("no answer to %q: %v", line, s.out.Err())
	}
	return s.out.Text()
}

func (s *server) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

func (s *server) answers(line, want string) {
	s.t.Helper()
	got := ""
	eventually(s.t, fmt.Sprintf("%q is answered with %q", line, want), func() bool {
		got = s.ask(line)
		return got == want
	})
}

func TestSeveralServersOnOneVault(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	first := h.server(t)
	first.answers("status", "ready true")
	second, third := h.server(t), h.ready(quietly)
	second.answers("status", "ready false")
	if third.Status(nil).Indexer {
		t.Error("two processes index")
	}

	// Each reads its own writes, and those of the others, without an event.
	h.write("B.md", "[[X]]")
	if got := second.ask("changed B.md"); got != "changed <nil>" {
		t.Error(got)
	}
	if got := second.ask("links X"); got != "A.md B.md" {
		t.Errorf("the second server reads %q", got)
	}
	wants(t, "the third", []string{"A.md", "B.md"}, linking(t, third, "X"))
	if got := first.ask("links X"); got != "A.md B.md" {
		t.Errorf("the indexer reads %q", got)
	}
	must(t, os.Rename(h.path("B.md"), h.path("C.md")))
	must(t, third.Changed(t.Context(), []string{"B.md", "C.md"}))
	if got := second.ask("links X"); got != "A.md C.md" {
		t.Errorf("the second server reads %q", got)
	}

	// What nobody tells of is found by the indexer, and seen by all.
	h.write("D.md", "[[X]] unheard")
	second.answers("links X", "A.md C.md D.md")
	must(t, third.ReadText(t.Context(), func(m *Model, x *Text) error {
		if n := len(x.Index.Whole("unheard", x.Index.View(func(uint32) bool { return true }))); n != 1 {
			t.Errorf("the text is found %d times", n)
		}
		return nil
	}))

	// The indexer dies: another one takes its place.
	first.kill()
	eventually(t, "another process indexes", func() bool {
		return third.Status(nil).Indexer != (second.ask("status") == "ready true")
	})
	h.write("E.md", "[[X]]")
	second.answers("links X", "A.md C.md D.md E.md")
	eventually(t, "the third sees it", func() bool { return len(linking(t, third, "X")) == 4 })
}

func TestServersWriteAtTheSameTime(t *testing.T) {
	h := newHome(t, nil)
	servers := []*server{h.server(t), h.server(t)}
	own := h.ready(quietly)
	for _, s := range servers {
		eventually(t, "it is ready", func() bool { return strings.HasPrefix(s.ask("status"), "ready") })
	}
	for round := range 40 {
		for i, s := range servers {
			p := fmt.Sprintf("S%d-%d.md", i, round)
			h.write(p, fmt.Sprintf("[[X]] only%dx%d", i, round))
			fmt.Fprintln(s.in, "changed "+p)
		}
		p := fmt.Sprintf("Own-%d.md", round)
		h.write(p, fmt.Sprintf("[[X]] mine%d", round))
		must(t, own.Changed(t.Context(), []string{p}))
		for _, s := range servers {
			if !s.out.Scan() || s.out.Text() != "changed <nil>" {
				t.Fatalf("round %d: %q", round, s.out.Text())
			}
		}
		eventually(t, "all notes are seen", func() bool { return len(linking(t, own, "X")) == 3*(round+1) })
	}
	fresh := (&home{t, h.dir, t.TempDir()}).ready(quietly)
	wants(t, "after all", dump(t, fresh), dump(t, own))
}

func TestABuildThatIsKilledGoesOn(t *testing.T) {
	h := newHome(t, nil)
	filler := strings.Repeat("word [[X]] #tag and more of the same\n", 60)
	for i := range 6000 {
		h.write(fmt.Sprintf("%d/N%d.md", i%40, i), fmt.Sprintf("%d %s", i, filler))
		h.age(fmt.Sprintf("%d/N%d.md", i%40, i))
	}
	first := h.server(t)
	done := 0
	eventually(t, "some of it is stored", func() bool {
		done = stored(h)
		return done > 0
	})
	first.kill()
	if done = stored(h); done == 0 || done >= 6000 {
		t.Skipf("%d notes were stored when it was killed", done)
	}
	before := rowsOf(h)
	ix := h.ready(quietly)
	if n := len(linking(t, ix, "X")); n != 6000 {
		t.Errorf("%d notes of 6000", n)
	}
	after := revs(t, ix)
	for p, rev := range before {
		if after[p] != rev {
			t.Fatalf("%s was read again", p)
		}
	}
}

// rowsOf are the rows of an index that nobody has open, or some of them.
func rowsOf(h *home) map[string]int64 {
	ctx := context.Background()
	if _, err := os.Stat(databasePath(h.state)); err != nil {
		return nil
	}
	s, err := openStore(ctx, databasePath(h.state), "")
	if err != nil {
		return nil
	}
	defer s.close()
	m, _, err := s.load(ctx)
	if err != nil {
		return nil
	}
	rows := map[string]int64{}
	for p, id := range m.byPath {
		rows[p] = m.entries[id].rev
	}
	return rows
}

func stored(h *home) int { return len(rowsOf(h)) }

func TestADamagedIndexIsBegunAnew(t *testing.T) {
	for what, harm := range map[string]func([]byte) []byte{
		"no database": func(b []byte) []byte { return []byte(strings.Repeat("no database", 1000)) },
		"zeros":       func(b []byte) []byte { clear(b[len(b)/4:]); return b },
		"cut short":   func(b []byte) []byte { return b[:len(b)/2] },
		"empty":       func(b []byte) []byte { return nil },
	} {
		t.Run(what, func(t *testing.T) {
			files := map[string]string{}
			for i := range 300 {
				files[fmt.Sprintf("N%d.md", i)] = fmt.Sprintf("[[X]] %d %s", i, strings.Repeat("a b c ", 50))
			}
			h := newHome(t, files)
			h.ready(quietly).Close()
			s, err := openStore(t.Context(), databasePath(h.state), "")
			must(t, err)
			_, err = s.conn.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
			must(t, err)
			s.close()
			b, err := os.ReadFile(databasePath(h.state))
			must(t, err)
			must(t, os.WriteFile(databasePath(h.state), harm(bytes.Clone(b)), 0o600))
			ix := h.ready(quietly)
			if n := len(linking(t, ix, "X")); n != 300 {
				t.Errorf("%d notes", n)
			}
			eventually(t, "the text is there", func() bool {
				hits := 0
				err := ix.ReadText(t.Context(), func(_ *Model, x *Text) error {
					hits = len(x.Index.Whole("b", x.Index.View(func(uint32) bool { return true })))
					return nil
				})
				return err == nil && hits == 300
			})
			if what != "empty" && ix.Status(nil).Warning == "" {
				t.Error("the status does not tell")
			}
		})
	}
}

func TestAnIndexThatIsRemovedIsBuiltAnew(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	ix := h.ready(quietly)
	must(t, os.Remove(databasePath(h.state)))
	eventually(t, "it is there again", func() bool {
		_, err := os.Stat(databasePath(h.state))
		return err == nil && ix.Status(nil).Phase == Ready
	})
	wants(t, "linking", []string{"A.md"}, linking(t, ix, "X"))
}

func TestWithoutAPlaceForTheIndexFilesAreAskedInstead(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	state := h.state
	h.state = state + "/missing"
	ix := h.open(quietly)
	eventually(t, "it says so", func() bool { return ix.Status(nil).Phase == Degraded })
	if err := ix.Read(t.Context(), nil); !errors.Is(err, ErrNotReady) {
		t.Errorf("Read: %v", err)
	}
	must(t, ix.Changed(t.Context(), []string{"A.md"}))
	if s := ix.Status(nil); s.Reason != "the state folder is gone" {
		t.Errorf("reason: %q", s.Reason)
	}
	must(t, os.Mkdir(h.state, 0o700))
	eventually(t, "it recovers", func() bool { return ix.Status(nil).Phase == Ready })
}

func TestALockedIndexDoesNotHoldQueriesUp(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	ix := h.ready(quietly)
	other, err := openStore(t.Context(), databasePath(h.state), "")
	must(t, err)
	defer other.close()
	_, err = other.conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must(t, err)
	h.write("B.md", "[[X]]")
	changed := make(chan error)
	go func() { changed <- ix.Changed(t.Context(), []string{"B.md"}) }()
	began := time.Now()
	for range 20 {
		linking(t, ix, "X")
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("queries took %v", took)
	}
	_, err = other.conn.ExecContext(t.Context(), "ROLLBACK")
	must(t, err)
	must(t, <-changed)
	wants(t, "linking", []string{"A.md", "B.md"}, linking(t, ix, "X"))
}

func TestRebuild(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]", "B.md": "[[X]]"})
	ix := h.ready(quietly)
	follower := h.server(t)
	follower.answers("status", "ready false")
	before := revs(t, ix)
	told := false
	must(t, ix.Rebuild(t.Context(), func(done, total int) { told = true }))
	wants(t, "linking", []string{"A.md", "B.md"}, linking(t, ix, "X"))
	if !told || revs(t, ix)["A.md"] <= before["A.md"] {
		t.Error("nothing was read again")
	}
	follower.answers("links X", "A.md B.md")
	h.write("C.md", "[[X]]")
	must(t, ix.Changed(t.Context(), []string{"C.md"}))
	follower.answers("links X", "A.md B.md C.md")
}

func TestOtherSettingsThrowTheRowsAway(t *testing.T) {
	h := newHome(t, map[string]string{"A.md": "[[X]]"})
	ix := h.ready(quietly)
	before := revs(t, ix)
	ix.Close()
	ix = h.ready(Options{Settings: "other", Sweep: -1})
	if revs(t, ix)["A.md"] <= before["A.md"] {
		t.Error("the rows are those from before")
	}
}
