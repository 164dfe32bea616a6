package doctor

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/hitl"
	"vault-mcp/internal/secrets"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
)

func request(n string) *hitl.Request {
	return &hitl.Request{
		Bound: hitl.Bound{Vault: "main", Tool: "delete_note", Caller: "stdio", Call: "0123456789abcdef0123456789abcde" + "f", State: "kid.state"},
		Floor: "it removes something", Summary: n, Method: hitl.MethodCall, Mode: "form", Fallback: "none",
	}
}

func record(began time.Time) *change.Record {
	return &change.Record{
		ID: change.NewID(), Tool: "write_note", Caller: "stdio", Vault: "main", Call: "c", Began: began,
		Edits: []change.Edit{change.NewPut("Compost.md", []byte("Turn it.\n"), []byte("Turn it twice.\n"))},
	}
}

func TestEachFaultOfAStateFolderIsFound(t *testing.T) {
	now := time.Now()
	idle := func(context.Context, *state.Store) {}
	tests := []struct {
		name, id string
		level    Level
		make     func(t *testing.T, b *bed)
	}{
		{"none yet", "state.folder", Off, func(*testing.T, *bed) {}},
		{"no state yet", "state.open", Off, func(_ *testing.T, b *bed) { b.folder() }},
		{"all is well", "state.open", OK, func(_ *testing.T, b *bed) { b.state(now, idle) }},
		{"nothing waits", "requests.open", OK, func(_ *testing.T, b *bed) { b.state(now, idle) }},
		{"the audit is whole", "state.audit", OK, func(_ *testing.T, b *bed) {
			b.state(now, func(ctx context.Context, s *state.Store) { b.must(s.Requests().Raise(ctx, request("a"))) })
		}},
		{"others may open it", "state.private", Broken, func(t *testing.T, b *bed) {
			if runtime.GOOS == "windows" {
				t.Skip("rights are inherited here")
			}
			b.must(os.Chmod(b.state(now, idle), 0o755))
		}},
		{"others may read the keys", "state.keys", Broken, func(t *testing.T, b *bed) {
			if runtime.GOOS == "windows" {
				t.Skip("rights are inherited here")
			}
			b.must(os.Chmod(filepath.Join(b.state(now, idle), "secrets", "ring.json"), 0o644))
		}},
		{"damaged keys", "state.keys", Broken, func(_ *testing.T, b *bed) {
			b.must(os.WriteFile(filepath.Join(b.state(now, idle), "secrets", "ring.json"), []byte("{"), 0o600))
		}},
		{"it is synced", "state.sync", Warning, func(_ *testing.T, b *bed) {
			b.config("", "state_dir: '"+filepath.Join(b.home, "Dropbox")+"'\n")
		}},
		{"a link in its place", "state.usable", Broken, func(t *testing.T, b *bed) {
			dir := b.folder()
			b.must(os.Remove(dir))
			b.must(os.WriteFile(dir, nil, 0o600))
		}},
		{"no database", "state.open", Broken, func(_ *testing.T, b *bed) {
			b.must(os.WriteFile(filepath.Join(b.folder(), "state.db"), []byte(strings.Repeat("no database ", 1000)), 0o600))
		}},
		{"a newer layout", "state.open", Broken, func(_ *testing.T, b *bed) { b.sql(b.state(now, idle), "PRAGMA user_version = 1000") }},
		{"an older layout", "state.open", OK, func(_ *testing.T, b *bed) { b.sql(b.state(now, idle), "PRAGMA user_version = 1") }},
		{"a changed audit", "state.audit", Broken, func(_ *testing.T, b *bed) {
			dir := b.state(now, func(ctx context.Context, s *state.Store) { b.must(s.Requests().Raise(ctx, request("a"))) })
			b.sql(dir, "UPDATE audit SET tool = 'read_note'")
		}},
		{"a change that was interrupted", "state.open_work", Warning, func(_ *testing.T, b *bed) {
			b.state(now, func(ctx context.Context, s *state.Store) { b.must(s.Journal().Begin(ctx, record(now.Add(-time.Hour)))) })
		}},
		{"a change that is just being made", "state.open_work", OK, func(_ *testing.T, b *bed) {
			b.state(now, func(ctx context.Context, s *state.Store) { b.must(s.Journal().Begin(ctx, record(now))) })
		}},
		{"a change that met another program's", "state.uncertain", Warning, func(_ *testing.T, b *bed) {
			b.state(now, func(ctx context.Context, s *state.Store) {
				r := record(now)
				b.must(s.Journal().Begin(ctx, r))
				r.Outcome, r.Ended, r.Foreign = change.Indeterminate, now, []string{"Compost.md"}
				b.must(s.Journal().End(ctx, r))
			})
		}},
		{"a call that has waited long", "requests.stuck", Warning, func(_ *testing.T, b *bed) {
			b.state(now.Add(-2*time.Hour), func(ctx context.Context, s *state.Store) { b.must(s.Requests().Raise(ctx, request("a"))) })
		}},
		{"an approval that nothing has used", "requests.unused", OK, func(_ *testing.T, b *bed) {
			b.state(now, func(ctx context.Context, s *state.Store) {
				r := request("a")
				b.must(s.Requests().Raise(ctx, r))
				_, err := s.Requests().Approve(ctx, r.ID, hitl.Approval{Route: hitl.RouteConsole, By: "ana", Life: time.Hour})
				b.must(err)
			})
		}},
		{"no index yet", "index.state", Off, func(*testing.T, *bed) {}},
		{"an index", "index.state", OK, func(_ *testing.T, b *bed) { b.indexed() }},
		{"a damaged index", "index.state", Warning, func(_ *testing.T, b *bed) {
			files, err := filepath.Glob(filepath.Join(b.indexed(), "index-*.db*")) // with its log, if it is left
			b.must(err)
			for _, f := range files[1:] {
				b.must(os.Remove(f))
			}
			b.must(os.WriteFile(files[0], []byte(strings.Repeat("no database ", 1000)), 0o600))
		}},
		{"an index that was only begun", "index.state", Off, func(_ *testing.T, b *bed) {
			files, err := filepath.Glob(filepath.Join(b.indexed(), "index-*.db*"))
			b.must(err)
			for _, f := range files[1:] {
				b.must(os.Remove(f))
			}
			b.must(os.Truncate(files[0], 0))
		}},
		{"a note that the index could not read", "index.unread", Warning, func(_ *testing.T, b *bed) {
			b.note("Huge.md", strings.Repeat("x", vault.DefaultMaxBytes+1))
			b.indexed()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBed(t, "Notes")
			tt.make(t, b)
			before := contents(t, b.home)
			r := b.examine()
			found := r.all(tt.id)
			if len(found) == 0 || r.level(tt.id) != tt.level || tt.level != OK && found[0].Fix == "" {
				t.Fatalf("%s: %+v", tt.id, found)
			}
			if after := contents(t, b.home); after != before {
				t.Errorf("something was changed:\n%s\n%s", before, after)
			}
		})
	}
}

