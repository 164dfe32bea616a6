package index

import (
	"context"
	"time"

	"vault-mcp/internal/fingerprint"
	"vault-mcp/vault"
)

// idle is how long a sweep rests for each moment that it works.
const idle = 9

// sweep hashes all notes, with little effort, to find those that changed while
// their size and time did not: where a program restored the time, or a write
// came so soon after another that the clock had not moved.
func (ix *Index) sweep(ctx context.Context) error {
	root, err := ix.vault.FindFolder("", nil)
	if err != nil {
		return err
	}
	var found []string
	last := time.Now()
	var work time.Duration
	err = ix.vault.Scan(ctx, root, vault.ScanOptions{
		WalkOptions: vault.WalkOptions{Accept: isRead}, MaxBytes: ix.o.MaxBytes, Workers: 1,
	}, func(f vault.File, text []byte, err error) error {
		if err == nil && ix.differs(f.Path, fingerprint.OfContent(text)) {
			found = append(found, f.Path)
		}
		if work += time.Since(last); work > 5*time.Millisecond {
			if len(found) > 0 {
				if err := ix.refresh(ctx, found, nil); err != nil {
					return err
				}
				found = nil
			}
			sleep(ctx, idle*work)
			work = 0
		}
		last = time.Now()
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return ix.refresh(ctx, found, nil)
}

// differs reports whether the index has another content for a note.
func (ix *Index) differs(path string, hash fingerprint.Content) bool {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	id, ok := ix.model.byPath[path]
	return !ok || ix.model.entries[id].hash != hash
}
