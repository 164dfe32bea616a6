package governor

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"vault-mcp/internal/fault"
)

// Limit is a token bucket: PerMinute calls a minute, Burst at once.
type Limit struct{ PerMinute, Burst int }

// Throttle holds a bucket for each caller, class and vault. It is safe for
// concurrent use.
type Throttle struct {
	// Limits are by class; a class without one is not limited.
	Limits map[string]Limit

	mu      sync.Mutex
	buckets map[bucketKey]*rate.Limiter
}

type bucketKey struct{ caller, class, vault string }

// Take draws one call from a bucket, or refuses with throttled and
// details.retry_after_ms. A refused call draws nothing.
func (t *Throttle) Take(caller, class, vault string) error {
	l, ok := t.Limits[class]
	if !ok {
		return nil
	}
	now := time.Now()
	r := t.bucket(bucketKey{caller, class, vault}, l).ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	ms := (wait + time.Millisecond - 1).Milliseconds()
	return fault.New(fault.Throttled, "Too many %s calls: at most %d a minute, %d at once.", class, l.PerMinute, l.Burst).
		With("class", class).With("retry_after_ms", ms)
}

func (t *Throttle) bucket(k bucketKey, l Limit) *rate.Limiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buckets[k]
	if b == nil {
		if t.buckets == nil {
			t.buckets = map[bucketKey]*rate.Limiter{}
		}
		b = rate.NewLimiter(rate.Limit(float64(l.PerMinute)/60), l.Burst)
		t.buckets[k] = b
	}
	return b
}