// sql changes the state behind the program's back.
func (b *bed) sql(dir, statement string) {
	b.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "state.db")))
	b.must(err)
	_, err = db.ExecContext(b.t.Context(), statement)
	b.must(err)
	b.must(db.Close())
}

// contents is all that is in a folder, with times and modes. What SQLite's readers
// share in memory is no content.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "-shm") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String())
		if d.Type().IsRegular() && info.Size() < 1<<20 {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(text))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A server that runs has its databases open: looking at them neither waits for it nor
// disturbs it.
func TestAStateThatIsInUseIsLookedAt(t *testing.T) {
	b := newBed(t, "Notes")
	now := time.Now()
	var r Report
	b.state(now, func(ctx context.Context, s *state.Store) {
		b.must(s.Requests().Raise(ctx, request("a")))
		r = b.examine()
		b.must(s.Requests().Raise(ctx, request("b")))
	})
	if r.level("state.audit") != OK || !strings.HasPrefix(textOf(r, "requests.open"), "1 call waiting for you") {
		t.Errorf("%+v", r.Findings)
	}
}

// No key and no token is ever printed.
func TestNothingSecretIsPrinted(t *testing.T) {
	b := newBed(t, "Notes")
	b.note("Secret.md", "the diary of Ana\n")
	dir := b.state(time.Now(), func(context.Context, *state.Store) {})
	ring, err := os.ReadFile(filepath.Join(dir, "secrets", "ring.json"))
	b.must(err)
	_, secret, _ := strings.Cut(string(ring), `"secret": "`)
	secret, _, _ = strings.Cut(secret, `"`)
	if len(secret) < 20 {
		t.Fatal("the ring has another form")
	}
	var out strings.Builder
	b.must(b.examine().PrintJSON(&out))
	for _, s := range []string{secret, "diary"} {
		if strings.Contains(out.String(), s) {
			t.Errorf("%q is printed", s)
		}
	}
	if _, err := secrets.Existing(t.TempDir()); err == nil {
		t.Error("keys were made where there are none")
	}
}
