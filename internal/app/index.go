package app

import (
	"context"
	"fmt"
	"time"

	"vault-mcp/cache/index"
)

// Index waits until the index of every vault is complete, or builds it anew,
// and tells progress how many notes of how many are done.
func (a *App) Index(ctx context.Context, rebuild bool, progress func(vault string, done, total int)) error {
	for _, w := range a.views {
		ix := w.Index()
		if ix == nil {
			return fmt.Errorf("there is no place for the index of the vault %s: set state_dir in a config", w.ID)
		}
		told := func(done, total int) { progress(w.ID, done, total) }
		if err := untilComplete(ctx, ix, told); err != nil {
			return fmt.Errorf("the index of the vault %s: %w", w.ID, err)
		}
		if !rebuild {
			continue
		}
		if err := ix.Rebuild(ctx, told); err != nil {
			return fmt.Errorf("the index of the vault %s: %w", w.ID, err)
		}
	}
	return nil
}

// untilComplete waits for an index that was started.
func untilComplete(ctx context.Context, ix *index.Index, progress func(done, total int)) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		switch s := ix.Status(nil); s.Phase {
		case index.Ready:
			progress(s.Done, s.Total)
			return nil
		case index.Degraded, index.Stopped:
			return fmt.Errorf("it cannot be used: %s", s.Reason)
		default:
			progress(s.Done, s.Total)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
