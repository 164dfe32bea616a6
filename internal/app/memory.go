package app

import (
	"context"
	"runtime/debug"
	"time"

	"vault-mcp/cache/index"
)

const (
	// large is the number of notes from which memory is worth more than time.
	large = 20_000
	// sparing is how much the heap of a large vault may grow before it is
	// collected, in percent of what is alive.
	sparing = 30
	// building is that while the index of a large vault is being built, which
	// leaves much behind.
	building = 100
)

// tidy gives back what building or loading an index took, once it is done, and
// lets the heap of a large vault grow less from then on: three times its live
// size would be more than the index itself.
func tidy(ctx context.Context, ix *index.Index) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		switch s := ix.Status(nil); s.Phase {
		case index.Loading, index.Building, index.Degraded:
			if s.Total >= large {
				debug.SetGCPercent(building)
			}
		case index.Ready:
			if s.Total >= large {
				debug.SetGCPercent(sparing)
				debug.FreeOSMemory()
			}
			return
		default:
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
