package index

import (
	"context"
	"sync"
	"time"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
)

// FromFiles reads a whole vault into a Model that nobody keeps: what a query
// answers from while there is no index. keep leaves out what its caller may not
// know of. It costs reading and parsing every note and canvas.
func FromFiles(ctx context.Context, v *vault.Vault, keep vault.Filter) (*Model, error) {
	root, err := v.FindFolder("", nil)
	if err != nil {
		return nil, err
	}
	m := newModel(nil)
	var mu sync.Mutex
	add := func(e entry) {
		mu.Lock()
		defer mu.Unlock()
		m.put(uint32(len(m.entries)), e)
	}
	skip := func(path, reason string) {
		mu.Lock()
		defer mu.Unlock()
		m.skipped = append(m.skipped, Skipped{path, reason})
	}
	problem := func(path string, err error) { skip(path, vault.Reason(err)) }
	others := vault.WalkOptions{Keep: keep, Accept: func(name string) bool { return !isRead(name) }, Problem: problem}
	err = v.Walk(ctx, root, others, func(f vault.File) error {
		add(entry{path: f.Path, size: f.Size, mtime: f.ModTime.UnixNano()})
		return nil
	})
	if err != nil {
		return nil, err
	}
	notes := vault.ScanOptions{WalkOptions: vault.WalkOptions{
		Keep: keep, Accept: isRead, Problem: problem, Gone: func(path string) { skip(path, vault.Gone) },
	}}
	err = v.Scan(ctx, root, notes, func(f vault.File, text []byte, err error) error {
		add(entryOf(f, text, err))
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.settle()
	m.skipped = mergeSkipped(m.skipped, nil) // both passes name a folder
	return m, nil
}

func entryOf(f vault.File, text []byte, err error) entry {
	e := entry{path: f.Path, size: f.Size, mtime: f.ModTime.UnixNano(), seen: time.Now().UnixNano()}
	e.note, e.canvas = isNote(f.Path), isCanvas(f.Path)
	switch {
	case err != nil:
		e.problem = vault.Reason(err)
	case !vault.Text(text):
		e.hash, e.problem = fingerprint.OfContent(text), vault.NotText
	default:
		e.hash = fingerprint.OfContent(text)
		e.facts, e.problem = factsOf(f.Path, text)
	}
	return e
}
