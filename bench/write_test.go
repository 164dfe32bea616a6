package bench

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"vault-mcp/bench/vaultgen"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
)

// BenchmarkWriteNote is one note written by a call, and what that has to do at
// the least: a file, its folder, and two commits.
func BenchmarkWriteNote(b *testing.B) {
	text := strings.Repeat("a line of a note of ordinary length\n", 90)
	b.Run("ours", func(b *testing.B) {
		v, err := vaultgen.Write(filepath.Join(b.TempDir(), "vault"), 100, 1)
		if err != nil {
			b.Fatal(err)
		}
		a := newSite(b, v).open(b)
		defer a.Close()
		a.Begin(b.Context())
		if err := a.Index(b.Context(), false, func(string, int, int) {}); err != nil {
			b.Fatal(err)
		}
		for i := 0; b.Loop(); i++ {
			args, err := json.Marshal(map[string]any{"path": fmt.Sprintf("Written %d.md", i), "content": text})
			if err != nil {
				b.Fatal(err)
			}
			_, err = a.Dispatcher.Do(b.Context(), dispatch.Request{
				Caller: auth.Caller{ID: "bench", Scopes: auth.All}, Tool: "write_note", Args: args,
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("plain", func(b *testing.B) {
		dir := b.TempDir()
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "x.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec("CREATE TABLE t (a TEXT)"); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			for range 2 {
				if _, err := db.Exec("INSERT INTO t VALUES (?)", text); err != nil {
					b.Fatal(err)
				}
			}
			plainWrite(b, dir, "note.md", text)
		}
	})
}

// plainWrite replaces a file so that it is there after a power cut.
func plainWrite(b *testing.B, dir, name, text string) {
	plainFile(b, filepath.Join(dir, name), []byte(text))
	if err := syncDir(dir); err != nil {
		b.Fatal(err)
	}
}

// plainFile is plainWrite without its folder.
func plainFile(b *testing.B, name string, text []byte) {
	f, err := os.CreateTemp(filepath.Dir(name), "t")
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		b.Fatal(err)
	}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
