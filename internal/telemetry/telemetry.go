// Package telemetry counts what happens and reports events, without ever
// holding a note's text, a token or a path of the machine.
package telemetry

import (
	"log/slog"
	"maps"
	"sync"
)

// Names of counters and events, in one place because docs and tests share them.
const (
	CallsTotal               = "calls_total"
	CallFailuresTotal        = "call_failures_total"
	GovernorTruncationsTotal = "governor_truncations_total"
	ThrottledTotal           = "throttled_total"
	EventsDroppedTotal       = "events_dropped_total"

	EventOverflow = "vault.governor.overflow"
)

// Meter counts and reports events. The zero value counts and drops events.
type Meter struct {
	// Log gets one line for each event, at level info.
	Log *slog.Logger
	// Sink gets each event as one line of CloudEvents JSON, without its end; it may
	// be nil. What it refuses is counted.
	Sink func(line []byte) error

	mu     sync.Mutex
	counts map[string]int64
}

// Add raises a counter.
func (m *Meter) Add(name string, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts == nil {
		m.counts = map[string]int64{}
	}
	m.counts[name] += n
}

// Counts is a copy of every counter that was ever raised.
func (m *Meter) Counts() map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := map[string]int64{}
	maps.Copy(counts, m.counts)
	return counts
}
