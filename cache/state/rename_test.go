package state_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/fingerprint"
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
func TestMovesAreCarriedOutAsPlanned(t *testing.T) {
	dir := t.TempDir()
	was := tree{map[string]bool{"x": true, "y": true, "Case": true}, map[string]string{
		"A.md": "[[B]]", "B.md": "[[A]] [[x/one]]", "x/one.md": "[[two]] [[y/two]]", "x/two.md": "", "y/one.md": "", "y/two.md": "[[./one]]",
		"forge.md": "[[A]]", "Case/in.md": "[[x/two|two]]", "p.png": "p", "c.canvas": `{"nodes":[{"type":"file","file":"x/one.md"}]}`,
	}}
	was.put(t, dir)
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
	a := applier(t, dir, openState(t, t.TempDir()))
	if err := a.Apply(t.Context(), &change.Record{ID: change.NewID()}, p, plan); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"B.md": "[[A]]", "A.md": "[[B]] [[y/one]]", "y/one.md": "[[two]] [[x/two]]", "y/two.md": "", "x/one.md": "", "x/two.md": "[[./one]]",
		"Forge.md": "[[B]]", "case/in.md": "[[y/two|two]]", "new/deep/q.png": "p", "c.canvas": `{"nodes":[{"type":"file","file":"y/one.md"}]}`,
	}
	if d := cmp.Diff(want, read(t, dir).files); d != "" {
		t.Error(d)
	}
}
