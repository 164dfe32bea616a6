package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"vault-mcp/bench/vaultgen"
	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
)

// BenchmarkRename1000 renames a note with 1,000 backlinks by a call, and after each the same files are rewritten as plainly as they can be
// so that they are there after a power cut: an fsync for each file and one for
// each folder. The two take turns, as the speed of a disk varies over minutes;
// the ratio is that of their medians.
func BenchmarkRename1000(b *testing.B) {
	v, err := vaultgen.Write(filepath.Join(b.TempDir(), "vault"), 10_000, 42)
	if err != nil {
		b.Fatal(err)
	}
	a := newSite(b, v).open(b)
	defer a.Close()
	a.Begin(b.Context())
	if err := a.Index(b.Context(), false, func(string, int, int) {}); err != nil {
		b.Fatal(err)
	}
	hub := v.Hubs[0].Path
	rounds := 0
	next := func() { // always another name: of texts that were there before, the journal has a copy
		rounds++
		to := path.Join(path.Dir(hub), fmt.Sprintf("Renamed %d.md", rounds))
		rename(b, a, hub, to)
		hub = to
	}
	began := time.Now() // all files of the vault are years older
	next()
	files := writtenSince(b, v.Dir, began)
	if len(files) < v.Hubs[0].Backlinks {
		b.Fatalf("%d files were rewritten, not %d", len(files), v.Hubs[0].Backlinks)
	}
	files = copies(b, v.Dir, files) // the index need not follow what is written plainly
	var ours, plain []time.Duration
	for b.Loop() {
		start := time.Now()
		next()
		ours = append(ours, time.Since(start))
		start = time.Now()
		rewrite(b, files)
		plain = append(plain, time.Since(start))
	}
	x, y := median(ours), median(plain)
	b.ReportMetric(float64(x.Milliseconds()), "ours-ms")
	b.ReportMetric(float64(y.Milliseconds()), "plain-ms")
	b.ReportMetric(float64(x)/float64(y), "ratio")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// rename moves a note by a call.
func rename(b *testing.B, a *app.App, from, to string) {
	b.Helper()
	args, err := json.Marshal(map[string]any{"from": from, "to": to})
	if err != nil {
		b.Fatal(err)
	}
	r := dispatch.Request{Caller: auth.Caller{ID: "bench", Scopes: auth.All}, Tool: "move_note", Args: args, Reach: agrees}
	if _, err := a.Dispatcher.Do(b.Context(), r); err != nil {
		b.Fatal(err)
	}
}

// writtenSince are the notes below a folder that are younger than a time.
func writtenSince(b *testing.B, dir string, began time.Time) (files []string) {
	b.Helper()
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.ModTime().After(began) {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

// copies copies files into another folder, each into a folder like its own.
func copies(b *testing.B, dir string, files []string) (copied []string) {
	b.Helper()
	to := b.TempDir()
	for _, f := range files {
		rel, err := filepath.Rel(dir, f)
		if err != nil {
			b.Fatal(err)
		}
		name := filepath.Join(to, rel)
		text, err := os.ReadFile(f)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(name), 0o755)
		}
		if err == nil {
			err = os.WriteFile(name, text, 0o644)
		}
		if err != nil {
			b.Fatal(err)
		}
		copied = append(copied, name)
	}
	return copied
}

// rewrite writes files anew, and each of their folders to the disk once.
func rewrite(b *testing.B, files []string) {
	b.Helper()
	folders := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		plainFile(b, f, text)
		folders[filepath.Dir(f)] = true
	}
	for d := range folders {
		if err := syncDir(d); err != nil {
			b.Fatal(err)
		}
	}
}
