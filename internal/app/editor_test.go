package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
)

var soak = flag.Bool("soak", false, "run the long tests whole")

// An editor saves the notes that two servers change, in place and by renaming,
// and tells nobody. Whatever it saved, and whatever a call said it has done, is
// afterwards in the file or in its history.
func TestNoSaveOfAnEditorIsLost(t *testing.T) {
	notes, length := 40, 3*time.Second
	if *soak {
		notes, length = 200, 20*time.Second
	}
	home := t.TempDir()
	dir := filepath.Join(t.TempDir(), "vault")
	files := map[string]string{}
	name := func(i int) string { return fmt.Sprintf("note %d.md", i) }
	for i := range notes {
		files[name(i)] = "begin\n"
	}
	plant(t, dir, files)
	yaml := fmt.Sprintf("vaults: [{path: %q}]\nthrottle: {write: {per_minute: 1000000, burst: 100000}}\n", dir)
	one, two := start(t, home, yaml), start(t, home, yaml)

	stop := make(chan struct{})
	time.AfterFunc(length, func() { close(stop) })
	running := func() bool {
		select {
		case <-stop:
			return false
		default:
			return true
		}
	}
	var all sync.WaitGroup
	var calls, refused, saves atomic.Int64
	said := make([][]string, notes) // what calls said they have added, by note
	saved := make([]int, notes)
	var mu sync.Mutex
	for s, a := range []*app.App{one, two} {
		all.Go(func() {
			for n := 0; running(); n++ {
				i := (n*7 + s*3) % notes
				text := fmt.Sprintf("call %d-%d\n", s, n)
				raw, _ := json.Marshal(args{"path": name(i), "content": text})
				_, err := do(context.Background(), a, "append_note", string(raw))
				switch {
				case err == nil:
					calls.Add(1)
					mu.Lock()
					said[i] = append(said[i], text)
					mu.Unlock()
				case fault.Of(err).Code == fault.ConcurrentModification, fault.Of(err).Code == fault.NoteNotFound:
					refused.Add(1)
				default:
					t.Errorf("append: %v: %v", err, errors.Unwrap(err))
				}
			}
		})
	}
	all.Go(func() {
		for n := 0; running(); n++ {
			i := n % notes
			path := filepath.Join(dir, name(i))
			old, err := os.ReadFile(path)
			if err != nil {
				t.Errorf("the editor: %v", err)
				return
			}
			text := append(old, fmt.Sprintf("save %d of %d\n", saved[i], i)...)
			if n/notes%2 == 0 {
				err = os.WriteFile(path, text, 0o644)
			} else {
				temp := filepath.Join(dir, ".editor.tmp")
				if err = os.WriteFile(temp, text, 0o644); err == nil {
					err = os.Rename(temp, path)
				}
			}
			if err != nil {
				t.Errorf("the editor: %v", err)
				return
			}
			saved[i]++
			saves.Add(1)
			if n%4 == 0 {
				time.Sleep(time.Millisecond) // even an editor that saves all the time does something else
			}
		}
	})
	all.Wait()

	st := stateOf(t, home)
	history := make([]strings.Builder, notes)
	var ids []string
	err := st.Changes(t.Context(), 0, "", func(n state.Numbered) bool {
		ids = append(ids, n.ID)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		full, err := st.Change(t.Context(), id)
		if err != nil && !errors.Is(err, state.ErrNoContent) {
			t.Error(err)
		}
		for _, e := range full.Edits {
			var i int
			if _, err := fmt.Sscanf(e.Path, "note %d.md", &i); err != nil {
				t.Errorf("a change of %q", e.Path)
			}
			history[i].Write(e.Old)
			history[i].Write(e.Content)
		}
	}
	for i := range notes {
		list, err := st.Snapshots(t.Context(), name(i), 0, 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, sn := range list {
			if sn.Change != "" {
				continue // seen with its change
			}
			_, text, err := st.Snapshot(t.Context(), sn.ID)
			if err != nil {
				t.Error(err)
			}
			history[i].Write(text)
		}
	}
	onlyInHistory := 0
	for i := range notes {
		now := content(t, dir, name(i))
		if !strings.HasPrefix(now, "begin\n") || !strings.HasSuffix(now, "\n") {
			t.Errorf("%s is torn: %.40q", name(i), now)
		}
		for k := range saved[i] {
			said[i] = append(said[i], fmt.Sprintf("save %d of %d\n", k, i))
		}
		past := history[i].String()
		for _, text := range said[i] {
			if strings.Contains(now, text) {
				continue
			}
			if onlyInHistory++; !strings.Contains(past, text) {
				t.Errorf("%s: %q is lost", name(i), text)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != notes {
		t.Errorf("%d files, not %d: %v", len(entries), notes, err)
	}
	t.Logf("%d calls, %d refused, %d saves, %d only in the history", calls.Load(), refused.Load(), saves.Load(), onlyInHistory)
}

// stateFile is the only state below a home.
func stateFile(t *testing.T, home string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home, ".local/state/vault-mcp/*/state.db"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	return found[0]
}

func stateOf(t *testing.T, home string) *state.Store {
	t.Helper()
	s, err := state.Open(t.Context(), filepath.Dir(stateFile(t, home)), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
