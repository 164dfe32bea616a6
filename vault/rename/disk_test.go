package rename_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/cache/state"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/secrets"
	"vault-mcp/vault"
	"vault-mcp/vault/change"
	"vault-mcp/vault/link"
	"vault-mcp/vault/rename"
	"vault-mcp/vault/settings"
)

// folder is a vault on disk, without an index: every note may link to anything.
type folder struct{ dir string }

func (f folder) all(keep func(path string) bool) (all []string) {
	_ = filepath.WalkDir(f.dir, func(full string, d fs.DirEntry, err error) error { // what cannot be read is not there
		if rel, _ := filepath.Rel(f.dir, full); err == nil && !d.IsDir() && keep(filepath.ToSlash(rel)) {
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	return all
}

func (f folder) kind(k vault.FileKind) []string {
	return f.all(func(p string) bool { return vault.Kind(p) == k })
}

func (f folder) Paths() *link.Index {
	return link.NewIndex(f.all(func(string) bool { return true }))
}

func (f folder) Below(folder string) []string {
	return f.all(func(p string) bool { return len(p) > len(folder) && p[:len(folder)+1] == folder+"/" })
}

func (f folder) Folder(p string) (string, bool) {
	s, err := os.Stat(filepath.Join(f.dir, p))
	return p, err == nil && s.IsDir()
}

func (f folder) Linking(...string) []string      { return f.kind(vault.Note) }
func (f folder) Targets(string) ([]string, bool) { return nil, false }
func (f folder) Boards() []string                { return append(f.kind(vault.Canvas), f.kind(vault.Base)...) }
func (f folder) Read(p string) ([]byte, error)   { return os.ReadFile(filepath.Join(f.dir, p)) }
func (f folder) Hash(p string) (fingerprint.Content, error) {
	b, err := f.Read(p)
	return fingerprint.OfContent(b), err
}

// Every kind of move is carried out as planned on a real disk, and leaves no temporary name.
func TestApplied(t *testing.T) {
	dir := t.TempDir()
	was := map[string]string{
		"A.md": "[[B]]", "B.md": "[[A]] [[x/one]]", "x/one.md": "[[two]] [[y/two]]", "x/two.md": "", "y/one.md": "", "y/two.md": "[[./one]]",
		"forge.md": "[[A]]", "Case/in.md": "[[x/two|two]]", "p.png": "p", "c.canvas": `{"nodes":[{"type":"file","file":"x/one.md"}]}`,
	}
	for p, text := range was {
		full := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	moves := []rename.Move{
		{From: "A.md", To: "B.md"}, {From: "B.md", To: "A.md"},
		{From: "x", To: "y", Dir: true}, {From: "y", To: "x", Dir: true},
		{From: "forge.md", To: "Forge.md"}, {From: "Case", To: "case", Dir: true},
		{From: "p.png", To: "new/deep/q.png"},
	}
	plan := func(context.Context) (change.Plan, error) {
		r, err := rename.Plan(folder{dir}, moves, settings.Default())
		if err != nil {
			return change.Plan{}, err
		}
		return change.Plan{Edits: r.Edits}, nil
	}
	p, err := plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	s, err := state.Open(t.Context(), t.TempDir(), secrets.NewProcessRing())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := change.Applier{
		Disk: change.OnDisk(v, nil), Journal: s.Journal(), Now: time.Now,
		Lock: func(context.Context) (func(), error) { return func() {}, nil },
	}
	if err := a.Apply(t.Context(), &change.Record{ID: change.NewID()}, p, plan); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range (folder{dir}).all(func(string) bool { return true }) {
		b, err := os.ReadFile(filepath.Join(dir, p))
		if err != nil {
			t.Fatal(err)
		}
		got[p] = string(bytes.TrimSpace(b))
	}
	want := map[string]string{
		"B.md": "[[A]]", "A.md": "[[B]] [[y/one]]", "y/one.md": "[[two]] [[x/two]]", "y/two.md": "", "x/one.md": "", "x/two.md": "[[./one]]",
		"Forge.md": "[[B]]", "case/in.md": "[[y/two|two]]", "new/deep/q.png": "p", "c.canvas": `{"nodes":[{"type":"file","file":"y/one.md"}]}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
